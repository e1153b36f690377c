/** Renders lines of a grid. Contents of documents are inserted only as text, never as HTML. */
import type { ComponentChildren } from 'preact'
import type { Place } from '../api/place.ts'
import { Icon } from '../kit/icons.tsx'
import { cutName, kindOf, shortText } from '../json/value-text.ts'
import type { JsonObject, Value } from '../json/value.ts'
import type { ShownColumn } from './columns.ts'
import { canOpen, type FieldLine } from './document-lines.ts'
import { idText, noun } from './document-id.ts'

export interface CellHandlers {
  readonly gridId: string
  readonly active: { readonly line: number; readonly column: number }
  /** Makes a cell the current one. */
  readonly onActivate: (line: number, column: number) => void
  /** Starts editing a cell. */
  readonly onEdit: (line: number, column: number) => void
  /** Opens the menu of a cell. Column -1 is the document as a whole. */
  readonly onOpen: (event: MouseEvent, line: number, column: number) => void
  readonly onToggle: (row: number, path: readonly string[]) => void
  /** Selects a row, or with `isRange` all rows from the one that was selected last. */
  readonly onSelect?: (row: number, isRange: boolean) => void
  /** The editor of a cell; undefined if the cell is not edited. */
  readonly editorAt: (line: number, column: number) => ComponentChildren
}

export function cellClass(
  column: ShownColumn,
  position: number,
  isActive: boolean,
): string {
  const names = [
    'grid-cell',
    ...(position === 0 ? ['frozen'] : []),
    ...(column.isNumeric ? ['numeric'] : []),
    ...(isActive ? ['active'] : []),
  ]
  return names.join(' ')
}

/** The frozen column is in the flow after the check boxes. Others have a fixed position. */
export function cellStyle(column: ShownColumn, position: number) {
  const width = `${column.width}px`
  return position === 0 ? { width } : { left: `${column.left}px`, width }
}

export interface RowCellsProps {
  readonly place: Place
  readonly position: number
  readonly row: number
  readonly document: JsonObject
  /** The visible columns; undefined in the JSON view, where each field has its own line. */
  readonly columns:
    readonly { readonly column: ShownColumn; readonly position: number }[] | undefined
  /** The first column, which does not scroll horizontally. */
  readonly frozen: ShownColumn | undefined
  readonly isSelected: boolean
  readonly isOpenAt: (name: string) => boolean
  readonly handlers: CellHandlers
}

export function RowCells(props: RowCellsProps) {
  const { place, position, row, document, columns, isSelected, handlers } = props
  const { gridId, active, onOpen, onSelect, onToggle } = handlers
  const name = idText(place, document)
  const frozen = props.frozen === undefined ? [] : [{ column: props.frozen, position: 0 }]
  const isActive = (column: number) => active.line === position && active.column === column
  return (
    <div
      class={`grid-row document ${isSelected ? 'selected' : ''}`}
      role="row"
      aria-rowindex={position + 2}
      aria-selected={onSelect === undefined ? undefined : isSelected}
    >
      <div
        class="grid-handle"
        role="gridcell"
        aria-colindex={1}
        onContextMenu={(event) => onOpen(event, position, -1)}
      >
        {onSelect !== undefined && (
          <input
            type="checkbox"
            tabIndex={-1}
            checked={isSelected}
            aria-label={`Select ${name}`}
            onClick={(event) => onSelect(row, event.shiftKey)}
          />
        )}
        <button
          type="button"
          class="grid-more"
          tabIndex={-1}
          aria-label={`Actions on ${name}`}
          onClick={(event) => onOpen(event, position, -1)}
        >
          <Icon name="more" />
        </button>
      </div>
      {columns === undefined ? (
        <div
          id={`${gridId}-${position}-0`}
          role="gridcell"
          aria-colindex={2}
          class={`grid-head-cell ${isActive(0) ? 'active' : ''}`}
          onClick={() => handlers.onActivate(position, 0)}
          onContextMenu={(event) => onOpen(event, position, 0)}
        >
          <span class="grid-text">{name}</span>
          <span class="quiet-text">
            {document.size} {document.size === 1 ? 'field' : 'fields'}
          </span>
        </div>
      ) : (
        [...frozen, ...columns].map(({ column, position: at }) => {
          const value = document.get(column.name)
          const editor = handlers.editorAt(position, at)
          return (
            <div
              key={column.name}
              id={`${gridId}-${position}-${at}`}
              role="gridcell"
              aria-colindex={at + 2}
              class={`${cellClass(column, at, isActive(at))} ${editor === undefined ? '' : 'editing'}`}
              style={cellStyle(column, at)}
              onClick={() => handlers.onActivate(position, at)}
              onDblClick={() => handlers.onEdit(position, at)}
              onContextMenu={(event) => onOpen(event, position, at)}
            >
              {editor ??
                (value === undefined ? (
                  <span
                    class="grid-absent"
                    aria-label={`no value in this ${noun(place, 1)}`}
                  />
                ) : (
                  <CellValue
                    value={value}
                    isOpen={canOpen(value) ? props.isOpenAt(column.name) : undefined}
                    onToggle={() => onToggle(row, [column.name])}
                  />
                ))}
            </div>
          )
        })
      )}
    </div>
  )
}

export interface FieldCellsProps {
  readonly position: number
  readonly line: FieldLine
  readonly isInTable: boolean
  readonly handlers: CellHandlers
}

/** Maximum depth of indentation. Deeper lines have the same indentation as lines of this depth. */
const depthMax = 12

export function FieldCells({ position, line, isInTable, handlers }: FieldCellsProps) {
  const { gridId, active, onOpen, onToggle } = handlers
  const { row, depth, path, value, isOpen } = line
  const name = cutName(path.at(-1)!)
  const indent = 16 * Math.min(depth, depthMax) + (isInTable ? 74 : 30)
  const editor = handlers.editorAt(position, 0)
  return (
    <div class="grid-row field-line" role="row" aria-rowindex={position + 2}>
      <div
        id={`${gridId}-${position}-0`}
        role="gridcell"
        aria-colindex={1}
        aria-colspan={2}
        aria-expanded={isOpen}
        class={`grid-field ${active.line === position ? 'active' : ''} ${editor === undefined ? '' : 'editing'}`}
        style={{ paddingLeft: `${indent}px` }}
        onClick={() => handlers.onActivate(position, 0)}
        onDblClick={() => handlers.onEdit(position, 0)}
        onContextMenu={(event) => onOpen(event, position, 0)}
      >
        <Twisty isOpen={isOpen} onToggle={() => onToggle(row, path)} />
        <span class="field-name" title={name}>
          {name}
        </span>
        {editor ?? (
          <CellValue value={value} isOpen={undefined} onToggle={() => undefined} />
        )}
      </div>
    </div>
  )
}

function CellValue({
  value,
  isOpen,
  onToggle,
}: {
  readonly value: Value
  readonly isOpen: boolean | undefined
  readonly onToggle: () => void
}) {
  return (
    <>
      {isOpen !== undefined && <Twisty isOpen={isOpen} onToggle={onToggle} />}
      <span class={`grid-text value ${kindOf(value)}`}>{shortText(value)}</span>
    </>
  )
}

/**
 * Button that expands or collapses a value with the mouse. For the keyboard there are the menu of
 * the cell and the arrow keys.
 */
function Twisty({
  isOpen,
  onToggle,
}: {
  readonly isOpen: boolean | undefined
  readonly onToggle: () => void
}) {
  return (
    <span
      class={`twisty ${isOpen === true ? 'open' : ''}`}
      aria-hidden="true"
      onClick={(event) => {
        if (isOpen === undefined) return
        event.stopPropagation()
        onToggle()
      }}
      onDblClick={(event) => event.stopPropagation()}
    >
      {isOpen !== undefined && <Icon name="forward" />}
    </span>
  )
}
