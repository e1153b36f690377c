/**
 * Grid of documents or rows, as a table or as JSON. Both views are virtual lists of lines of equal
 * height: only the visible lines are rendered, and of wide tables only the visible columns.
 *
 * The grid is a single tab stop. Arrow keys move within the grid, Enter opens the menu of the
 * current cell, and Space selects the document.
 */
import { useMemo, useRef, useState } from 'preact/hooks'
import type { Place } from '../api/place.ts'
import type { Store } from '../api/store.ts'
import { useName, useStore } from '../kit/hooks.ts'
import { Menu, type MenuItem, type MenuPlace } from '../kit/menu.tsx'
import { VirtualList } from '../kit/virtual-list.tsx'
import { isCut } from '../json/value-text.ts'
import type { JsonObject, Value } from '../json/value.ts'
import {
  canOpen,
  listLines,
  toggleAt,
  toggleEverywhere,
  type Line,
} from './document-lines.ts'
import { columnsBetween, layOut, listFields, narrowest, widest } from './columns.ts'
import { idKey, noun } from './document-id.ts'
import { FieldCells, RowCells, type CellHandlers } from './grid-cells.tsx'
import { GridHeader, type SortOrder } from './grid-header.tsx'
import type { GridState } from './kept-view.ts'

export interface GridActions {
  readonly filterBy?: (path: readonly string[], value: Value, isWanted: boolean) => void
  readonly canFilterBy?: (path: readonly string[], value: Value) => boolean
  readonly edit?: (document: JsonObject) => void
  readonly findSimilar?: (document: JsonObject) => void
  readonly remove?: (document: JsonObject) => void
  readonly showValue: (path: readonly string[], value: Value) => void
  readonly copy: (value: Value) => void
}

export interface DocumentGridProps {
  readonly label: string
  readonly place: Place
  readonly documents: readonly JsonObject[]
  readonly state: Store<GridState>
  readonly actions: GridActions
  /** The current sort order of a column. */
  readonly sortOf?: (column: string) => SortOrder
  readonly onSort?: (column: string, order: SortOrder) => void
  /** Keys of the selected documents; absent when documents cannot be selected. */
  readonly selected?: ReadonlySet<string>
  readonly onSelect?: (selected: ReadonlySet<string>) => void
}

const lineHeight = 28
/** Width of the column of check boxes and menus, in pixels. */
const handleWidth = 62

interface Active {
  /** Line of the cell; -1 is the header. */
  readonly line: number
  readonly column: number
}

interface OpenMenu {
  readonly label: string
  readonly items: readonly MenuItem[]
  readonly at: MenuPlace
}

export function DocumentGrid(props: DocumentGridProps) {
  const { place, documents, state, actions, selected, onSelect } = props
  const { view, widths, hidden, opened } = useStore(state)
  const gridId = useName('grid')
  const list = useRef<HTMLDivElement>(null)
  const [scroll, setScroll] = useState({ left: 0, width: 1600 })
  const [active, setActive] = useState<Active>({ line: 0, column: 0 })
  const [menu, setMenu] = useState<OpenMenu | undefined>(undefined)

  const keys = useMemo(
    () => documents.map((document, row) => idKey(place, document, row)),
    [place, documents],
  )
  const lines = useMemo(
    () => listLines(documents, { view, opened, idOf: (row) => keys[row]! }),
    [documents, view, opened, keys],
  )
  const columns = useMemo(() => {
    const names = listFields(place, documents).filter((name) => !hidden.has(name))
    return layOut(names, documents, widths, handleWidth)
  }, [place, documents, hidden, widths])
  const isTable = view === 'table'
  const last = columns.at(-1)
  const width = isTable
    ? last === undefined
      ? handleWidth
      : last.left + last.width
    : undefined
  const shown = columnsBetween(columns, scroll.left - 300, scroll.left + scroll.width + 300)

  const toggle = (row: number, path: readonly string[]) =>
    state.update((before) => ({
      ...before,
      opened: toggleAt(before.opened, keys[row]!, path),
    }))
  const select = (row: number) => {
    const changed = new Set(selected)
    if (!changed.delete(keys[row]!)) changed.add(keys[row]!)
    onSelect?.(changed)
  }

  const valueItems = (row: number, path: readonly string[], value: Value): MenuItem[] => {
    const canFilter = actions.canFilterBy?.(path, value) ?? false
    const isNestedValue = canOpen(value)
    const isOpen = lines.some(
      (line) =>
        line.kind === 'field' && line.row === row && line.isOpen && isSame(line.path, path),
    )
    return [
      ...(canFilter
        ? [
            item('Filter by this value', 'filter', () =>
              actions.filterBy?.(path, value, true),
            ),
            item('Exclude this value', 'filter', () =>
              actions.filterBy?.(path, value, false),
            ),
          ]
        : []),
      ...(isNestedValue
        ? [
            item(isOpen ? 'Collapse' : 'Expand', 'down', () => toggle(row, path)),
            item(`Expand or collapse in all ${noun(place, 2)}`, 'down', () =>
              state.update((before) => ({
                ...before,
                opened: toggleEverywhere(before.opened, path),
              })),
            ),
          ]
        : []),
      ...(isCut(value) || isNestedValue
        ? [item('Show whole value', 'search', () => actions.showValue(path, value))]
        : []),
      item('Copy value', 'copy', () => actions.copy(value)),
    ]
  }
  const documentItems = (row: number): MenuItem[] => {
    const document = documents[row]!
    const { edit, findSimilar, remove } = actions
    const one = noun(place, 1)
    return [
      ...(edit === undefined ? [] : [item(`Edit ${one}`, 'edit', () => edit(document))]),
      ...(findSimilar === undefined
        ? []
        : [item('Find similar', 'similar', () => findSimilar(document))]),
      item(`Copy ${one}`, 'copy', () => actions.copy(document)),
      ...(remove === undefined
        ? []
        : [
            {
              ...item(`Delete ${one}`, 'delete', () => remove(document)),
              kind: 'danger' as const,
            },
          ]),
    ]
  }

  const openMenuAt = (at: MenuPlace, line: number, column: number) => {
    const place = lines[line]
    if (place === undefined) return
    const { row } = place
    const target = valueOf(place, column)
    const items =
      target === undefined
        ? documentItems(row)
        : [...valueItems(row, target.path, target.value), ...documentItems(row)]
    setMenu({ label: 'Actions', items, at })
  }
  /** The value of a cell; undefined for the document as a whole. */
  const valueOf = (line: Line, column: number) => {
    if (line.kind === 'field') return { path: line.path, value: line.value }
    const name = isTable && column >= 0 ? columns[column]?.name : undefined
    const value = name === undefined ? undefined : documents[line.row]!.get(name)
    return value === undefined ? undefined : { path: [name!], value }
  }

  const handlers: CellHandlers = {
    gridId,
    active,
    onOpen: (event, line, column) => {
      setActive({ line, column })
      // A click that ends a text selection must not open a menu.
      if (getSelection()?.isCollapsed === false) return
      openMenuAt({ x: event.clientX, y: event.clientY }, line, column)
    },
    onToggle: toggle,
    ...(selected === undefined ? {} : { onSelect: select }),
  }

  const changeColumn = (name: string, change: { width?: number; isHidden?: boolean }) =>
    state.update((before) => ({
      ...before,
      ...(change.width === undefined
        ? {}
        : {
            widths: new Map(before.widths).set(
              name,
              Math.round(Math.max(narrowest, Math.min(widest, change.width))),
            ),
          }),
      ...(change.isHidden === true ? { hidden: new Set(before.hidden).add(name) } : {}),
    }))
  const headerItems = (position: number): MenuItem[] => {
    const { name, width: now } = columns[position]!
    const { onSort } = props
    const sorts: MenuItem[] =
      onSort === undefined
        ? []
        : [
            item('Sort ascending', 'down', () => onSort(name, 'ascending')),
            item('Sort descending', 'down', () => onSort(name, 'descending')),
            item('Do not sort', 'close', () => onSort(name, 'none')),
          ]
    return [
      ...sorts,
      item('Hide column', 'columns', () => changeColumn(name, { isHidden: true })),
      item('Wider', 'forward', () => changeColumn(name, { width: now + 60 })),
      item('Narrower', 'back', () => changeColumn(name, { width: now - 60 })),
    ]
  }

  const onKey = (event: KeyboardEvent) => {
    if (event.target !== list.current) return
    const { line, column } = active
    const lastColumn = isTable ? columns.length - 1 : 0
    const moves: Readonly<Record<string, Active>> = {
      ArrowDown: { line: line + 1, column },
      ArrowUp: { line: line - 1, column },
      PageDown: { line: line + 15, column },
      PageUp: { line: line - 15, column },
      ArrowRight: { line, column: column + 1 },
      ArrowLeft: { line, column: column - 1 },
      Home: { line, column: 0 },
      End: { line, column: lastColumn },
    }
    const wanted = moves[event.key]
    const current = lines[line]
    if (wanted !== undefined) {
      const moved = {
        line: Math.max(isTable ? -1 : 0, Math.min(wanted.line, lines.length - 1)),
        column: Math.max(0, Math.min(wanted.column, lastColumn)),
      }
      // In a tree, the right arrow key expands a value, and the left arrow key collapses it.
      if (current?.kind === 'field' && current.isOpen !== undefined) {
        if (event.key === 'ArrowRight' && !current.isOpen) toggle(current.row, current.path)
        if (event.key === 'ArrowLeft' && current.isOpen) toggle(current.row, current.path)
      }
      setActive(moved)
      scrollTo(moved)
    } else if (event.key === 'Enter' || event.key === 'ContextMenu') {
      const cell = document.getElementById(`${gridId}-${line}-${column}`)
      const { left: x, bottom: y } = (cell ?? list.current!).getBoundingClientRect()
      if (line >= 0) openMenuAt({ x, y }, line, column)
      else setMenu({ label: 'Column', items: headerItems(column), at: { x, y } })
    } else if (event.key === ' ' && current !== undefined) select(current.row)
    else return
    event.preventDefault()
  }
  const scrollTo = ({ line, column }: Active) => {
    const element = list.current!
    const top = Math.max(0, line) * lineHeight
    const head = isTable ? lineHeight + 4 : 0
    if (top < element.scrollTop) element.scrollTop = top
    else if (top + lineHeight + head > element.scrollTop + element.clientHeight)
      element.scrollTop = top + lineHeight + head - element.clientHeight
    const cell = columns[column]
    if (!isTable || cell === undefined) return
    if (cell.left - handleWidth < element.scrollLeft)
      element.scrollLeft = cell.left - handleWidth
    else if (cell.left + cell.width > element.scrollLeft + element.clientWidth)
      element.scrollLeft = cell.left + cell.width - element.clientWidth
  }

  return (
    <>
      <VirtualList
        class={`document-grid ${view}`}
        count={lines.length}
        lineHeight={lineHeight}
        listRef={list}
        {...(width === undefined ? {} : { width })}
        attributes={{
          role: 'grid',
          tabIndex: 0,
          'aria-label': props.label,
          'aria-rowcount': lines.length + 1,
          'aria-colcount': isTable ? columns.length + 1 : 2,
          'aria-multiselectable': selected !== undefined,
          'aria-activedescendant': `${gridId}-${active.line}-${active.column}`,
          onKeyDown: onKey,
        }}
        onScroll={({ scrollLeft, clientWidth }) => {
          if (scrollLeft !== scroll.left || clientWidth !== scroll.width)
            setScroll({ left: scrollLeft, width: clientWidth })
        }}
        header={
          isTable ? (
            <GridHeader
              gridId={gridId}
              width={width!}
              columns={shown}
              activeColumn={active.line === -1 ? active.column : undefined}
              sortOf={props.sortOf ?? (() => 'none')}
              {...(props.onSort === undefined ? {} : { onSort: props.onSort })}
              onResize={(name, wanted) => changeColumn(name, { width: wanted })}
              onMenu={(at, position) =>
                setMenu({ label: 'Column', items: headerItems(position), at })
              }
            />
          ) : undefined
        }
        renderLine={(position) => {
          const line = lines[position]!
          const document = documents[line.row]!
          const isSelected = selected?.has(keys[line.row]!) ?? false
          return line.kind === 'document' ? (
            <RowCells
              key={position}
              place={place}
              position={position}
              row={line.row}
              document={document}
              columns={isTable ? shown : undefined}
              isSelected={isSelected}
              isOpenAt={(name) => isOpen(lines, position, name)}
              handlers={handlers}
            />
          ) : (
            <FieldCells
              key={position}
              position={position}
              line={line}
              isInTable={isTable}
              handlers={handlers}
            />
          )
        }}
      />
      {menu !== undefined && <Menu {...menu} onClose={() => setMenu(undefined)} />}
    </>
  )
}

/** Whether the cell at `name` is expanded, so that its value has lines below the row. */
function isOpen(lines: readonly Line[], position: number, name: string): boolean {
  for (let next = position + 1; next < lines.length; next++) {
    const line = lines[next]!
    if (line.kind === 'document') return false
    if (line.depth === 0 && line.path[0] === name) return true
  }
  return false
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return (
    one.length === other.length && one.every((name, position) => name === other[position])
  )
}

function item(
  label: string,
  icon: NonNullable<MenuItem['icon']>,
  run: () => void,
): MenuItem {
  return { label, icon, run }
}
