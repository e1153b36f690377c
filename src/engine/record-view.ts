/**
 * How filters, sorts, indexes and searches see the records of a target. It depends on the target
 * alone, so every thread can make its own.
 */
import { storedFields } from '../json/stored-fields.ts'
import { parseStored } from '../json/parse.ts'
import type { JsonObject, Value } from '../json/value.ts'
import { indexingRule } from '../language/filters/indexing.ts'
import type { Steps } from '../runtime/steps.ts'
import type { VectorMemory } from '../search/vector/code-width.ts'
import type { Metric } from '../search/vector/similarity.ts'
import type { StoredRecord } from './contract.ts'
import type { CollectionOptions, VectorOptions } from './schema.ts'

export interface RecordView {
  readonly kind: 'document' | 'row'
  /** The root fields of a record with these names, if present; `_id` can be among them. */
  fields(text: string, names: ReadonlySet<string>): JsonObject
  /** The same fields as filters see them: for a document, only the indexed part. */
  see(text: string, names: ReadonlySet<string>): JsonObject
  /** The indexed part of a record, from its text or from fields that `see` returned. */
  indexed(record: string | JsonObject): JsonObject
  /** Like `indexed`, in steps, for the main thread. */
  indexedInSteps(record: JsonObject): Steps<JsonObject>
  /** Whether the value index covers a path; otherwise records must be parsed. */
  covers(path: string): boolean
  idOf(text: string): Value
  /** Vector and text fields by path. */
  readonly vectors: ReadonlyMap<string, VectorField>
  readonly texts: ReadonlyMap<string, TextField>
  /** The vector or text at a path of a record that includes its search fields. */
  vectorOf(record: StoredRecord, path: string): Float32Array | Float64Array | undefined
  textOf(record: StoredRecord, path: string): string | undefined
}

export interface VectorField {
  /**
   * Suffix of the names of this field's tables and files; empty when a target has only one such
   * field.
   */
  readonly suffix: string
  readonly dimension: number
  /** Metric of the vector index; undefined: the field has no vector index. */
  readonly metric: Metric | undefined
  /** Memory of the vector index; absent: the default of the server. */
  readonly memory?: VectorMemory | undefined
}

export interface TextField {
  readonly suffix: string
  /** Name of a built-in analyzer, or a recipe. */
  readonly analyzer: unknown
}

/** View of a collection with these options. */
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
    vectors: new Map(vector && [['$vector', vectorFieldOf(vector)]]),
    texts: new Map(
      lexical?.enabled ? [['$lexical', { suffix: '', analyzer: lexical.analyzer }]] : [],
    ),
    vectorOf: ({ search }) => search?.vector?.numbers,
    textOf: ({ search }) => search?.lexical ?? undefined,
  }
}

function vectorFieldOf({ dimension, metric, memory }: VectorOptions): VectorField {
  return { suffix: '', dimension, metric, memory }
}

const idOnly: ReadonlySet<string> = new Set(['_id'])

/** The search fields as filters see them: only whether they exist. */
export function searchFieldsSeen({
  search = {},
}: Pick<StoredRecord, 'search'>): JsonObject {
  const seen: JsonObject = new Map()
  if (search.vector !== undefined) seen.set('$vector', null)
  if (search.vectorize !== undefined) seen.set('$vectorize', null)
  if (search.lexical !== undefined) seen.set('$lexical', null)
  return seen
}
