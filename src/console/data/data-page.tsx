/**
 * Data tab: browse, filter and change the documents of a collection or the rows of a table.
 */
import { useEffect, useMemo, useState } from 'preact/hooks'
import { hasKnownKey, type Place } from '../api/place.ts'
import { goTo, routeTo } from '../navigation/route.ts'
import { catalog, keyOf, refreshSizes } from '../catalog/catalog.ts'
import { useMay } from '../catalog/permissions.ts'
import { fieldListOf } from '../completion/field-paths.ts'
import { printJson, printPretty } from '../json/print-json.ts'
import { Numeral, writePath, type JsonObject, type Value } from '../json/value.ts'
import { Button } from '../kit/button.tsx'
import { Chip } from '../kit/chip.tsx'
import { copyText } from '../kit/copy-button.tsx'
import { CheckField } from '../kit/fields.tsx'
import { formatCount } from '../kit/format.ts'
import { Cancelled, useStore } from '../kit/hooks.ts'
import { ErrorNotice, Loading, messageOf, Notice, Warnings } from '../kit/notice.tsx'
import { Segments } from '../kit/tabs.tsx'
import { showToast } from '../kit/toasts.tsx'
import { openedQuery } from '../navigation/opened-query.ts'
import { ClauseField } from './clause-field.tsx'
import { listFields } from './columns.ts'
import { withCondition } from './conditions.ts'
import { documentsAsText } from './copy-documents.ts'
import { DataDialog, type OpenDialog } from './data-dialogs.tsx'
import {
  dataQueryOf,
  findFieldsOf,
  hiddenFieldOf,
  noQuery,
  withoutChoice,
} from './data-query.ts'
import { DocumentGrid } from './document-grid.tsx'
import { idFilter, idKey, noun } from './document-id.ts'
import { duplicateText } from './duplicate.ts'
import { EmptyData } from './empty-data.tsx'
import { findSimilar, vectorFieldOf } from './find-similar.ts'
import type { SortOrder } from './grid-header.tsx'
import type { GridActions } from './grid-menus.ts'
import { nothingSelected, type Selection } from './grid-selection.ts'
import { gridStateOf } from './grid-state.ts'
import { PageBar } from './page-bar.tsx'
import { useQueryInUrl } from './query-in-url.ts'
import { readClause } from './read-clause.ts'
import { SelectionBar } from './selection-bar.tsx'
import { useCellChanges } from './use-cell-changes.ts'
import { usePages } from './use-pages.ts'
import { useTotal } from './use-total.ts'

export function DataPage({ place }: { readonly place: Place }) {
  const store = dataQueryOf(place)
  const { query, error: urlError } = useQueryInUrl(place, store)
  const gridState = gridStateOf(place)
  const { view, pageSize, hidden } = useStore(gridState)
  const { targets } = useStore(catalog)
  const [filterText, setFilterText] = useState(() => textOf(query.filter))
  // The filter also changes by a click on a value, and by the URL.
  useEffect(() => setFilterText(textOf(query.filter)), [query.filter])
  const [filterError, setFilterError] = useState<unknown>(undefined)
  const [open, setOpen] = useState<OpenDialog | undefined>(undefined)
  const [selected, setSelected] = useState(nothingSelected)
  /** Whether all matches are selected, also those of other pages. */
  const [isEverything, setEverything] = useState(false)
  const select = (wanted: Selection) => {
    setSelected(wanted)
    setEverything(false)
  }
  const fields = useMemo(
    () => findFieldsOf(place, query, pageSize),
    [place, query, pageSize],
  )
  const key = useMemo(() => printJson({ ...fields }), [fields])
  const pages = usePages(place, fields, key, { pageSize })
  const documents = pages.page?.documents ?? []
  const list = useMemo(() => fieldListOf(place, documents), [place, pages.page])
  const isTable = place.kind === 'table'
  const hiddenField = hiddenFieldOf(place)
  const mayWrite = useMay(place)('db-table-modify')
  const isKeyKnown = hasKnownKey(place)
  const mayChange = mayWrite && isKeyKnown

  const apply = (filter: JsonObject) => {
    setFilterText(textOf(filter))
    setFilterError(undefined)
    select(nothingSelected)
    store.update((before) => ({ ...before, filter }))
  }
  const applyText = () => {
    try {
      apply(readClause('filter', filterText) ?? new Map())
    } catch (error) {
      setFilterError(error)
    }
  }
  const cells = useCellChanges(place, pages.reload)
  const afterChange = () => {
    select(nothingSelected)
    pages.reload()
    void refreshSizes(place)
  }
  const chosen = documents.filter((document, row) =>
    selected.has(idKey(place, document, row)),
  )

  const actions: GridActions = {
    canFilterBy: (path, value) =>
      withCondition(place, new Map(), path, value, true) !== undefined,
    filterBy: (path, value, isWanted) => {
      const filter = withCondition(place, query.filter, path, value, isWanted)
      if (filter !== undefined) apply(filter)
    },
    ...(vectorFieldOf(place) === undefined || !isKeyKnown
      ? {}
      : {
          findSimilar: (document: JsonObject) => void findSimilar(place, document, store),
        }),
    ...(mayChange && {
      edit: (document: JsonObject) => setOpen({ kind: 'edit', document }),
      duplicate: (document: JsonObject) =>
        void duplicateText(place, document).then(
          (start) => setOpen({ kind: 'insert', start }),
          (error: unknown) => showToast({ text: messageOf(error), kind: 'error' }),
        ),
      remove: (doomed: readonly JsonObject[]) =>
        setOpen({ kind: 'delete', doomed: { documents: doomed } }),
      saveCell: cells.save,
      undo: cells.undo,
    }),
    showValue: (path, value) => setOpen({ kind: 'value', name: path.join(' › '), value }),
    copy: (value) => {
      void copyText(typeof value === 'string' ? value : printPretty(value))
      showToast({ text: 'Copied.' })
    },
    copyDocuments: (copied, format) => {
      void copyText(documentsAsText(place, copied, format, hidden))
      const what = `${formatCount(copied.length)} ${noun(place, copied.length)}`
      showToast({ text: `Copied ${what} as ${format}.` })
    },
  }
  const sortOf = (column: string): SortOrder => {
    const order = query.sort.get(isTable ? column : writePath([column]))
    if (!(order instanceof Numeral)) return 'none'
    return order.text === '1' ? 'ascending' : 'descending'
  }
  const onSort = (column: string, order: SortOrder) => {
    const sort = new Map<string, Value>()
    if (order !== 'none')
      sort.set(
        isTable ? column : writePath([column]),
        new Numeral(order === 'ascending' ? '1' : '-1'),
      )
    store.update((before) => ({ ...withoutChoice(before), sort }))
  }
  // Omits the warning about an empty filter, because the user asked for all records.
  const warnings = (pages.page?.warnings ?? []).filter(
    ({ errorCode }) => errorCode !== 'ZERO_FILTER_OPERATIONS',
  )
  const total = targets
    .get(keyOf(place.database, place.keyspace))
    ?.value?.find(({ name }) => name === place.name)?.documents
  // The API deletes rows by key or all at once, but not by a filter on other columns.
  const canDeleteAll =
    documents.length > 0 &&
    query.similarTo === undefined &&
    query.ids === undefined &&
    (!isTable || (query.filter.size === 0 && total !== undefined))
  const matching = useTotal(place, query, pages, total)
  const isFiltered =
    query.filter.size > 0 || query.similarTo !== undefined || query.ids !== undefined

  return (
    <div class="data-page">
      <div class="toolbar">
        <ClauseField
          clause="filter"
          isLabelHidden
          fields={list}
          value={filterText}
          onChange={setFilterText}
          placeholder={'Filter, such as { "year": { "$gt": 1960 } }'}
          error={pages.error}
          onSubmit={applyText}
          isSingleLine
        />
        <Button kind="primary" icon="filter" onClick={applyText}>
          Apply
        </Button>
        <Button
          isDisabled={!isFiltered && filterText === '' && query.sort.size === 0}
          onClick={() => {
            store.set(noQuery)
            apply(new Map())
          }}
        >
          Clear
        </Button>
      </div>
      <div class="toolbar">
        <Segments
          label="View"
          value={view}
          onChange={(chosenView) =>
            gridState.update((before) => ({ ...before, view: chosenView }))
          }
          options={[
            { value: 'table', label: 'Table' },
            { value: 'json', label: 'JSON' },
          ]}
        />
        {view === 'table' && (
          <Button icon="columns" onClick={() => setOpen({ kind: 'columns' })}>
            {hidden.size === 0 ? 'Columns' : `Columns (${hidden.size} hidden)`}
          </Button>
        )}
        {hiddenField !== undefined && (
          <CheckField
            label={`Show ${hiddenField}`}
            value={query.isWhole}
            onChange={(isWhole) => store.update((before) => ({ ...before, isWhole }))}
          />
        )}
        {query.similarTo !== undefined && (
          <Chip
            text={`Similar to ${query.similarTo.name}`}
            label="Remove the similarity search"
            onClose={() => store.update(withoutChoice)}
          />
        )}
        {query.ids !== undefined && (
          <Chip
            text={`${formatCount(query.ids.length)} selected on the map`}
            label="Remove the restriction to the selection on the map"
            onClose={() => store.update(withoutChoice)}
          />
        )}
        <span class="push" />
        {mayChange && canDeleteAll && !isTable && (
          <Button
            kind="quiet"
            icon="edit"
            onClick={() => setOpen({ kind: 'update', filter: query.filter })}
          >
            {query.filter.size === 0 ? 'Update all' : 'Update matching'}
          </Button>
        )}
        {mayWrite && canDeleteAll && (
          <Button
            kind="quiet"
            icon="delete"
            onClick={() => setOpen({ kind: 'delete', doomed: { filter: query.filter } })}
          >
            {query.filter.size === 0 ? 'Delete all' : 'Delete matching'}
          </Button>
        )}
        {query.ids === undefined && (
          <Button
            kind="quiet"
            icon="search"
            onClick={() => {
              openedQuery.set({ filter: query.filter, sort: query.sort })
              goTo(routeTo(place.database, place.keyspace, place.name, 'query'))
            }}
          >
            Open as query
          </Button>
        )}
        <Button icon="refresh" label="Refresh" onClick={afterChange} />
        {mayWrite && (
          <Button kind="primary" icon="add" onClick={() => setOpen({ kind: 'insert' })}>
            Insert
          </Button>
        )}
      </div>
      {chosen.length > 0 && (
        <SelectionBar
          place={place}
          count={chosen.length}
          isPage={chosen.length === documents.length}
          isEverything={isEverything}
          matching={matching}
          onEverything={
            canDeleteAll && (pages.page?.next ?? null) !== null
              ? () => setEverything(true)
              : undefined
          }
          onCopy={(format) => actions.copyDocuments(chosen, format)}
          onUpdate={
            isTable || (!isEverything && chosen.length > listedIdsMax)
              ? undefined
              : () =>
                  setOpen({
                    kind: 'update',
                    filter: isEverything ? query.filter : anyOf(place, chosen),
                  })
          }
          onDelete={() =>
            setOpen({
              kind: 'delete',
              doomed: isEverything ? { filter: query.filter } : { documents: chosen },
            })
          }
          onClear={() => select(nothingSelected)}
        />
      )}
      {((filterError ?? urlError ?? pages.error) !== undefined ||
        warnings.length > 0 ||
        mayWrite !== mayChange) && (
        <div class="toolbar-notes">
          {pages.error instanceof Cancelled ? (
            <Notice kind="warning" title="You cancelled the request.">
              {documents.length > 0 &&
                `These ${noun(place, 2)} are from an earlier request. `}
              Refresh to send it again.
            </Notice>
          ) : (
            <ErrorNotice error={filterError ?? urlError ?? pages.error} />
          )}
          <Warnings warnings={warnings} />
          {mayWrite && !isKeyKnown && (
            <Notice title="You can insert rows here, but not change them.">
              The token may not list the table, so its primary key is unknown.
            </Notice>
          )}
        </div>
      )}
      {pages.page === undefined && pages.error === undefined ? (
        <Loading />
      ) : documents.length > 0 ? (
        <DocumentGrid
          label={isTable ? 'Rows' : 'Documents'}
          place={place}
          documents={documents}
          state={gridState}
          actions={actions}
          sortOf={sortOf}
          {...(query.ids === undefined ? { onSort } : {})}
          {...(mayChange ? { selected, onSelect: select } : {})}
          isStale={pages.isLoading}
        />
      ) : (
        pages.error === undefined && (
          <EmptyData
            place={place}
            isFiltered={isFiltered}
            onInsert={mayWrite ? () => setOpen({ kind: 'insert' }) : undefined}
          />
        )
      )}
      <PageBar
        pages={pages}
        pageSize={pageSize}
        onPageSize={(size) => gridState.update((before) => ({ ...before, pageSize: size }))}
        total={matching}
      />
      {open !== undefined && (
        <DataDialog
          place={place}
          open={open}
          fields={list}
          names={listFields(place, documents)}
          total={total}
          onClose={() => setOpen(undefined)}
          onDone={afterChange}
        />
      )}
    </div>
  )
}

function textOf(filter: JsonObject): string {
  return filter.size === 0 ? '' : printJson(filter)
}

/** Maximum number of ids in a filter, which the API limits. */
const listedIdsMax = 100

/** A filter that matches these documents. */
function anyOf(place: Place, documents: readonly JsonObject[]): JsonObject {
  const ids = documents.map((document) => idFilter(place, document)!.get('_id')!)
  return new Map([['_id', new Map([['$in', ids]])]])
}
