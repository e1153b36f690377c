/** Rows of an insert, as the request brings them. */
import { BadValue } from '../../columns/values.ts'
import type { Column } from '../../engine/schema.ts'
import { apiError } from '../../errors/api-error.ts'
import { isObject, jsonTypeOf, type JsonObject, type Value } from '../../json/value.ts'
import { labelOf } from '../column-label.ts'
import type { RowStore } from '../row-store.ts'
import { keyColumns, listColumns } from './column-lists.ts'
import {
  noService,
  readContent,
  type GivenContents,
  type TextToEmbed,
} from './column-content.ts'
import { checkKnown, checkValues, checkWritable, rowCodes } from './given-columns.ts'
import type { Content } from './row.ts'

/** Each check names all columns that fail it, and only then comes the next. */
export function readRow(store: RowStore, document: Value): GivenContents {
  if (!isObject(document))
    throw apiError('SHRED_BAD_DOCUMENT_TYPE', { type: jsonTypeOf(document) })
  const given = columnsOf(store, document)
  const contents = new Map<Column, Content | TextToEmbed>()
  const invalid: string[] = []
  const unserved: Column[] = []
  for (const [column, value] of given) {
    const content = readContent(store, column, value)
    if (content instanceof BadValue) invalid.push(`${labelOf(column)} ${content.problem}`)
    else if (content === noService) unserved.push(column)
    else contents.set(column, content)
  }
  checkValues(store, { invalid, unserved }, rowCodes)
  checkKey(store, contents)
  return contents
}

function columnsOf(store: RowStore, document: JsonObject): readonly [Column, Value][] {
  checkKnown(store, document.keys(), rowCodes)
  const given = Array.from(document, ([name, value]): [Column, Value] => [
    store.columns.get(name)!,
    value,
  ])
  checkWritable(
    store,
    given.map(([column]) => column),
    rowCodes,
  )
  return given
}

function checkKey(store: RowStore, contents: GivenContents): void {
  const { key, name: target } = store
  const missing = key.filter((column) => contents.get(column) === undefined)
  if (missing.length > 0)
    throw apiError('MISSING_PRIMARY_KEY_COLUMNS', {
      target,
      key: keyColumns(store),
      given: listColumns(contents.keys()),
      missing: listColumns(missing),
    })
  checkKeySize(store, contents)
}

/** Bytes of a partition key, and of a value in the sort: Cassandra's lengths have 16 bits. */
const keySizeMax = 65_535

/** Refuses keys that tables cannot hold; all columns of the key must be there. */
export function checkKeySize(store: RowStore, contents: GivenContents): void {
  const { key, table, name: target } = store
  const partition = key.slice(0, table.definition.partitionBy.length)
  const sizes = partition.map((column) => sizeOf(contents.get(column)))
  if (partition.length === 1 && sizes[0] === 0)
    throw apiError('INVALID_DATABASE_QUERY', {
      target,
      problem: `the partition key ${labelOf(partition[0]!)} cannot be empty`,
    })
  const size = sizes.reduce((sum, part) => sum + part, 0)
  if (size > keySizeMax)
    throw apiError('INVALID_DATABASE_QUERY', {
      target,
      problem:
        `the partition key ${listColumns(partition)} has ${size} bytes, and ` +
        `at most ${keySizeMax} are allowed`,
    })
  for (const column of key.slice(partition.length)) {
    const own = sizeOf(contents.get(column))
    if (own > keySizeMax)
      throw apiError('INVALID_DATABASE_QUERY', {
        target,
        problem:
          `${labelOf(column)} of the primary key has ${own} bytes, and at most ` +
          `${keySizeMax} are allowed`,
      })
  }
}

/** Bytes of texts and blobs, which alone can be empty or long; others count as few. */
function sizeOf(content: Content | TextToEmbed): number {
  if (typeof content === 'string') return Buffer.byteLength(content)
  const base64 = isObject(content as Value) && (content as JsonObject).get('$binary')
  return typeof base64 === 'string' ? Buffer.byteLength(base64, 'base64') : 8
}
