/**
 * Grid of documents or rows, as a table or as JSON. Both views are virtual lists of lines of equal
 * height: only the visible lines are rendered, and of wide tables only the visible columns.
 *
 * The grid is a single tab stop. Arrow keys move within the grid, Enter and F2 edit the current
 * cell, and the menu key opens its menu. Space selects the document, and Shift extends a selection.
 */
import { useMemo, useRef, useState } from 'preact/hooks'
import type { Place } from '../api/place.ts'
import type { Store } from '../api/store.ts'
import { useName, useStore } from '../kit/hooks.ts'
import { Menu, type MenuItem, type MenuPlace } from '../kit/menu.tsx'
import { showToast } from '../kit/toasts.tsx'
import { VirtualList } from '../kit/virtual-list.tsx'
import type { JsonObject } from '../json/value.ts'
import { listLines, toggleAt, toggleEverywhere, type Line } from './document-lines.ts'
import { CellEditor, type CellDraft, type NextFocus } from './cell-editor.tsx'
import { canEditCell, cellKinds, cellText, kindOfCell } from './cell-value.ts'
import {
  columnsBetween,
  layOut,
  listFields,
  narrowest,
  widest,
  type ColumnGuesses,
} from './columns.ts'
import { idKey, noun } from './document-id.ts'
import { FieldCells, RowCells, type CellHandlers } from './grid-cells.tsx'
import { GridHeader, type SortOrder } from './grid-header.tsx'
import { columnItems, documentItems, valueItems, type GridActions } from './grid-menus.ts'
import {
  isPageSelected,
  selectRange,
  toggleKey,
  togglePage,
  type Selection,
} from './grid-selection.ts'
import type { GridState } from './kept-view.ts'

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
  readonly selected?: Selection
  readonly onSelect?: (selected: Selection) => void
  /** Whether a newer answer is awaited, so that the rows may be out of date. */
  readonly isStale?: boolean
}

const lineHeight = 28
/** Width of the column of check boxes and menus, in pixels. */
const handleWidth = 62

interface Active {
  /** Line of the cell; -1 is the header. */
  readonly line: number
  readonly column: number
}

/** The cell that is edited. */
interface Editing {
  /** Key of the document, and path of the value: rows may move while a cell is edited. */
  readonly key: string
  readonly path: readonly string[]
  readonly draft: CellDraft
  readonly isChanged: boolean
  readonly isAtEnd: boolean
}

/** Width of the editor of a narrow cell, in pixels. */
const editorWidth = 300

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
  const [editing, setEditing] = useState<Editing | undefined>(undefined)
  /** The row that was selected last, where a range begins. */
  const anchor = useRef<number | undefined>(undefined)
  const guesses = useRef<ColumnGuesses>(new Map())

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
    return layOut(names, documents, widths, guesses.current, handleWidth)
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
  const select = (row: number, isRange: boolean) => {
    if (selected === undefined) return
    onSelect?.(
      isRange
        ? selectRange(selected, keys, anchor.current, row)
        : toggleKey(selected, keys[row]!),
    )
    if (!isRange) anchor.current = row
  }
  /** The documents that an action on this row concerns: the selection, if the row is part of it. */
  const chosenWith = (row: number): readonly JsonObject[] =>
    selected?.has(keys[row]!) === true
      ? documents.filter((_, position) => selected.has(keys[position]!))
      : [documents[row]!]

  /** The path and value of a cell; undefined for the document as a whole. */
  const cellAt = (line: Line | undefined, column: number) => {
    if (line?.kind === 'field') return { path: line.path, value: line.value }
    const name = isTable && column >= 0 ? columns[column]?.name : undefined
    if (line === undefined || name === undefined) return undefined
    return { path: [name], value: documents[line.row]!.get(name) }
  }
  const openMenuAt = (at: MenuPlace, position: number, column: number) => {
    const line = lines[position]
    if (line === undefined) return
    const { row } = line
    const cell = cellAt(line, column)
    const items = documentItems(place, actions, documents[row]!, chosenWith(row))
    const ofValue =
      cell?.value === undefined
        ? []
        : valueItems({
            place,
            actions,
            target: { path: cell.path, value: cell.value },
            isOpen: lines.some(
              (other) =>
                other.kind === 'field' &&
                other.row === row &&
                other.isOpen &&
                isSame(other.path, cell.path),
            ),
            onEdit:
              actions.saveCell !== undefined && canEditCell(place, cell.path, cell.value)
                ? () => edit(position, column)
                : undefined,
            onToggle: () => toggle(row, cell.path),
            onToggleEverywhere: () =>
              state.update((before) => ({
                ...before,
                opened: toggleEverywhere(before.opened, cell.path),
              })),
          })
    setMenu({ label: 'Actions', items: [...ofValue, ...items], at })
  }

  /** Edits a cell: in its place, or in the dialog of the document if the value is too long. */
  const edit = (position: number, column: number) => {
    const line = lines[position]
    const cell = cellAt(line, column)
    if (line === undefined || cell === undefined || actions.saveCell === undefined) return
    const { path, value } = cell
    if (canEditCell(place, path, value)) {
      const [usual = 'text'] = cellKinds(place, path)
      const isNumeric = path.length === 1 && columns[column]?.isNumeric === true
      const kind = kindOfCell(value, isNumeric ? 'number' : usual)
      const shownColumn = isTable && path.length === 1 ? columns[column] : undefined
      const { scrollLeft, clientWidth } = list.current!
      setEditing({
        key: keys[line.row]!,
        path,
        draft: { text: cellText(value), kind },
        isChanged: false,
        isAtEnd:
          shownColumn !== undefined &&
          shownColumn.left + editorWidth > scrollLeft + clientWidth &&
          shownColumn.left + shownColumn.width > editorWidth,
      })
    } else if (canEditCell(place, path, undefined)) actions.edit?.(documents[line.row]!)
    else
      showToast({
        text: `${path.join('.')} cannot be changed. Duplicate the ${noun(place, 1)} to give it another key.`,
      })
  }
  const closeEditor = (next: NextFocus) => {
    setEditing(undefined)
    if (next === 'elsewhere') return
    list.current?.focus()
    if (next === 'right') move({ line: active.line, column: active.column + 1 })
  }
  const editorAt = (position: number, column: number) => {
    if (editing === undefined) return undefined
    const line = lines[position]!
    const cell = cellAt(line, column)
    if (cell === undefined || keys[line.row] !== editing.key) return undefined
    if (!isSame(cell.path, editing.path)) return undefined
    return (
      <CellEditor
        place={place}
        path={cell.path}
        value={cell.value}
        draft={editing.draft}
        isChanged={editing.isChanged}
        isAtEnd={editing.isAtEnd}
        onDraft={(draft) => setEditing({ ...editing, draft, isChanged: true })}
        onSave={(before, after) =>
          actions.saveCell!(documents[line.row]!, cell.path, before, after)
        }
        onClose={closeEditor}
      />
    )
  }

  const handlers: CellHandlers = {
    gridId,
    active,
    onActivate: (line, column) => {
      setActive({ line, column })
      anchor.current = lines[line]?.row
    },
    onEdit: edit,
    onOpen: (event, line, column) => {
      event.preventDefault()
      setActive({ line, column: Math.max(0, column) })
      openMenuAt({ x: event.clientX, y: event.clientY }, line, column)
    },
    onToggle: toggle,
    editorAt,
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
  const headerItems = (position: number): readonly MenuItem[] => {
    const { name, width: now } = columns[position]!
    const { onSort } = props
    return columnItems({
      onSort: onSort && ((order) => onSort(name, order)),
      onHide: () => changeColumn(name, { isHidden: true }),
      onWiden: (pixels) => changeColumn(name, { width: now + pixels }),
    })
  }

  const move = (wanted: Active) => {
    const moved = {
      line: Math.max(isTable ? -1 : 0, Math.min(wanted.line, lines.length - 1)),
      column: Math.max(0, Math.min(wanted.column, isTable ? columns.length - 1 : 0)),
    }
    setActive(moved)
    scrollTo(moved)
    return moved
  }
  const copyActive = (current: Line | undefined) => {
    if (current === undefined) return
    const chosen =
      selected === undefined || selected.size === 0 ? [] : chosenWith(current.row)
    const cell = cellAt(current, active.column)
    if (chosen.length > 1 || cell === undefined)
      actions.copyDocuments(chosenWith(current.row), 'JSON')
    else if (cell.value !== undefined) actions.copy(cell.value)
  }
  const onKey = (event: KeyboardEvent) => {
    if (event.target !== list.current) return
    const { line, column } = active
    const lastColumn = columns.length - 1
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
    const isControl = event.ctrlKey || event.metaKey
    if (wanted !== undefined) {
      // In a tree, the right arrow key expands a value, and the left arrow key collapses it.
      if (current?.kind === 'field' && current.isOpen !== undefined) {
        if (event.key === 'ArrowRight' && !current.isOpen) toggle(current.row, current.path)
        if (event.key === 'ArrowLeft' && current.isOpen) toggle(current.row, current.path)
      }
      const reached = lines[move(wanted).line]
      const isVertical = wanted.line !== line
      if (event.shiftKey && isVertical && reached !== undefined && current !== undefined) {
        anchor.current ??= current.row
        if (selected !== undefined)
          onSelect?.(selectRange(selected, keys, anchor.current, reached.row))
      } else if (isVertical) anchor.current = undefined
    } else if (isControl && event.key === 'a' && selected !== undefined)
      onSelect?.(new Set(keys))
    else if (isControl && event.key === 'c') {
      // The browser copies text that the user has selected.
      if (getSelection()?.isCollapsed === false) return
      copyActive(current)
    } else if (isControl && event.key === 'z' && actions.undo !== undefined) actions.undo()
    else if (event.key === 'Enter' || event.key === 'F2' || isMenuKey(event)) {
      const cell = document.getElementById(`${gridId}-${line}-${column}`)
      const { left: x, bottom: y } = (cell ?? list.current!).getBoundingClientRect()
      if (line < 0) setMenu({ label: 'Column', items: headerItems(column), at: { x, y } })
      else if (
        isMenuKey(event) ||
        actions.saveCell === undefined ||
        cellAt(current, column) === undefined
      )
        openMenuAt({ x, y }, line, column)
      else edit(line, column)
    } else if (event.key === ' ' && current !== undefined)
      select(current.row, event.shiftKey)
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
    if (column === 0) return
    const frozenWidth = handleWidth + columns[0]!.width
    if (cell.left - frozenWidth < element.scrollLeft)
      element.scrollLeft = cell.left - frozenWidth
    else if (cell.left + cell.width > element.scrollLeft + element.clientWidth)
      element.scrollLeft = cell.left + cell.width - element.clientWidth
  }

  return (
    <>
      <VirtualList
        class={`document-grid ${view} ${props.isStale === true ? 'stale' : ''}`}
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
              frozen={columns[0]}
              columns={shown}
              activeColumn={active.line === -1 ? active.column : undefined}
              sortOf={props.sortOf ?? (() => 'none')}
              {...(props.onSort === undefined ? {} : { onSort: props.onSort })}
              onResize={(name, wanted) => changeColumn(name, { width: wanted })}
              onMenu={(at, position) =>
                setMenu({ label: 'Column', items: headerItems(position), at })
              }
              {...(selected === undefined
                ? {}
                : {
                    selection: {
                      isAll: isPageSelected(selected, keys),
                      isSome: selected.size > 0,
                      onToggle: () => onSelect?.(togglePage(selected, keys)),
                    },
                  })}
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
              frozen={isTable ? columns[0] : undefined}
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

/** Whether the key opens a context menu. */
function isMenuKey({ key, shiftKey }: KeyboardEvent): boolean {
  return key === 'ContextMenu' || (key === 'F10' && shiftKey)
}
