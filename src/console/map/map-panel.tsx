/** Panel beside the map: legend, hovered point, selection, and a list of all points. */
import { useMemo } from 'preact/hooks'
import type { Place } from '../api/place.ts'
import { idText, noun } from '../data/document-id.ts'
import { printPretty } from '../json/print-json.ts'
import type { JsonObject } from '../json/value.ts'
import { Button } from '../kit/button.tsx'
import { formatCount, formatMany } from '../kit/format.ts'
import { VirtualList } from '../kit/virtual-list.tsx'
import type { Coloring } from './map-colors.ts'
import type { SelectionFilter } from './selection-filter.ts'

/** Maximum characters of a document that the panel shows; the Data tab shows the whole document. */
const shownMax = 6000

export function Legend({
  coloring,
  title,
}: {
  readonly coloring: Coloring
  readonly title: string
}) {
  if (coloring.kind === 'none') return null
  return (
    <section class="map-legend" aria-label="Legend">
      <h2>{title}</h2>
      <ul>
        {coloring.legend.map(({ color, label, count }) => (
          <li key={label}>
            <Swatch color={color} />
            <span class="legend-label">{label}</span>
            <span class="number quiet-text">{formatCount(count)}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

function Swatch({ color }: { readonly color: string }) {
  return <span class="swatch" aria-hidden="true" style={{ background: color }} />
}

export function PointedDocument({
  place,
  document,
  onOpen,
}: {
  readonly place: Place
  readonly document: JsonObject | undefined
  readonly onOpen: (documents: readonly JsonObject[]) => void
}) {
  const text = useMemo(
    () => (document === undefined ? '' : printPretty(document).slice(0, shownMax)),
    [document],
  )
  return (
    <section class="map-document" aria-label={`The ${noun(place, 1)} under the pointer`}>
      {document === undefined ? (
        <p class="quiet-text">Point at a dot of the map to see its {noun(place, 1)}.</p>
      ) : (
        <>
          <div class="row">
            <h2 class="pointed-name">{idText(place, document)}</h2>
            <Button kind="quiet" class="push" onClick={() => onOpen([document])}>
              Show data
            </Button>
          </div>
          <pre tabIndex={0}>{text}</pre>
        </>
      )}
    </section>
  )
}

export function Selection({
  place,
  count,
  filter,
  isPart,
  onOpen,
  onOnly,
  onAll,
  onClear,
}: {
  readonly place: Place
  readonly count: number
  readonly filter: SelectionFilter
  /** Whether the map is restricted to a selection. */
  readonly isPart: boolean
  readonly onOpen: () => void
  readonly onOnly: () => void
  readonly onAll: () => void
  readonly onClear: () => void
}) {
  if (count === 0 && !isPart) return null
  const lacks = 'lacks' in filter ? filter.lacks : undefined
  return (
    <section class="map-selection" aria-label="Selection">
      {count > 0 && (
        <>
          <p role="status">
            <strong>{formatMany(count, noun(place, 1))}</strong> selected
          </p>
          {lacks !== undefined && <p class="hint">{lacks}</p>}
        </>
      )}
      <div class="row">
        {count > 0 && (
          <>
            <Button
              kind="primary"
              icon="filter"
              isDisabled={lacks !== undefined}
              onClick={onOpen}
            >
              Filter the data
            </Button>
            <Button isDisabled={count < 3} onClick={onOnly}>
              Map only these
            </Button>
            <Button kind="quiet" onClick={onClear}>
              Clear
            </Button>
          </>
        )}
        {isPart && <Button onClick={onAll}>Map all again</Button>}
      </div>
    </section>
  )
}

const lineHeight = 28

/** The points as a list, for users who cannot use a pointer. */
export function PointList({
  place,
  documents,
  coloring,
  selected,
  pointed,
  onPoint,
  onToggle,
}: {
  readonly place: Place
  readonly documents: readonly JsonObject[]
  readonly coloring: Coloring
  readonly selected: ReadonlySet<number>
  readonly pointed: number | undefined
  readonly onPoint: (point: number) => void
  readonly onToggle: (point: number) => void
}) {
  return (
    <section class="map-list" aria-label="List">
      <h2>As a list</h2>
      <VirtualList
        count={documents.length}
        lineHeight={lineHeight}
        attributes={{ tabIndex: 0, role: 'region', 'aria-label': 'All points' }}
        renderLine={(point) => {
          const name = idText(place, documents[point]!)
          return (
            <div key={point} class={`map-line ${point === pointed ? 'pointed' : ''}`}>
              <input
                type="checkbox"
                aria-label={`Select ${name}`}
                checked={selected.has(point)}
                onChange={() => onToggle(point)}
              />
              <Swatch color={coloring.legend[coloring.entries[point] ?? 0]?.color ?? ''} />
              <button
                type="button"
                onClick={() => onPoint(point)}
                onFocus={() => onPoint(point)}
              >
                {name}
              </button>
            </div>
          )
        }}
      />
    </section>
  )
}
