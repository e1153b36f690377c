/** Maps the fields of a record: renames, converts or drops them. */
import type { ColumnType } from '../api/place.ts'
import { parseJson } from '../json/parse-json.ts'
import { printJson } from '../json/print-json.ts'
import { isNested, isObject, Numeral, type JsonObject, type Value } from '../json/value.ts'
import type { SourceRecord } from './source-record.ts'

/**
 * Types that the user can choose. `auto` is the type of the column in a table. In a collection,
 * `auto` keeps JSON values and infers the types of CSV cells.
 */
export const fieldTypes = ['auto', 'text', 'number', 'boolean', 'date', 'json'] as const

export type FieldType = (typeof fieldTypes)[number]

export interface FieldMapping {
  /** The name in the file. */
  readonly source: string
  /** The name in the collection or table. */
  readonly target: string
  readonly isUsed: boolean
  readonly type: FieldType
}

export interface RecordMapping {
  /** Column names of CSV, in order of the cells. */
  readonly columns: readonly string[] | undefined
  readonly fields: readonly FieldMapping[]
  /** Column types of a table; undefined for a collection. */
  readonly types: ReadonlyMap<string, ColumnType> | undefined
  /** Whether a name such as `address.city` denotes a field of a nested object. */
  readonly nestNames: boolean
  /** Adds search fields to a document; undefined if its fields are not searched. */
  readonly complete?: ((document: JsonObject) => JsonObject) | undefined
}

/** A record that cannot be mapped to a document or row. */
class RecordError extends Error {
  override readonly name = 'RecordError'
}

/** The JSON text of the document or row. Fields without a mapping are not changed. */
export function mapRecord(record: SourceRecord, mapping: RecordMapping): string {
  const { columns, fields, types, complete } = mapping
  const values = valuesOf(record, columns)
  const isPlain = columns === undefined && types === undefined && fields.every(isAsItIs)
  if (isPlain && complete === undefined) return record.text
  const document = isPlain ? values : mapValues(values, mapping)
  return printJson(complete === undefined ? document : complete(document))
}

/** The document or row of a record before search fields are added. */
export function mapDocument(record: SourceRecord, mapping: RecordMapping): JsonObject {
  return mapValues(valuesOf(record, mapping.columns), mapping)
}

function mapValues(values: JsonObject, mapping: RecordMapping): JsonObject {
  const { columns, fields, types, nestNames } = mapping
  const document: JsonObject = new Map()
  const byName = new Map(fields.map((field) => [field.source, field]))
  for (const [name, value] of values) {
    const field = byName.get(name)
    if (field?.isUsed === false) continue
    const target = field?.target ?? name
    const column = types?.get(target)
    const converted = convert(value, field?.type ?? 'auto', column, columns !== undefined)
    if (converted !== undefined)
      set(document, nestNames ? target.split('.') : [target], converted, target)
  }
  return document
}

function isAsItIs({ source, target, isUsed, type }: FieldMapping): boolean {
  return isUsed && type === 'auto' && source === target
}

/** The fields of a record before mapping. */
export function valuesOf(
  { text, cells }: SourceRecord,
  columns: readonly string[] | undefined,
): JsonObject {
  if (columns === undefined) {
    const value = parse(text)
    if (!isObject(value)) throw new RecordError('The record is not a JSON object.')
    return value
  }
  if (cells!.length > columns.length)
    throw new RecordError(
      `The record has ${cells!.length} cells, but the header has ${columns.length} columns.`,
    )
  return new Map<string, Value>(cells!.map((cell, position) => [columns[position]!, cell]))
}

function parse(text: string): Value {
  try {
    return parseJson(text)
  } catch (error) {
    throw new RecordError(`The record is not valid JSON: ${(error as Error).message}.`, {
      cause: error,
    })
  }
}

function set(
  object: JsonObject,
  path: readonly string[],
  value: Value,
  whole: string,
): void {
  const [name, ...rest] = path
  const taken = object.get(name!)
  if (rest.length === 0) {
    if (taken !== undefined) throw new RecordError(`Two fields are named ${whole}.`)
    object.set(name!, value)
    return
  }
  if (taken !== undefined && !isObject(taken))
    throw new RecordError(`The field ${whole} is inside a field that is not an object.`)
  const inside: JsonObject = taken ?? new Map<string, Value>()
  object.set(name!, inside)
  set(inside, rest, value, whole)
}

/** Converts the value to the given type; undefined when the field is to be omitted. */
function convert(
  value: Value,
  type: FieldType,
  column: ColumnType | undefined,
  isCell: boolean,
): Value | undefined {
  if (isCell && value === '') return undefined
  switch (type) {
    case 'auto':
      if (column !== undefined) return toColumn(value, column)
      return isCell ? guess(value as string) : value
    case 'text':
      return textOf(value)
    case 'number':
      return numberOf(value)
    case 'boolean':
      return booleanOf(value)
    case 'date':
      return dateOf(value)
    case 'json':
      return typeof value === 'string' ? parse(value) : value
  }
}

const numeral = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/**
 * Maximum length of a CSV cell whose inferred type is a number. A longer sequence of digits is
 * probably an identifier.
 */
const numeralLengthMax = 100

/**
 * Infers the value of a CSV cell from its text. `007` is not a JSON number, so it stays a string
 * with all its digits.
 */
function guess(cell: string): Value {
  if (numeral.test(cell) && cell.length <= numeralLengthMax) return new Numeral(cell)
  if (cell === 'true' || cell === 'false') return cell === 'true'
  if (!/^(?:\{.*\}|\[.*\])$/s.test(cell)) return cell
  try {
    return parseJson(cell)
  } catch {
    return cell
  }
}

function textOf(value: Value): Value {
  if (value === null || typeof value === 'string') return value
  return value instanceof Numeral ? value.text : printJson(value)
}

function numberOf(value: Value): Value {
  if (value === null || value instanceof Numeral) return value
  const text = typeof value === 'string' ? value.trim().replace(/^\+/, '') : ''
  if (numeral.test(text)) return new Numeral(text)
  throw new RecordError(`${shown(value)} is not a number.`)
}

const truths: ReadonlyMap<string, boolean> = new Map<string, boolean>([
  ...(['true', 'yes', 'y', '1', 't'] as const).map((word) => [word, true] as const),
  ...(['false', 'no', 'n', '0', 'f'] as const).map((word) => [word, false] as const),
])

function booleanOf(value: Value): Value {
  if (value === null || typeof value === 'boolean') return value
  const word = value instanceof Numeral ? value.text : value
  const truth = typeof word === 'string' ? truths.get(word.trim().toLowerCase()) : undefined
  if (truth === undefined)
    throw new RecordError(`${shown(value)} is neither true nor false.`)
  return truth
}

/** A date from milliseconds, or from any date format that the browser parses. */
function dateOf(value: Value): Value {
  if (value === null || isObject(value)) return value
  const ms =
    value instanceof Numeral
      ? Number(value.text)
      : Date.parse(typeof value === 'string' ? value : '')
  if (!Number.isSafeInteger(ms)) throw new RecordError(`${shown(value)} is not a date.`)
  return new Map([['$date', new Numeral(String(ms))]])
}

const numbers = new Set([
  ...['bigint', 'decimal', 'double', 'float', 'int', 'smallint', 'tinyint', 'varint'],
])
const texts = new Set(['ascii', 'text'])
const nested = new Set(['list', 'set', 'map', 'userDefined'])

/** Converts a value for a column. A value of a JSON type that the column accepts is not changed. */
function toColumn(value: Value, { type }: ColumnType): Value {
  if (texts.has(type)) return isNested(value) ? value : textOf(value)
  if (typeof value !== 'string') return value
  if (numbers.has(type))
    return numeral.test(value.trim()) ? new Numeral(value.trim()) : value
  if (type === 'boolean') return booleanOf(value)
  if (type === 'blob') return new Map([['$binary', value]])
  if (type === 'timestamp') return timestampOf(value)
  if (nested.has(type)) return parse(value)
  // A vector column accepts a vector as JSON. The server embeds any other text.
  if (type === 'vector' && /^\s*[[{]/.test(value)) return parse(value)
  return value
}

/**
 * A timestamp in the format of the API. Also accepts the formats of spreadsheets and other
 * databases: with a space, or without a time zone.
 */
function timestampOf(value: string): Value {
  const [, day, time, zone] =
    /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?))?\s*(Z|[+-]\d\d:?\d\d)?$/.exec(
      value.trim(),
    ) ?? []
  if (day === undefined) return value
  const offset = zone?.replace(/^([+-]\d\d)(\d\d)$/, '$1:$2') ?? 'Z'
  const whole = time === undefined ? '00:00:00' : time.length === 5 ? `${time}:00` : time
  return `${day}T${whole}${offset}`
}

function shown(value: Value): string {
  const text = printJson(value)
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}

/** Initial mappings: every field of the first records under its own name. */
export function firstMappings(
  names: Iterable<string>,
  types: ReadonlyMap<string, ColumnType> | undefined,
): readonly FieldMapping[] {
  return [...new Set(names)].map((source) => {
    const target = types === undefined ? source : columnLike(source, types)
    const isUsed = target !== undefined
    return { source, target: target ?? source, isUsed, type: 'auto' }
  })
}

/** The column whose name matches regardless of case, spaces and punctuation. */
function columnLike(
  name: string,
  types: ReadonlyMap<string, ColumnType>,
): string | undefined {
  const plain = (text: string) => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')
  if (types.has(name)) return name
  return [...types.keys()].find((column) => plain(column) === plain(name))
}
