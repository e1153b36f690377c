/** Checks that the tables of collections have everything that their options require. */
import { EngineError } from '../../errors.ts'
import type { CollectionOptions } from '../../schema.ts'
import { readComment } from '../catalog/collection-comment.ts'
import {
  collectionColumns,
  isCollectionKey,
  missingIndexes,
  type SeenColumn,
} from '../catalog/collection-table.ts'
import type { IndexRow } from '../catalog/read-index.ts'
import type { TableRow } from '../catalog/read-table.ts'
import { readSchemaRows, seenVector } from '../catalog/system-schema.ts'
import { readNotes } from '../catalog/table-notes.ts'
import type { Capabilities } from '../cluster/capabilities.ts'
import type { UnqueryableIndexes } from '../cluster/index-readiness.ts'
import type { Session } from '../cluster/session.ts'
import type { TextPlace } from '../lexical/postings.ts'
import { placeOfIndex } from '../rows/row-texts.ts'

export interface CheckedTarget {
  readonly keyspace: string
  readonly name: string
  readonly kind: 'collection' | 'table'
  /** Problems of the target, each in one line of text. */
  readonly findings: readonly string[]
}

export async function checkKeyspace(
  session: Session,
  keyspace: string,
  can: Capabilities,
  unqueryable: UnqueryableIndexes,
  isFilling: (place: TextPlace) => boolean,
): Promise<readonly CheckedTarget[]> {
  const rows = await readSchemaRows(session, keyspace)
  if (rows === undefined) return []
  const tables = rows.tables.toSorted((a, b) => (a.table_name < b.table_name ? -1 : 1))
  return tables.map((table): CheckedTarget => {
    const { table_name: name, comment } = table
    const columns = rows.columnsOf(name)
    const indexes = rows.indexesOf(name)
    const isCollection = looksLikeCollection(columns, comment ?? '')
    const findings = [
      ...(isCollection ? missing(name, comment ?? '', columns, indexes, can) : []),
      ...indexes.flatMap((index) => notReady(keyspace, index, unqueryable)),
      ...notFull(table, isFilling),
    ]
    return { keyspace, name, kind: isCollection ? 'collection' : 'table', findings }
  })
}

/** Recognizes incomplete collections by parts that only servers of the Data API create. */
function looksLikeCollection(columns: readonly SeenColumn[], comment: string): boolean {
  const has = (name: string) => columns.some((column) => column.name === name)
  if (isCollectionKey(columns) && has('doc_json')) return true
  return /^\s*\{\s*"collection"\s*:/.test(comment)
}

function missing(
  name: string,
  comment: string,
  columns: readonly SeenColumn[],
  indexes: readonly IndexRow[],
  can: Capabilities,
): readonly string[] {
  let options: CollectionOptions
  try {
    options = readComment(name, comment, seenVector(columns, indexes), noSearch)
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    return [error.message]
  }
  const types = new Map(columns.map((column) => [column.name, column.type]))
  return [
    ...(isCollectionKey(columns) ? [] : ['its primary key is not that of a collection']),
    ...Array.from(collectionColumns(options)).flatMap(([column, type]) => {
      const found = types.get(column)
      if (found === undefined) return [`the column ${column} is missing`]
      return sameType(found, type)
        ? []
        : [`the column ${column} must be of type ${type}, but is of type ${found}`]
    }),
    ...missingIndexes(options, can, indexes).map(
      ({ suffix, of }) => `the index ${name}_${suffix} on ${of} is missing`,
    ),
  ]
}

/** Defaults for comments without these options. */
const noSearch = { lexical: { enabled: false }, rerank: { enabled: false } } as const

/** Whether two printed types are the same. Products spell vector types in two ways. */
function sameType(found: string, wanted: string): boolean {
  if (found === wanted) return true
  const dimension = /^vector<float, (\d+)>$/.exec(wanted)?.[1]
  return (
    dimension !== undefined &&
    new RegExp(`\\bVectorType\\(.*, ?${dimension}\\)`).test(found)
  )
}

function notReady(
  keyspace: string,
  { index_name: index }: IndexRow,
  unqueryable: UnqueryableIndexes,
): readonly string[] {
  const nodes = Array.from(unqueryable)
    .filter(([, indexes]) => indexes.has(`${keyspace}.${index}`))
    .map(([node]) => node)
  return nodes.length === 0
    ? []
    : [`the index ${index} cannot be searched on ${nodes.join(', ')}`]
}

/**
 * Findings about incomplete text indexes. The server that fills such an index may still be running,
 * or may have died.
 */
function notFull(
  table: TableRow,
  isFilling: (place: TextPlace) => boolean,
): readonly string[] {
  const uid = table.id.toString()
  return Array.from(readNotes(table).indexes).flatMap(([index, note]) =>
    'analyzer' in note && isFilling(placeOfIndex({ uid }, note))
      ? [
          `the text index ${index} is incomplete and cannot be searched. Run stela ` +
            'repair, unless a server is building it',
        ]
      : [],
  )
}
