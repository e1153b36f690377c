/** Map tab: projects vectors to a plane, so that similar records are close to each other. */
import { useLayoutEffect, useMemo, useState } from 'preact/hooks'
import { command } from '../api/command.ts'
import type { Place } from '../api/place.ts'
import { goTo, routeTo } from '../navigation/route.ts'
import { catalog, keyOf } from '../catalog/catalog.ts'
import { fieldListOf } from '../completion/field-paths.ts'
import { ClauseField } from '../data/clause-field.tsx'
import { dataQueryOf, noQuery } from '../data/data-query.ts'
import { noun } from '../data/document-id.ts'
import { readClause } from '../data/read-clause.ts'
import type { JsonObject, Value } from '../json/value.ts'
import { Button } from '../kit/button.tsx'
import { SelectField } from '../kit/fields.tsx'
import { formatCount, formatMany } from '../kit/format.ts'
import { useLoad, useStore } from '../kit/hooks.ts'
import { EmptyState, ErrorNotice } from '../kit/notice.tsx'
import { loadVectors, type MapData } from './load-vectors.ts'
import { MapCanvas } from './map-canvas.tsx'
import { colorBy, colorFields, otherColor } from './map-colors.ts'
import { Legend, PointedDocument, PointList, Selection } from './map-panel.tsx'
import { selectionFilter } from './selection-filter.ts'
import { useProjection, type ProjectionState } from './use-projection.ts'

const counts = ['500', '1000', '2000', '5000'] as const
const none: ReadonlySet<number> = new Set()

export function MapPage({ place }: { readonly place: Place }) {
  const columns = vectorFields(place)
  const [field, setField] = useState(columns[0] ?? '')
  const [countMax, setCountMax] = useState<(typeof counts)[number]>('1000')
  const [filterText, setFilterText] = useState('')
  const [filter, setFilter] = useState<Value | undefined>(undefined)
  const [filterError, setFilterError] = useState<unknown>(undefined)
  const [loadedCount, setLoadedCount] = useState(0)
  /** Indexes of the points that the map shows; undefined: all loaded points. */
  const [part, setPart] = useState<readonly number[] | undefined>(undefined)
  const { value: isCosine = true } = useLoad(
    () => findsCosine(place, field),
    [place, field],
  )
  const { targets } = useStore(catalog)
  const total = targets
    .get(keyOf(place.database, place.keyspace))
    ?.value?.find(({ name }) => name === place.name)?.documents
  const loaded = useLoad(
    async (signal) => {
      setPart(undefined)
      setLoadedCount(0)
      if (field === '') return undefined
      const query = { field, filter, countMax: Number(countMax), total }
      return loadVectors(place, query, setLoadedCount, signal)
    },
    // The total may arrive later, but matters only if there are too many for the map.
    [place, field, filter, countMax, total !== undefined && total > Number(countMax)],
  )
  const data = loaded.isLoading ? undefined : loaded.value
  const shown = useMemo(() => data && partOf(data, part), [data, part])
  const projection = useProjection(
    shown !== undefined && shown.documents.length > 0 ? shown.vectors : undefined,
    shown?.dimension ?? 0,
    isCosine,
  )
  const list = useMemo(
    () => fieldListOf(place, data?.documents.slice(0, 200) ?? []),
    [place, data],
  )
  const applyFilter = () => {
    try {
      setFilterError(undefined)
      setFilter(readClause('filter', filterText))
    } catch (error) {
      setFilterError(error)
    }
  }
  if (columns.length === 0)
    return (
      <EmptyState title={`This ${place.kind} has no vectors`}>
        {place.kind === 'table'
          ? 'The map shows a column of the type vector.'
          : 'The map requires a collection that was created with vectors.'}
      </EmptyState>
    )
  return (
    <div class="map-page" data-stage={loaded.isLoading ? 'loading' : projection.stage}>
      <div class="map-tools">
        <ClauseField
          clause="filter"
          class="map-filter"
          fields={list}
          value={filterText}
          onChange={setFilterText}
          placeholder="All"
          error={loaded.error}
          onSubmit={applyFilter}
          isSingleLine
        />
        {columns.length > 1 && (
          <SelectField
            label="Vectors"
            value={field}
            choices={columns}
            onChange={setField}
          />
        )}
        <SelectField
          label="Maximum"
          value={countMax}
          choices={counts.map((value) => ({ value, label: formatCount(Number(value)) }))}
          onChange={setCountMax}
        />
        <Button icon="filter" onClick={applyFilter}>
          Apply
        </Button>
        <Button icon="refresh" label="Load again" onClick={loaded.reload} />
        <p class="map-status" role="status">
          {statusText(
            place,
            { isLoading: loaded.isLoading, loadedCount, total, data, shown },
            projection,
          )}
        </p>
      </div>
      <ErrorNotice error={filterError ?? loaded.error ?? projection.error} />
      {data?.documents.length === 0 && (
        <EmptyState title="No vectors to show">
          {data.seen === 0
            ? `No ${noun(place, 2)} match.`
            : `None of the ${formatMany(data.seen, noun(place, 1))} that were read has a vector.`}
        </EmptyState>
      )}
      {shown !== undefined && shown.documents.length > 0 && (
        <MapOf
          key={part === undefined ? 'all' : part.join()}
          place={place}
          data={shown}
          projection={projection}
          isPart={part !== undefined}
          onOnly={(points) =>
            setPart(part === undefined ? points : points.map((point) => part[point]!))
          }
          onAll={() => setPart(undefined)}
        />
      )}
    </div>
  )
}

/** The map of the loaded vectors, with its toolbar and panel. */
function MapOf({
  place,
  data,
  projection,
  isPart,
  onOnly,
  onAll,
}: {
  readonly place: Place
  readonly data: MapData
  readonly projection: ProjectionState
  readonly isPart: boolean
  readonly onOnly: (points: readonly number[]) => void
  readonly onAll: () => void
}) {
  const { documents } = data
  const fields = useMemo(() => colorFields(documents), [documents])
  const [colorField, setColorField] = useState(() => bestColorField(documents, fields))
  const [selected, setSelected] = useState(none)
  const [pointed, setPointed] = useState<number | undefined>(undefined)
  const [isLasso, setLasso] = useState(false)
  const [fitTurn, setFitTurn] = useState(0)
  // This is a layout effect, so that a selection never refers to points of the previous map.
  useLayoutEffect(() => {
    setSelected(none)
    setPointed(undefined)
  }, [documents])
  const coloring = useMemo(() => colorBy(documents, colorField), [documents, colorField])
  const chosen = [...selected].map((point) => documents[point]!)
  const open = (wanted: readonly JsonObject[]) => {
    const made = selectionFilter(place, wanted)
    if ('lacks' in made) return
    dataQueryOf(place).set(
      'ids' in made ? { ...noQuery, ids: made.ids } : { ...noQuery, filter: made.filter },
    )
    goTo(routeTo(place.database, place.keyspace, place.name, 'data'))
  }
  const toggle = (point: number) => {
    const next = new Set(selected)
    if (!next.delete(point)) next.add(point)
    setSelected(next)
  }
  return (
    <div class="map-body">
      <div class="map-frame">
        <MapCanvas
          positions={projection.positions}
          coloring={coloring}
          selected={selected}
          pointed={pointed}
          isLasso={isLasso}
          fitTurn={fitTurn}
          onPoint={setPointed}
          onSelect={(points) => setSelected(new Set(points))}
          label={
            `Map of ${formatMany(documents.length, 'vector')}. Arrow keys move the ` +
            'map, plus and minus zoom. The list beside the map has the same content.'
          }
        />
        <div class="map-buttons">
          <Button isPressed={isLasso} onClick={() => setLasso(!isLasso)}>
            Lasso
          </Button>
          <Button onClick={() => setFitTurn(fitTurn + 1)}>Fit</Button>
        </div>
      </div>
      <aside class="map-side" aria-label="Map details">
        <SelectField
          label="Colour by"
          value={colorField}
          choices={[{ value: '', label: 'nothing' }, ...fields]}
          onChange={setColorField}
        />
        <Selection
          place={place}
          count={selected.size}
          filter={selectionFilter(place, chosen)}
          isPart={isPart}
          onOpen={() => open(chosen)}
          onOnly={() => onOnly([...selected])}
          onAll={onAll}
          onClear={() => setSelected(none)}
        />
        <Legend coloring={coloring} title={colorField} />
        <PointedDocument
          place={place}
          document={pointed === undefined ? undefined : documents[pointed]}
          onOpen={open}
        />
        <PointList
          place={place}
          documents={documents}
          coloring={coloring}
          selected={selected}
          pointed={pointed}
          onPoint={setPointed}
          onToggle={toggle}
        />
      </aside>
    </div>
  )
}

interface MapFacts {
  readonly isLoading: boolean
  readonly loadedCount: number
  /** Number of documents of the collection or table; undefined if it is unknown. */
  readonly total: number | undefined
  readonly data: MapData | undefined
  readonly shown: MapData | undefined
}

/** The number of shown vectors, and how they were chosen. */
function whatText(data: MapData, shown: MapData, total: number | undefined): string {
  const count = shown.documents.length
  const size = `of ${formatMany(shown.dimension, 'number')}`
  if (!data.hasMore || shown !== data) return `${formatMany(count, 'vector')} ${size}`
  if (data.isRandom && total !== undefined)
    return `${formatCount(count)} of ${formatCount(total)} vectors ${size}, drawn at random`
  return `The first ${formatMany(count, 'vector')} ${size}`
}

function statusText(
  place: Place,
  { isLoading, loadedCount, total, data, shown }: MapFacts,
  { stage, progress }: ProjectionState,
): string {
  if (isLoading) return `${formatMany(loadedCount, noun(place, 1))} loaded`
  if (data === undefined || shown === undefined || shown.documents.length === 0) return ''
  const what = whatText(data, shown, total)
  switch (stage) {
    case 'waiting':
      return `${what}: computing the principal components`
    case 'pca':
      return `${what}: PCA, searching for neighbours`
    case 'umap':
      return `${what}: UMAP, ${Math.round(progress * 100)}%`
    case 'done':
      return what
  }
}

function vectorFields(place: Place): readonly string[] {
  if (place.kind === 'collection')
    return place.options.vector === undefined ? [] : ['$vector']
  return [...place.table.columns]
    .filter(([, { type }]) => type === 'vector')
    .map(([name]) => name)
}

/** The field with the most categories, among the fields with a colour for each category. */
function bestColorField(
  documents: readonly JsonObject[],
  fields: readonly string[],
): string {
  let [best, most] = ['', 1]
  for (const path of fields) {
    const { legend, kind } = colorBy(documents, path)
    const isGood = kind === 'category' && !legend.some(({ color }) => color === otherColor)
    if (!isGood || legend.length <= most) continue
    best = path
    most = legend.length
  }
  return best
}

function partOf(data: MapData, part: readonly number[] | undefined): MapData {
  if (part === undefined) return data
  const { dimension } = data
  const vectors = new Float32Array(part.length * dimension)
  part.forEach((point, row) =>
    vectors.set(
      data.vectors.subarray(point * dimension, (point + 1) * dimension),
      row * dimension,
    ),
  )
  return { ...data, documents: part.map((point) => data.documents[point]!), vectors }
}

/**
 * Whether the metric ignores the length of vectors. For a table, the index of the column defines
 * the metric.
 */
async function findsCosine(place: Place, field: string): Promise<boolean> {
  if (place.kind === 'collection') return place.options.vector?.metric !== 'euclidean'
  const { status } = await command(place, 'listIndexes', { options: { explain: true } })
  const index = (status['indexes'] as readonly ColumnIndex[]).find(
    ({ definition }) => definition.column === field,
  )
  return index?.definition.options?.metric !== 'euclidean'
}

interface ColumnIndex {
  readonly definition: {
    readonly column: unknown
    readonly options?: { readonly metric?: string }
  }
}
