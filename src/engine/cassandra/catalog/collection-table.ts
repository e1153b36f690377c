/** The table of a collection: its columns, its indexes, and how to recognize it. */
import type { Collection, CollectionOptions } from '../../schema.ts'
import type { Capabilities } from '../cluster/capabilities.ts'
import { quoteName, quoteOptions, quoteTarget, quoteText } from '../cluster/statement.ts'
import { writeComment } from './collection-comment.ts'
import { printAnalyzer, printSourceModel } from './index-ddl.ts'
import type { IndexRow } from './read-index.ts'

/** Columns with their types as system_schema spells them. */
const columns: ReadonlyMap<string, string> = new Map([
  ['tx_id', 'timeuuid'],
  ['doc_json', 'text'],
  ['exist_keys', 'set<text>'],
  ['array_size', 'map<text, int>'],
  ['array_contains', 'set<text>'],
  ['query_bool_values', 'map<text, tinyint>'],
  ['query_dbl_values', 'map<text, decimal>'],
  ['query_text_values', 'map<text, text>'],
  ['query_timestamp_values', 'map<text, timestamp>'],
  ['query_null_values', 'set<text>'],
])

export const vectorColumn = 'query_vector_value'
export const lexicalColumn = 'query_lexical_value'

/**
 * Name suffixes of the indexes, and the column of each index. `entries(…)` means that the index
 * contains the entries of a map.
 */
const indexes: readonly (readonly [suffix: string, of: string])[] = [
  ['exists_keys', 'exist_keys'],
  ['array_size', 'entries(array_size)'],
  ['array_contains', 'array_contains'],
  ['query_bool_values', 'entries(query_bool_values)'],
  ['query_dbl_values', 'entries(query_dbl_values)'],
  ['query_text_values', 'entries(query_text_values)'],
  ['query_timestamp_values', 'entries(query_timestamp_values)'],
  ['query_null_values', 'query_null_values'],
]

type Named = Pick<Collection, 'keyspace' | 'name'>

/** Columns of a collection except its key, with their types. */
export function collectionColumns({
  vector,
  lexical,
}: CollectionOptions): ReadonlyMap<string, string> {
  return new Map([
    ...columns,
    ...(vector ? [[vectorColumn, `vector<float, ${vector.dimension}>`] as const] : []),
    ...(lexical.enabled ? [[lexicalColumn, 'text'] as const] : []),
  ])
}

export function createTableText(target: Named, options: CollectionOptions): string {
  const all = [
    'key tuple<tinyint, text> PRIMARY KEY',
    ...Array.from(collectionColumns(options), ([name, type]) => `${name} ${type}`),
  ]
  const comment = quoteText(writeComment(target.name, options))
  return `CREATE TABLE ${quoteTarget(target)} (${all.join(', ')}) WITH comment = ${comment}`
}

export interface CollectionIndex {
  /** Last part of the index name, which consists of the collection's name, "_" and this suffix. */
  readonly suffix: string
  readonly of: string
  readonly given: ReadonlyMap<string, string>
}

export function collectionIndexes(
  { vector, lexical, indexing }: CollectionOptions,
  can: Pick<Capabilities, 'sourceModel' | 'indexAnalyzer'>,
): readonly CollectionIndex[] {
  const isNothingIndexed =
    indexing !== undefined && 'deny' in indexing && indexing.deny.includes('*')
  const vectorOptions =
    vector &&
    new Map([
      ['similarity_function', vector.metric],
      ...(can.sourceModel
        ? ([['source_model', printSourceModel(vector.sourceModel)]] as const)
        : []),
    ])
  const index = (suffix: string, of: string, given: ReadonlyMap<string, string>) => [
    { suffix, of, given },
  ]
  return [
    ...(isNothingIndexed
      ? []
      : indexes.flatMap(([suffix, of]) => index(suffix, of, new Map()))),
    ...(vectorOptions ? index(vectorColumn, vectorColumn, vectorOptions) : []),
    ...(lexical.enabled && can.indexAnalyzer
      ? index(
          lexicalColumn,
          lexicalColumn,
          new Map([['index_analyzer', printAnalyzer(lexical.analyzer)]]),
        )
      : []),
  ]
}

/** Indexes that the options of a collection require and its table does not have. */
export function missingIndexes(
  options: CollectionOptions,
  can: Pick<Capabilities, 'sourceModel' | 'indexAnalyzer'>,
  present: readonly IndexRow[],
): readonly CollectionIndex[] {
  const targets = new Set(present.map((index) => index.options.get('target') ?? ''))
  return collectionIndexes(options, can).filter(({ of }) => !targets.has(storedTarget(of)))
}

/**
 * The target of an index as Cassandra stores it: values(column) for a set, otherwise as it was
 * defined.
 */
function storedTarget(of: string): string {
  return sets.has(of) ? `values(${of})` : of
}

const sets: ReadonlySet<string> = new Set([
  ...['exist_keys', 'array_contains', 'query_null_values'],
])

/** Statements that create the indexes. There is one per index, and they can run concurrently. */
export function createIndexTexts(
  target: Named,
  options: CollectionOptions,
  capabilities: Capabilities,
): readonly string[] {
  return collectionIndexes(options, capabilities).map(
    ({ suffix, of, given }) =>
      `CREATE CUSTOM INDEX IF NOT EXISTS ${quoteName(`${target.name}_${suffix}`)} ` +
      `ON ${quoteTarget(target)} (${of}) USING 'StorageAttachedIndex'${quoteOptions(given)}`,
  )
}

/** A column as system_schema describes it. */
export interface SeenColumn {
  readonly name: string
  readonly kind: string
  readonly type: string
}

export function isCollection(seen: readonly SeenColumn[]): boolean {
  if (!isCollectionKey(seen)) return false
  const types = new Map(seen.map(({ name, type }) => [name, type]))
  return columns.entries().every(([name, type]) => types.get(name) === type)
}

/** Whether the columns include the primary key that every table of a collection has. */
export function isCollectionKey(seen: readonly SeenColumn[]): boolean {
  const key = seen.filter(({ kind }) => kind === 'partition_key' || kind === 'clustering')
  const [first] = key
  return key.length === 1 && first!.name === 'key' && isKeyType(first!.type)
}

function isKeyType(type: string): boolean {
  return /^(?:frozen<)?tuple<tinyint, text>>?$/.test(type)
}
