/**
 * How filters, sorts, indexes and searches see the records of a target. Made of the target
 * alone, so that every thread can have one.
 */
import { storedFields } from '../json/stored-fields.ts'
import { parseStored } from '../json/parse.ts'
import type { JsonObject, Value } from '../json/value.ts'
import { indexingRule } from '../language/filters/indexing.ts'
import type { Steps } from '../runtime/steps.ts'
import type { Metric } from '../search/vector/similarity.ts'
import type { StoredRecord } from './contract.ts'
import type { CollectionOptions } from './schema.ts'

export interface RecordView {
  readonly kind: 'document' | 'row'
  /** The root fields with these names that the record has, `_id` among them. */
  fields(text: string, names: ReadonlySet<string>): JsonObject
  /** The same as filters see them: of a document, only what is indexed. */
  see(text: string, names: ReadonlySet<string>): JsonObject
  /** The part of a record that indexes hold, of its text or of what was seen of it. */
  indexed(record: string | JsonObject): JsonObject
  /** The same of what was seen, for the thread that answers requests. */
  indexedInSteps(record: JsonObject): Steps<JsonObject>
  /** Whether an index answers for a path; otherwise records must be looked into. */
  covers(path: string): boolean
  idOf(text: string): Value
  /** What is searched by vector and by terms, by path. */
  readonly vectors: ReadonlyMap<string, VectorField>
  readonly texts: ReadonlyMap<string, TextField>
  /** Of a record that carries its search fields. */
  vectorOf(record: StoredRecord, path: string): Float32Array | Float64Array | undefined
  textOf(record: StoredRecord, path: string): string | undefined
}

export interface VectorField {
  /** Tells its part of the store from that of others; empty where there is only one. */
  readonly suffix: string
  readonly dimension: number
  /** Undefined where there is no index to search in. */
  readonly metric: Metric | undefined
}

export interface TextField {
  readonly suffix: string
  /** A built-in analyzer's name, or a recipe. */
  readonly analyzer: unknown
}

/** Of a collection with these options. */
export function documentView({
  indexing,
  vector,
  lexical,
}: Partial<CollectionOptions>): RecordView {
  const rule = indexingRule(indexing)
  return {
    kind: 'document',
    fields: storedFields,
    see: (text, names) => {
      const fields = storedFields(text, names)
      return rule.all ? fields : rule.prune(fields)
    },
    indexed: (record) =>
      rule.prune(typeof record === 'string' ? (parseStored(record) as JsonObject) : record),
    indexedInSteps: (record) => rule.pruneInSteps(record),
    covers: () => true,
    idOf: (text) => storedFields(text, idOnly).get('_id')!,
    vectors: new Map(
      vector && [
        ['$vector', { suffix: '', dimension: vector.dimension, metric: vector.metric }],
      ],
    ),
    texts: new Map(
      lexical?.enabled ? [['$lexical', { suffix: '', analyzer: lexical.analyzer }]] : [],
    ),
    vectorOf: ({ search }) => search?.vector?.numbers,
    textOf: ({ search }) => search?.lexical ?? undefined,
  }
}

const idOnly: ReadonlySet<string> = new Set(['_id'])

/** What filters see of the fields beside a document's text: only whether they are there. */
export function searchFieldsSeen({
  search = {},
}: Pick<StoredRecord, 'search'>): JsonObject {
  const seen: JsonObject = new Map()
  if (search.vector !== undefined) seen.set('$vector', null)
  if (search.vectorize !== undefined) seen.set('$vectorize', null)
  if (search.lexical !== undefined) seen.set('$lexical', null)
  return seen
}
