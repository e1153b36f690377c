/** Rows of an insert, as the request brings them. */
import { BadValue } from '../../columns/values.ts'
import type { Column } from '../../engine/schema.ts'
import { apiError } from '../../errors/api-error.ts'
import { list } from '../../errors/entry.ts'
import { isObject, jsonTypeOf, type JsonObject, type Value } from '../../json/value.ts'
import { labelOf } from '../column-label.ts'
import type { RowStore } from '../row-store.ts'
import { allColumns, keyColumns, listColumns } from './column-lists.ts'
import {
  noService,
  readContent,
  type GivenContents,
  type TextToEmbed,
} from './column-content.ts'
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
  const { name: target } = store
  if (invalid.length > 0)
    throw apiError('INVALID_COLUMN_VALUES', {
      target,
      columns: allColumns(store),
      invalid: invalid.sort().join('; '),
    })
  if (unserved.length > 0)
    throw apiError('UNSUPPORTED_VECTORIZE_WHEN_MISSING_VECTORIZE_DEFINITION', {
      target,
      vectorize: vectorizeColumns(store),
      used: listColumns(unserved),
    })
  checkKey(store, contents)
  return contents
}

function columnsOf(store: RowStore, document: JsonObject): readonly [Column, Value][] {
  const { name: target, columns } = store
  const unknown = [...document.keys()].filter((name) => !columns.has(name))
  if (unknown.length > 0)
    throw apiError('UNKNOWN_TABLE_COLUMNS', {
      target,
      columns: allColumns(store),
      unknown: list(unknown.sort()),
    })
  const given = Array.from(document, ([name, value]): [Column, Value] => [
    columns.get(name)!,
    value,
  ])
  const unsupported = given.filter(([column]) => !isWritable(column))
  if (unsupported.length > 0)
    throw apiError('UNSUPPORTED_COLUMN_TYPES', {
      target,
      columns: allColumns(store),
      unsupported: listColumns(unsupported.map(([column]) => column)),
    })
  return given
}

/** Tables that were made elsewhere may have counters, which are not set but counted. */
export function isWritable({ type }: Column): boolean {
  return type.type !== 'counter'
}

export function vectorizeColumns(store: RowStore): string {
  return listColumns(
    [...store.columns.values()].filter(
      ({ type }) => type.type === 'vector' && type.service !== undefined,
    ),
  )
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
