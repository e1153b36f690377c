/**
 * Documents as a flat list of lines, of which a virtual list shows those in sight. What is
 * nested has lines of its own once it is open.
 */
import {
  extendedKind,
  isNested,
  isObject,
  type JsonObject,
  type Value,
} from '../json/value.ts'

/** A document: a row of the table, or the head of what follows. */
export interface DocumentLine {
  readonly kind: 'document'
  readonly row: number
}

/** A field or element. */
export interface FieldLine {
  readonly kind: 'field'
  readonly row: number
  readonly depth: number
  /** From the root of the document; positions of arrays are written `[0]`. */
  readonly path: readonly string[]
  readonly value: Value
  /** Undefined for what has nothing inside. */
  readonly isOpen: boolean | undefined
}

export type Line = DocumentLine | FieldLine

/**
 * What is open. It is kept by path and by id, so it outlives refreshes and other pages.
 */
export interface Opened {
  /** Paths that are open in all documents. */
  readonly everywhere: ReadonlySet<string>
  /** Ids and paths where one document differs from that. */
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

/** In all documents: those that differed from it do so no more. */
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
    // In a table the document's own fields are cells: only what is open in them has lines.
    for (const [name, value] of document)
      if (view === 'json') add([name], value, 0)
      else if (canOpen(value) && isOpenAt(opened, id, [name])) add([name], value, 0)
  })
  return lines
}

/** Whether there is something inside that lines can show. */
export function canOpen(value: Value): boolean {
  if (!isNested(value) || extendedKind(value) !== undefined) return false
  return Array.isArray(value) ? value.length > 0 : value.size > 0
}

function* membersOf(value: Value): Iterable<readonly [string, Value]> {
  if (isObject(value)) yield* value
  else if (Array.isArray(value))
    for (const [position, element] of value.entries()) yield [`[${position}]`, element]
}
