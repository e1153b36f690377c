/**
 * Flattens documents into lines for a virtual list. An expanded value adds lines for its
 * fields.
 */
import {
  extendedKind,
  isNested,
  isObject,
  type JsonObject,
  type Value,
} from '../json/value.ts'

/** A document: its row in the table view, or the heading of its lines in the JSON view. */
export interface DocumentLine {
  readonly kind: 'document'
  readonly row: number
}

/** A field or element. */
export interface FieldLine {
  readonly kind: 'field'
  readonly row: number
  readonly depth: number
  /** Path from the root of the document; array positions are written `[0]`. */
  readonly path: readonly string[]
  readonly value: Value
  /** Whether the children are shown; undefined for a value without children. */
  readonly isOpen: boolean | undefined
}

export type Line = DocumentLine | FieldLine

/**
 * The expanded values. They are identified by path and document id, so that they stay expanded
 * after refreshes and page changes.
 */
export interface Opened {
  /** Paths that are expanded in all documents. */
  readonly everywhere: ReadonlySet<string>
  /** Ids and paths of values that are expanded or collapsed contrary to `everywhere`. */
  readonly differing: ReadonlySet<string>
}

export const nothingOpened: Opened = { everywhere: new Set(), differing: new Set() }

const separator = '\u0000'

function isOpenAt(opened: Opened, id: string, path: readonly string[]): boolean {
  const key = path.join(separator)
  return opened.everywhere.has(key) !== opened.differing.has(id + separator + key)
}

export function toggleAt(opened: Opened, id: string, path: readonly string[]): Opened {
  return { ...opened, differing: toggled(opened.differing, [id, ...path].join(separator)) }
}

/** Toggles a path in all documents, and discards the exceptions of single documents. */
export function toggleEverywhere(opened: Opened, path: readonly string[]): Opened {
  const key = path.join(separator)
  const differing = [...opened.differing].filter(
    (entry) => !entry.endsWith(separator + key),
  )
  return { everywhere: toggled(opened.everywhere, key), differing: new Set(differing) }
}

function toggled(set: ReadonlySet<string>, key: string): ReadonlySet<string> {
  const changed = new Set(set)
  if (!changed.delete(key)) changed.add(key)
  return changed
}

export interface LineOptions {
  readonly view: 'table' | 'json'
  readonly opened: Opened
  readonly idOf: (row: number) => string
}

export function listLines(
  documents: readonly JsonObject[],
  { view, opened, idOf }: LineOptions,
): readonly Line[] {
  const lines: Line[] = []
  documents.forEach((document, row) => {
    lines.push({ kind: 'document', row })
    const id = idOf(row)
    const add = (path: readonly string[], value: Value, depth: number) => {
      const isOpen = canOpen(value) ? isOpenAt(opened, id, path) : undefined
      lines.push({ kind: 'field', row, depth, path, value, isOpen })
      if (isOpen !== true) return
      for (const [name, inner] of membersOf(value)) add([...path, name], inner, depth + 1)
    }
    // In the table view, cells show the fields of a document. Only expanded values have lines.
    for (const [name, value] of document)
      if (view === 'json') add([name], value, 0)
      else if (canOpen(value) && isOpenAt(opened, id, [name])) add([name], value, 0)
  })
  return lines
}

/** Whether the value has children to show as lines. */
export function canOpen(value: Value): boolean {
  if (!isNested(value) || extendedKind(value) !== undefined) return false
  return Array.isArray(value) ? value.length > 0 : value.size > 0
}

function* membersOf(value: Value): Iterable<readonly [string, Value]> {
  if (isObject(value)) yield* value
  else if (Array.isArray(value))
    for (const [position, element] of value.entries()) yield [`[${position}]`, element]
}
