/** Header of a grid: click to sort, drag an edge to resize. */
import type { MenuPlace } from '../kit/menu.tsx'
import { cutName } from '../json/value-text.ts'
import type { ShownColumn } from './columns.ts'
import { cellClass, cellStyle } from './grid-cells.tsx'

export type SortOrder = 'none' | 'ascending' | 'descending'

const nextOrder: Readonly<Record<SortOrder, SortOrder>> = {
  none: 'ascending',
  ascending: 'descending',
  descending: 'none',
}

export interface GridHeaderProps {
  readonly gridId: string
  readonly width: number
  /** The first column, which does not scroll horizontally. */
  readonly frozen: ShownColumn | undefined
  readonly columns: readonly { readonly column: ShownColumn; readonly position: number }[]
  readonly activeColumn: number | undefined
  readonly sortOf: (column: string) => SortOrder
  readonly onSort?: (column: string, order: SortOrder) => void
  readonly onResize: (column: string, width: number) => void
  readonly onMenu: (at: MenuPlace, position: number) => void
  /** State of the check box that selects the page; absent if documents cannot be selected. */
  readonly selection?: {
    readonly isAll: boolean
    readonly isSome: boolean
    readonly onToggle: () => void
  }
}

export function GridHeader(props: GridHeaderProps) {
  const { gridId, width, frozen, columns, activeColumn, sortOf, onSort, onMenu } = props
  const { selection } = props
  const all = [
    ...(frozen === undefined ? [] : [{ column: frozen, position: 0 }]),
    ...columns,
  ]
  return (
    <div
      class="grid-row grid-header"
      role="row"
      aria-rowindex={1}
      style={{ width: `${width}px` }}
    >
      <div class="grid-handle" role="columnheader" aria-colindex={1}>
        {selection === undefined ? (
          <span class="unseen">Actions</span>
        ) : (
          <input
            type="checkbox"
            tabIndex={-1}
            aria-label="Select all on this page"
            checked={selection.isAll}
            indeterminate={selection.isSome && !selection.isAll}
            onChange={selection.onToggle}
          />
        )}
      </div>
      {all.map(({ column, position }) => {
        const order = sortOf(column.name)
        return (
          <div
            key={column.name}
            id={`${gridId}--1-${position}`}
            role="columnheader"
            aria-colindex={position + 2}
            aria-sort={order}
            class={cellClass(column, position, activeColumn === position)}
            style={cellStyle(column, position)}
            title={cutName(column.name)}
            onClick={() => onSort?.(column.name, nextOrder[order])}
            onContextMenu={(event) => {
              event.preventDefault()
              onMenu({ x: event.clientX, y: event.clientY }, position)
            }}
          >
            <span class="grid-text">{cutName(column.name)}</span>
            {order !== 'none' && (
              <span class="sort-mark" aria-hidden="true">
                {order === 'ascending' ? '▲' : '▼'}
              </span>
            )}
            <span
              class="resizer"
              aria-hidden="true"
              onClick={(event) => event.stopPropagation()}
              onPointerDown={(event) => startResizing(event, column, props.onResize)}
            />
          </div>
        )
      })}
    </div>
  )
}

function startResizing(
  event: PointerEvent,
  column: ShownColumn,
  onResize: GridHeaderProps['onResize'],
): void {
  event.preventDefault()
  const handle = event.currentTarget as HTMLElement
  handle.setPointerCapture(event.pointerId)
  const move = (moved: PointerEvent) =>
    onResize(column.name, column.width + moved.clientX - event.clientX)
  handle.addEventListener('pointermove', move)
  handle.addEventListener(
    'pointerup',
    () => handle.removeEventListener('pointermove', move),
    {
      once: true,
    },
  )
}
