/** The text with which the editor of a new document or row begins. */
import type { Place } from '../api/place.ts'
import type { Field, FieldList } from '../completion/field-paths.ts'
import { printPretty } from '../json/print-json.ts'
import { isObject, Numeral, type JsonObject, type Value } from '../json/value.ts'
import { searchFieldOf, textSearchesOf } from '../../searchable/search-text.ts'

/** Minimum share of the sampled documents that have a field of new documents. */
const shareMin = 0.5
const fieldsMax = 40

export function insertText(place: Place, fields: FieldList): string {
  return place.kind === 'table' ? rowText(place) : documentText(place, fields)
}

/** A document with the usual fields of the collection, each with an empty value of its type. */
function documentText({ options }: Place, { fields }: FieldList): string {
  const document: JsonObject = new Map()
  const usual = fields
    .filter(({ path, share }) => path !== '_id' && share >= shareMin)
    .slice(0, fieldsMax)
  for (const field of usual) setField(document, field)
  if (document.size === 0) return '{\n  \n}'
  const search = searchFieldOf(textSearchesOf(options))
  if (search !== undefined) document.set(search, '')
  // Each field is on a line of its own, so that it can be edited.
  const members = [...document].map(
    ([name, value]) => `  ${JSON.stringify(name)}: ${printPretty(value)}`,
  )
  return `{\n${members.join(',\n')}\n}`
}

function setField(document: JsonObject, { names, types }: Field): void {
  let object = document
  for (const name of names.slice(0, -1)) {
    const inner = object.get(name)
    // The object above has another type in most documents.
    if (inner === undefined || !isObject(inner)) return
    object = inner
  }
  object.set(names.at(-1)!, emptyValue(types.find((type) => type !== 'null')))
}

function emptyValue(type: string | undefined): Value {
  switch (type) {
    case 'string':
      return ''
    case 'number':
      return new Numeral('0')
    case 'boolean':
      return false
    case 'array':
      return []
    case 'object':
      return new Map()
    case 'date':
      return new Map([['$date', new Numeral(String(Date.now()))]])
    default:
      return null
  }
}

function rowText(place: Place): string {
  const columns = [...place.table.columns].map(
    ([name, { type }]) => `  ${JSON.stringify(name)}: ${sampleOf(type)}`,
  )
  return `{\n${columns.join(',\n')}\n}`
}

/** An example value of a column type, to show its notation. */
function sampleOf(type: string): string {
  const samples: Readonly<Record<string, string>> = {
    bigint: '0',
    blob: '{ "$binary": "" }',
    boolean: 'false',
    date: '"2026-01-31"',
    decimal: '0',
    double: '0',
    duration: '"1h30m"',
    float: '0',
    inet: '"127.0.0.1"',
    int: '0',
    list: '[]',
    map: '{}',
    set: '[]',
    smallint: '0',
    time: '"12:30:00"',
    timestamp: '"2026-01-31T12:30:00Z"',
    tinyint: '0',
    userDefined: '{}',
    uuid: `"${makeUuid()}"`,
    varint: '0',
    vector: 'null',
  }
  return samples[type] ?? '""'
}

/** A random UUID. Browsers offer crypto.randomUUID only to pages that were loaded over HTTPS. */
function makeUuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  bytes[6] = (bytes[6]! & 0x0f) | 0x40
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
