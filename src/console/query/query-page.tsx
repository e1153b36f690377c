/** Query page: any find, with completion, results and the server's status. */
import { useState } from 'preact/hooks'
import type { TraceDetail } from '../api/command.ts'
import type { Place } from '../api/place.ts'
import { goTo, routeTo } from '../navigation/route.ts'
import { useMay } from '../catalog/permissions.ts'
import type { Clause } from '../completion/clause-shape.ts'
import { countMatching } from '../data/change-documents.ts'
import { ClauseField } from '../data/clause-field.tsx'
import { withCondition } from '../data/conditions.ts'
import { DocumentEditor } from '../data/document-editor.tsx'
import { documentsAsText } from '../data/copy-documents.ts'
import { DocumentGrid } from '../data/document-grid.tsx'
import type { GridActions } from '../data/grid-menus.ts'
import { idFilter } from '../data/document-id.ts'
import type { FindFields } from '../data/find-page.ts'
import { gridStateOf } from '../data/grid-state.ts'
import { PageBar } from '../data/page-bar.tsx'
import { readClause } from '../data/read-clause.ts'
import { useFields } from '../data/use-fields.ts'
import { usePages } from '../data/use-pages.ts'
import { ValueDialog } from '../data/value-dialog.tsx'
import { exportedQuery, limitIn } from '../data/exported-query.ts'
import { printJson, printPretty } from '../json/print-json.ts'
import { isObject, type JsonObject, type Value } from '../json/value.ts'
import { Button } from '../kit/button.tsx'
import { copyText } from '../kit/copy-button.tsx'
import { CheckField } from '../kit/fields.tsx'
import { formatMany } from '../kit/format.ts'
import { useAction, useStore } from '../kit/hooks.ts'
import { EmptyState, ErrorNotice, Notice, Warnings } from '../kit/notice.tsx'
import { Segments } from '../kit/tabs.tsx'
import { showToast } from '../kit/toasts.tsx'
import { CodeDialog } from './code-dialog.tsx'
import { openedQuery } from '../navigation/opened-query.ts'
import { QueriesDialog, SaveDialog } from './query-dialogs.tsx'
import {
  addToHistory,
  emptyQuery,
  readQueries,
  writeQueries,
  type SavedQueries,
  type QueryText,
} from './query-store.ts'
import { PlanView } from './plan-view.tsx'
import { TraceView, type Trace } from './trace-view.tsx'

interface Submitted {
  readonly fields: FindFields
  readonly isTraced: boolean
  readonly isExplained: boolean
  /**
   * Number of the run. It makes a repeated query differ from its previous run, so that it is sent
   * again.
   */
  readonly run: number
}

type Open =
  | 'code'
  | 'queries'
  | 'save'
  | { readonly name: string; readonly value: Value }
  | { readonly edited: JsonObject }

/** Only a full trace has the plans of reads. */
function traceOf(submitted: Submitted | undefined): TraceDetail | undefined {
  if (submitted?.isExplained === true) return 'full'
  return submitted?.isTraced === true ? 'events' : undefined
}

export function QueryPage({ place }: { readonly place: Place }) {
  const [query, setQuery] = useState<QueryText>(() => takeOpened())
  const [isTraced, setTraced] = useState(false)
  const [isExplained, setExplained] = useState(false)
  const [submitted, setSubmitted] = useState<Submitted | undefined>(undefined)
  const [problem, setProblem] = useState<unknown>(undefined)
  const [kept, setKept] = useState(() => readQueries(localStorage, place))
  const keep = (changed: SavedQueries) => {
    setKept(changed)
    writeQueries(localStorage, place, changed)
  }
  const [open, setOpen] = useState<Open | undefined>(undefined)
  const gridState = gridStateOf(place)
  const mayWrite = useMay(place)('db-table-modify')
  const { view, pageSize, hidden } = useStore(gridState)
  const fields = useFields(place)
  const pages = usePages(
    place,
    submitted?.fields ?? {},
    submitted === undefined ? '' : `${submitted.run} ${printJson({ ...submitted.fields })}`,
    {
      pageSize,
      trace: traceOf(submitted),
      isOn: submitted !== undefined,
    },
  )
  const run = (wanted: QueryText) => {
    try {
      const parsed = parseQuery(wanted)
      setProblem(undefined)
      const number = (submitted?.run ?? 0) + 1
      setSubmitted({ fields: parsed, isTraced, isExplained, run: number })
      keep(addToHistory(kept, wanted, Date.now()))
    } catch (error) {
      setProblem(error)
    }
  }
  const counting = useAction(async () => {
    const { filter } = parseQuery(query)
    const { count, isMore } = await countMatching(place, filter)
    showToast({
      text: isMore
        ? `More than ${formatMany(count, 'document')} match.`
        : `${formatMany(count, 'document')} match.`,
    })
  })
  const change = (part: Partial<QueryText>) => setQuery({ ...query, ...part })
  const choose = (chosen: QueryText) => {
    setQuery(chosen)
    setOpen(undefined)
    run(chosen)
  }
  const actions: GridActions = {
    canFilterBy: (path, value) =>
      withCondition(place, new Map(), path, value, true) !== undefined,
    filterBy: (path, value, isWanted) => {
      const before = (submitted?.fields.filter ?? new Map()) as JsonObject
      const filter = withCondition(place, before, path, value, isWanted)
      if (filter === undefined) return
      const wanted = { ...query, filter: printJson(filter) }
      setQuery(wanted)
      run(wanted)
    },
    // The projection may hide fields. Editing is possible nevertheless, because the editor reads
    // the whole document.
    ...(mayWrite && {
      edit: (document: JsonObject) => {
        if (idFilter(place, document) !== undefined) setOpen({ edited: document })
        else
          showToast({
            text: 'The document or row cannot be edited: the projection excludes its id.',
            kind: 'error',
          })
      },
    }),
    showValue: (path, value) => setOpen({ name: path.join(' › '), value }),
    copy: (value) => {
      void copyText(typeof value === 'string' ? value : printPretty(value))
      showToast({ text: 'Copied.' })
    },
    copyDocuments: (copied, format) => {
      void copyText(documentsAsText(place, copied, format, hidden))
      showToast({ text: `Copied as ${format}.` })
    },
  }
  const documents = pages.page?.documents ?? []
  const trace = pages.page?.status['trace'] as Trace | undefined
  const editor = (clause: Clause & keyof QueryText, placeholder: string) => (
    <ClauseField
      clause={clause}
      class={clause}
      placeholder={placeholder}
      fields={fields}
      value={query[clause]}
      error={pages.error}
      onChange={(text) => change({ [clause]: text })}
      onSubmit={() => run(query)}
    />
  )
  return (
    <div class="query-page">
      <div class="clauses">
        {editor('filter', '{ "year": { "$gt": 1960 } }')}
        {editor('sort', '{ "year": -1 }')}
        {editor('projection', '{ "title": 1 }')}
        {editor('options', '{ "limit": 100 }')}
      </div>
      <div class="toolbar">
        <Button kind="primary" onClick={() => run(query)} title="Control+Enter">
          Run
        </Button>
        {place.kind === 'collection' && (
          <Button isBusy={counting.isBusy} onClick={counting.run}>
            Count
          </Button>
        )}
        <CheckField label="Explain" value={isExplained} onChange={setExplained} />
        <CheckField label="Trace" value={isTraced} onChange={setTraced} />
        <Segments
          label="View"
          value={view}
          onChange={(chosen) => gridState.update((before) => ({ ...before, view: chosen }))}
          options={[
            { value: 'table', label: 'Table' },
            { value: 'json', label: 'JSON' },
          ]}
        />
        <span class="push" />
        <Button icon="time" onClick={() => setOpen('queries')}>
          History and saved
        </Button>
        <Button icon="save" onClick={() => setOpen('save')}>
          Save as
        </Button>
        <Button
          icon="save"
          onClick={() => {
            exportedQuery.set({ ...query, limit: limitIn(query.options) })
            goTo(routeTo(place.database, place.keyspace, place.name, 'files'))
          }}
        >
          Export to a file
        </Button>
        <Button icon="copy" onClick={() => setOpen('code')}>
          As code
        </Button>
      </div>
      {(problem ?? counting.error ?? pages.error) !== undefined && (
        <div class="toolbar-notes">
          <ErrorNotice error={problem ?? counting.error ?? pages.error} />
        </div>
      )}
      {pages.page !== undefined && pages.page.warnings.length > 0 && (
        <div class="toolbar-notes">
          <Warnings warnings={pages.page.warnings} />
        </div>
      )}
      {trace !== undefined && submitted?.isExplained === true && <PlanView trace={trace} />}
      {trace !== undefined && submitted?.isTraced === true && <TraceView trace={trace} />}
      {traceOf(submitted) !== undefined &&
        pages.page !== undefined &&
        trace === undefined && (
          <div class="toolbar-notes">
            <Notice>Tracing is disabled on this server.</Notice>
          </div>
        )}
      {submitted === undefined ? (
        <EmptyState title="No query has run yet">
          An empty clause is not sent. Control+Space suggests fields and operators,
          Control+Enter runs the query.
        </EmptyState>
      ) : documents.length > 0 ? (
        <DocumentGrid
          label="Results"
          place={place}
          documents={documents}
          state={gridState}
          actions={actions}
        />
      ) : (
        pages.page !== undefined && <EmptyState title="Nothing matches" />
      )}
      {submitted !== undefined && (
        <PageBar
          pages={pages}
          pageSize={pageSize}
          onPageSize={(size) =>
            gridState.update((before) => ({ ...before, pageSize: size }))
          }
        />
      )}
      {open === 'code' && (
        <CodeFor place={place} query={query} onClose={() => setOpen(undefined)} />
      )}
      {open === 'queries' && (
        <QueriesDialog
          kept={kept}
          onChoose={choose}
          onChange={keep}
          onClose={() => setOpen(undefined)}
        />
      )}
      {open === 'save' && (
        <SaveDialog
          kept={kept}
          query={query}
          onChange={keep}
          onClose={() => setOpen(undefined)}
        />
      )}
      {typeof open === 'object' && 'edited' in open && (
        <DocumentEditor
          place={place}
          fields={fields}
          document={open.edited}
          onClose={() => setOpen(undefined)}
          onDone={pages.reload}
        />
      )}
      {typeof open === 'object' && 'name' in open && (
        <ValueDialog
          name={open.name}
          value={open.value}
          onClose={() => setOpen(undefined)}
        />
      )}
    </div>
  )
}

/** The query that another page passed, or an empty one. */
function takeOpened(): QueryText {
  const opened = openedQuery.get()
  openedQuery.set(undefined)
  if (opened === undefined) return emptyQuery
  const text = (value: Value | undefined) =>
    value === undefined || (isObject(value) && value.size === 0) ? '' : printPretty(value)
  return { ...emptyQuery, filter: text(opened.filter), sort: text(opened.sort) }
}

/**
 * Parses the clauses. If a clause is not a JSON object, throws an Error with its name.
 */
function parseQuery(query: QueryText): FindFields {
  const filter = readClause('filter', query.filter)
  const sort = readClause('sort', query.sort)
  const projection = readClause('projection', query.projection)
  const options = readClause('options', query.options)
  return {
    ...(filter === undefined ? {} : { filter }),
    ...(sort === undefined ? {} : { sort }),
    ...(projection === undefined ? {} : { projection }),
    ...(options === undefined ? {} : { options }),
  }
}

function CodeFor({
  place,
  query,
  onClose,
}: {
  readonly place: Place
  readonly query: QueryText
  readonly onClose: () => void
}) {
  let body = '{}'
  try {
    body = printJson({ ...parseQuery(query) })
  } catch (error) {
    return <ErrorNotice error={error} onClose={onClose} />
  }
  return <CodeDialog place={place} command="find" body={body} onClose={onClose} />
}
