/** The menus of a grid: of a value, of a document, and of a column. */
import type { Place } from '../api/place.ts'
import { isCut } from '../json/value-text.ts'
import type { JsonObject, Value } from '../json/value.ts'
import type { MenuItem } from '../kit/menu.tsx'
import type { CopyFormat } from './copy-documents.ts'
import { noun } from './document-id.ts'
import { canOpen } from './document-lines.ts'
import type { SortOrder } from './grid-header.tsx'

/** What a user can do with documents and values. Absent actions are not offered. */
export interface GridActions {
  readonly filterBy?: (path: readonly string[], value: Value, isWanted: boolean) => void
  readonly canFilterBy?: (path: readonly string[], value: Value) => boolean
  readonly edit?: (document: JsonObject) => void
  readonly duplicate?: (document: JsonObject) => void
  readonly findSimilar?: (document: JsonObject) => void
  readonly remove?: (documents: readonly JsonObject[]) => void
  /** Writes a value if it still is `before`. Rejects with a CellConflict otherwise. */
  readonly saveCell?: (
    document: JsonObject,
    path: readonly string[],
    before: Value | undefined,
    after: Value,
  ) => Promise<void>
  /** Undoes the latest change of a value. */
  readonly undo?: () => void
  readonly showValue: (path: readonly string[], value: Value) => void
  readonly copy: (value: Value) => void
  readonly copyDocuments: (documents: readonly JsonObject[], format: CopyFormat) => void
}

export interface CellTarget {
  readonly path: readonly string[]
  readonly value: Value
}

export interface ValueMenu {
  readonly place: Place
  readonly actions: GridActions
  readonly target: CellTarget
  /** Whether the value is expanded. */
  readonly isOpen: boolean
  /** Starts editing in the cell; undefined if the value cannot be edited there. */
  readonly onEdit: (() => void) | undefined
  readonly onToggle: () => void
  readonly onToggleEverywhere: () => void
}

export function valueItems(menu: ValueMenu): readonly MenuItem[] {
  const { place, actions, target, isOpen, onEdit } = menu
  const { path, value } = target
  const canFilter = actions.canFilterBy?.(path, value) ?? false
  const isNestedValue = canOpen(value)
  return [
    ...(onEdit === undefined ? [] : [item('Edit value', 'edit', onEdit)]),
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
          item(isOpen ? 'Collapse' : 'Expand', 'down', menu.onToggle),
          item(
            `Expand or collapse in all ${noun(place, 2)}`,
            'down',
            menu.onToggleEverywhere,
          ),
        ]
      : []),
    ...(isCut(value) || isNestedValue
      ? [item('Show whole value', 'search', () => actions.showValue(path, value))]
      : []),
    item('Copy value', 'copy', () => actions.copy(value)),
  ]
}

/**
 * The menu of a document. `chosen` are the documents that are selected together with it: the
 * document alone, if it is not selected.
 */
export function documentItems(
  place: Place,
  actions: GridActions,
  document: JsonObject,
  chosen: readonly JsonObject[],
): readonly MenuItem[] {
  const { edit, duplicate, findSimilar, remove } = actions
  const one = noun(place, 1)
  const what = chosen.length > 1 ? `${chosen.length} ${noun(place, chosen.length)}` : one
  return [
    ...(edit === undefined ? [] : [item(`Edit ${one}`, 'edit', () => edit(document))]),
    ...(duplicate === undefined
      ? []
      : [item(`Duplicate ${one}`, 'add', () => duplicate(document))]),
    ...(findSimilar === undefined
      ? []
      : [item('Find similar', 'similar', () => findSimilar(document))]),
    item(`Copy ${what} as JSON`, 'copy', () => actions.copyDocuments(chosen, 'JSON')),
    item(`Copy ${what} as CSV`, 'copy', () => actions.copyDocuments(chosen, 'CSV')),
    ...(remove === undefined
      ? []
      : [
          {
            ...item(`Delete ${what}`, 'delete', () => remove(chosen)),
            kind: 'danger' as const,
          },
        ]),
  ]
}

export interface ColumnMenu {
  readonly onSort: ((order: SortOrder) => void) | undefined
  readonly onHide: () => void
  /** Changes the width by this number of pixels. */
  readonly onWiden: (pixels: number) => void
}

export function columnItems({ onSort, onHide, onWiden }: ColumnMenu): readonly MenuItem[] {
  return [
    ...(onSort === undefined
      ? []
      : [
          item('Sort ascending', 'down', () => onSort('ascending')),
          item('Sort descending', 'down', () => onSort('descending')),
          item('Do not sort', 'close', () => onSort('none')),
        ]),
    item('Hide column', 'columns', onHide),
    item('Wider', 'forward', () => onWiden(60)),
    item('Narrower', 'back', () => onWiden(-60)),
  ]
}

function item(
  label: string,
  icon: NonNullable<MenuItem['icon']>,
  run: () => void,
): MenuItem {
  return { label, icon, run }
}
