/**
 * Data tab: browse, filter and change the documents of a collection or the rows of a table.
 */
import { useMemo, useState } from 'preact/hooks'
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
import { useStore } from '../kit/hooks.ts'
import { ErrorNotice, Loading, Notice, Warnings } from '../kit/notice.tsx'
import { Segments } from '../kit/tabs.tsx'
import { showToast } from '../kit/toasts.tsx'
import { openedQuery } from '../navigation/opened-query.ts'
import { ClauseField } from './clause-field.tsx'
import { listFields } from './columns.ts'
import { withCondition } from './conditions.ts'
import { DataDialog, type OpenDialog } from './data-dialogs.tsx'
import {
  dataQueryOf,
  findFieldsOf,
  hiddenFieldOf,
  noQuery,
  withoutChoice,
} from './data-query.ts'
import { DocumentGrid, type GridActions } from './document-grid.tsx'
import { idKey } from './document-id.ts'
import { EmptyData } from './empty-data.tsx'
import { findSimilar, vectorFieldOf } from './find-similar.ts'
import type { SortOrder } from './grid-header.tsx'
import { gridStateOf } from './grid-state.ts'
import { PageBar } from './page-bar.tsx'
import { readClause } from './read-clause.ts'
import { usePages } from './use-pages.ts'

export function DataPage({ place }: { readonly place: Place }) {
  const store = dataQueryOf(place)
  const query = useStore(store)
  const gridState = gridStateOf(place)
  const { view, pageSize, hidden } = useStore(gridState)
  const { targets } = useStore(catalog)
  const [filterText, setFilterText] = useState(() =>
    query.filter.size === 0 ? '' : printJson(query.filter),
  )
  const [filterError, setFilterError] = useState<unknown>(undefined)
  const [open, setOpen] = useState<OpenDialog | undefined>(undefined)
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
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
    setFilterText(filter.size === 0 ? '' : printJson(filter))
    setFilterError(undefined)
    setSelected(new Set())
    store.update((before) => ({ ...before, filter }))
  }
  const applyText = () => {
    try {
      apply(readClause('filter', filterText) ?? new Map())
    } catch (error) {
      setFilterError(error)
    }
  }
  const afterChange = () => {
    setSelected(new Set())
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
      remove: (document: JsonObject) =>
        setOpen({ kind: 'delete', doomed: { documents: [document] } }),
    }),
    showValue: (path, value) => setOpen({ kind: 'value', name: path.join(' › '), value }),
    copy: (value) => {
      void copyText(typeof value === 'string' ? value : printPretty(value))
      showToast({ text: 'Copied.' })
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
        {chosen.length > 0 && (
          <Button
            kind="danger"
            icon="delete"
            onClick={() => setOpen({ kind: 'delete', doomed: { documents: chosen } })}
          >
            Delete {chosen.length} selected
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
      {((filterError ?? pages.error) !== undefined ||
        warnings.length > 0 ||
        mayWrite !== mayChange) && (
        <div class="toolbar-notes">
          <ErrorNotice error={filterError ?? pages.error} />
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
          {...(mayChange ? { selected, onSelect: setSelected } : {})}
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
        total={
          !isFiltered ? total : query.filter.size === 0 ? query.ids?.length : undefined
        }
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
