/** Values of cells as text to edit, and back. */
import { keyColumns, type ColumnType, type Place } from '../api/place.ts'
import { parseJson } from '../json/parse-json.ts'
import { printJson } from '../json/print-json.ts'
import {
  extendedKind,
  isNested,
  isObject,
  Numeral,
  writePath,
  type JsonObject,
  type Value,
} from '../json/value.ts'

/** How the text of a cell is read. */
export type CellKind = 'text' | 'number' | 'boolean' | 'date' | 'JSON' | 'null'

/**
 * Maximum length of a value that is edited in its cell. Longer values are edited in the dialog of
 * the document.
 */
const editedLengthMax = 2_000

/** Search fields that clients may set. The server computes the others. */
const editableSearchFields = new Set(['$vectorize', '$lexical'])

/** Whether the value at the path can be edited in its cell. Absent values can be added. */
export function canEditCell(
  place: Place,
  path: readonly string[],
  value: Value | undefined,
): boolean {
  const [name = ''] = path
  if (place.kind === 'table') {
    const type = place.table.columns.get(name)?.type
    if (path.length > 1 || keyColumns(place).includes(name)) return false
    if (type === undefined || type === 'vector' || type === 'blob') return false
  } else {
    if (name === '_id') return false
    if (name.startsWith('$') && !(path.length === 1 && editableSearchFields.has(name)))
      return false
    if (value !== undefined && extendedKind(value) === '$binary') return false
  }
  if (value === undefined) return true
  const text = typeof value === 'string' ? value : printJson(value)
  return text.length <= editedLengthMax && !text.includes('\n')
}

/** The kinds that a cell can have; the first is the kind of a new value. */
export function cellKinds(place: Place, path: readonly string[]): readonly CellKind[] {
  if (place.kind === 'table')
    return [columnKind(place.table.columns.get(path[0]!)!), 'null']
  if (path[0]!.startsWith('$')) return ['text', 'null']
  return ['text', 'number', 'boolean', 'date', 'JSON', 'null']
}

function columnKind({ type }: ColumnType): CellKind {
  switch (type) {
    case 'boolean':
      return 'boolean'
    case 'bigint':
    case 'counter':
    case 'decimal':
    case 'double':
    case 'float':
    case 'int':
    case 'smallint':
    case 'tinyint':
    case 'varint':
      return 'number'
    case 'list':
    case 'map':
    case 'set':
    case 'userDefined':
      return 'JSON'
    default:
      return 'text'
  }
}

/** The kind of a value. `fallback` applies to absent values. */
export function kindOfCell(value: Value | undefined, fallback: CellKind): CellKind {
  if (value === undefined) return fallback
  if (value === null) return 'null'
  if (typeof value === 'string') return 'text'
  if (typeof value === 'boolean') return 'boolean'
  if (value instanceof Numeral) return 'number'
  return extendedKind(value) === '$date' ? 'date' : 'JSON'
}

/** The text that a cell editor shows for a value. */
export function cellText(value: Value | undefined): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return value
  if (value instanceof Numeral) return value.text
  if (isObject(value) && extendedKind(value) === '$date') return dateText(value)
  return isNested(value) ? printJson(value) : String(value)
}

/** ISO 8601 if the date is in the range of Date; otherwise its milliseconds. */
function dateText(value: JsonObject): string {
  const inside = value.get('$date')
  const digits = inside instanceof Numeral ? inside.text : ''
  const date = new Date(Number(digits))
  return digits === '' || Number.isNaN(date.getTime()) ? digits : date.toISOString()
}

const numberPattern = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
/** Values of a column of floating-point numbers that JSON writes as strings. */
const notFinite = new Set(['NaN', 'Infinity', '-Infinity'])

/** Reads the text of a cell. Throws an Error that states what is wrong. */
export function readCell(text: string, kind: CellKind, isColumn: boolean): Value {
  const trimmed = text.trim()
  switch (kind) {
    case 'text':
      return text
    case 'null':
      return null
    case 'number':
      if (isColumn && notFinite.has(trimmed)) return trimmed
      if (!numberPattern.test(trimmed))
        throw new Error(`"${trimmed}" is not a number. Write digits, such as -12.5.`)
      return new Numeral(trimmed)
    case 'boolean':
      if (trimmed !== 'true' && trimmed !== 'false')
        throw new Error(`"${trimmed}" is neither true nor false.`)
      return trimmed === 'true'
    case 'date': {
      const at = /^-?\d+$/.test(trimmed) ? Number(trimmed) : Date.parse(trimmed)
      if (Number.isNaN(at))
        throw new Error(`"${trimmed}" is not a date. Write it as 2026-01-31T12:30:00Z.`)
      return new Map([['$date', new Numeral(String(at))]])
    }
    case 'JSON':
      try {
        return parseJson(text)
      } catch (error) {
        throw new Error(`This is not valid JSON. ${(error as Error).message}.`, {
          cause: error,
        })
      }
  }
}

/** A path of a document as written in updates: names, and positions of arrays. */
export function updatePath(place: Place, path: readonly string[]): string {
  if (place.kind === 'table') return path[0]!
  return writePath(path.map((name) => /^\[(\d+)\]$/.exec(name)?.[1] ?? name))
}
