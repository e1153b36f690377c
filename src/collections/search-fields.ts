/**
 * Search fields: $vector, $vectorize and $lexical, and $hybrid, which sets $vectorize and
 * $lexical together. Clients send and receive them as fields of the document; the engine stores
 * them separately. This module converts between the two; vectorize.ts embeds $vectorize.
 */
import type { NewRecord, SearchFields, Vector } from '../engine/contract.ts'
import type { Collection } from '../engine/schema.ts'
import { apiError, type ApiError } from '../errors/api-error.ts'
import { asFloating, mapFloats } from '../json/floats.ts'
import { copyObject } from '../json/copy-object.ts'
import { printJson } from '../json/print.ts'
import {
  isDecimal,
  isObject,
  jsonTypeOf,
  type JsonObject,
  type Numeric,
  type Value,
} from '../json/value.ts'
import type { Limits } from '../limits.ts'
import {
  checkVector,
  readBinaryNumbers,
  readVectorNumbers,
  type VectorRules,
} from '../language/values/vector.ts'
import type { IndexingRule } from '../language/filters/indexing.ts'
import type { LexicalOperator } from '../language/sorts/sort.ts'
import type { Embedder } from '../paging/embedder.ts'
import type { CollectionSource } from './document-source.ts'
import { atOnce, type Steps } from '../runtime/steps.ts'
import type { AnalysisBudget } from '../caller/analysis-budget.ts'
import { termsWithin, type Analyzer } from '../search/lexical/analyzer.ts'

/** The rules of a collection for search fields. */
export interface SearchRules {
  readonly collection: Collection
  /** Name of the collection in messages. */
  readonly target: string
  readonly limits: Limits
  /** Absent if the collection has no lexical search. */
  readonly analyzer: Analyzer | undefined
  /** Budget that analysis is charged to; absent outside of requests. */
  readonly analysis?: AnalysisBudget
  /** Absent if the collection has no embedding service. */
  readonly embedder: Embedder | undefined
}

/** The documents of a collection and its rules for search fields. */
export interface DocumentSource extends CollectionSource, SearchRules {
  readonly collection: Collection
  readonly limits: Limits
  readonly indexing: IndexingRule
  /** Default for sorts by $lexical. */
  readonly lexicalOperator: LexicalOperator
}

/** Replaces $hybrid by $vectorize and $lexical. `where` names the document in messages. */
export function* expandHybrid(document: JsonObject, where: string): Steps<JsonObject> {
  const hybrid = document.get('$hybrid')
  if (hybrid === undefined) return document
  const conflicting = ['$lexical', '$vector', '$vectorize'].filter((name) =>
    document.has(name),
  )
  if (conflicting.length > 0)
    throw apiError('HYBRID_FIELD_CONFLICT', { fields: conflicting, where })
  const parts = isObject(hybrid)
    ? readHybridParts(hybrid, where)
    : { lexical: hybrid, vectorize: hybrid }
  if (!isTextOrNull(parts.lexical))
    throw apiError('HYBRID_FIELD_UNSUPPORTED_VALUE_TYPE', {
      type: jsonTypeOf(parts.lexical),
      where,
    })
  const expanded = yield* copyObject(document)
  expanded.delete('$hybrid')
  return expanded.set('$lexical', parts.lexical).set('$vectorize', parts.vectorize)
}

function readHybridParts(hybrid: JsonObject, where: string) {
  const unknown = [...hybrid.keys()].filter(
    (name) => name !== '$lexical' && name !== '$vectorize',
  )
  if (unknown.length > 0)
    throw apiError('HYBRID_FIELD_UNKNOWN_SUBFIELDS', { fields: unknown, where })
  for (const [field, value] of hybrid)
    if (!isTextOrNull(value))
      throw apiError('HYBRID_FIELD_UNSUPPORTED_SUBFIELD_VALUE_TYPE', {
        field,
        type: jsonTypeOf(value),
        where,
      })
  return {
    lexical: hybrid.get('$lexical') ?? null,
    vectorize: hybrid.get('$vectorize') ?? null,
  }
}

/** A stored document with its search fields, as parsed values and as stored. */
export interface Attached {
  readonly document: JsonObject
  readonly search: SearchFields
}

/** Adds the search fields to a stored document. The result is the document as clients see it. */
export function* attach(document: JsonObject, search: SearchFields): Steps<Attached> {
  return { document: yield* withFields(document, search, (number) => number), search }
}

/**
 * Like `attach`, for printing: all numbers of a vector are printed with a fraction or exponent.
 */
export function attachPrinted(
  document: JsonObject,
  search: SearchFields,
): Steps<JsonObject> {
  return withFields(document, search, asFloating)
}

function* withFields(
  document: JsonObject,
  { vector, vectorize, lexical }: SearchFields,
  element: (number: number) => Numeric,
): Steps<JsonObject> {
  if (vector === undefined && vectorize === undefined && lexical === undefined)
    return document
  const whole = yield* copyObject(document)
  if (vector !== undefined)
    whole.set('$vector', vector === null ? null : vectorValue(vector, element))
  if (vectorize !== undefined) whole.set('$vectorize', vectorize)
  if (lexical !== undefined) whole.set('$lexical', lexical)
  return whole
}

export function hasSearchFields(document: JsonObject): boolean {
  return document.has('$vector') || document.has('$vectorize') || document.has('$lexical')
}

/**
 * Removes the search fields from a document and checks them. Reuses the stored vector of `before`
 * if `whole` still contains its vector.
 */
export function* detach(
  whole: JsonObject,
  rules: SearchRules,
  before?: Attached,
): Steps<{ readonly document: JsonObject; readonly search: SearchFields }> {
  const vector = whole.get('$vector')
  const vectorize = whole.get('$vectorize')
  const lexical = whole.get('$lexical')
  const document = yield* copyObject(whole)
  for (const name of ['$vector', '$vectorize', '$lexical']) document.delete(name)
  const kept = vector !== undefined && vector === before?.document.get('$vector')
  const search = {
    ...(vector !== undefined && {
      vector: kept
        ? before.search.vector!
        : readVector(
            vector,
            rules,
            typeof vectorize === 'string' ? embeddedField : '$vector',
          ),
    }),
    // Values that are not strings were rejected when texts were embedded.
    ...(vectorize !== undefined && { vectorize: vectorize as string | null }),
    ...(lexical !== undefined && { lexical: readLexical(lexical, rules) }),
  }
  return { document, search }
}

function readLexical(value: Value, { collection, target }: SearchRules): string | null {
  if (!isTextOrNull(value))
    throw apiError('SHRED_BAD_DOCUMENT_LEXICAL_TYPE', { type: jsonTypeOf(value) })
  if (value !== null && !collection.options.lexical.enabled)
    throw apiError('LEXICAL_NOT_ENABLED_FOR_COLLECTION', { target })
  return value
}

/** How messages name a vector that the embedding service made. */
export const embeddedField =
  'The vector that the embedding service computed from $vectorize'

function readVector(
  value: Value,
  { collection, target, limits }: SearchRules,
  field: string,
) {
  if (value === null) return null
  const options = collection.options.vector
  if (options === undefined) throw apiError('VECTOR_SEARCH_NOT_SUPPORTED', { target })
  const rules = { dimension: options.dimension, metric: options.metric, target, field }
  return Array.isArray(value)
    ? readVectorArray(value, rules, limits)
    : readBinaryVector(value, rules)
}

function readVectorArray(value: Value[], rules: VectorRules, limits: Limits): Vector {
  if (value.length > limits.vectorDimensionMax)
    throw apiError('SHRED_DOC_LIMIT_VIOLATION', {
      what: 'The number of elements of $vector',
      actual: value.length,
      max: limits.vectorDimensionMax,
    })
  const narrow = readVectorNumbers(value)
  checkVector(narrow, rules)
  // Vectors are stored with 32 bits per number if all numbers survive the conversion.
  const lossless = narrow.every((number, i) => number === value[i])
  return { numbers: lossless ? narrow : widened(value), form: 'array' }
}

function widened(value: readonly Value[]): Float64Array {
  return Float64Array.from(value, (number) =>
    Number(isDecimal(number) ? number.decimal : number),
  )
}

function readBinaryVector(value: Value, rules: VectorRules): Vector {
  if (!isObject(value)) throw badVector(`is of type ${jsonTypeOf(value)}`)
  const names = [...value.keys()]
  if (names.length !== 1 || names[0] !== '$binary')
    throw badVector(`is an Object with the fields [${names.join(', ')}]`)
  const numbers = readBinaryNumbers(value.get('$binary')!)
  checkVector(numbers, rules)
  return { numbers, form: 'binary' }
}

function badVector(problem: string): ApiError {
  return apiError('SHRED_BAD_DOCUMENT_VECTOR_TYPE', { problem })
}

/**
 * Adds the terms of the text to the record. If `before` has the same text, the text is analyzed
 * lazily: an engine that already has its terms does not ask for them.
 */
export function withTerms(
  record: NewRecord,
  { analyzer, analysis, limits, target }: SearchRules,
  before?: Attached,
): NewRecord {
  const { lexical } = record.search
  if (typeof lexical !== 'string') return record
  if (lexical === before?.search.lexical) {
    let made: readonly string[] | undefined
    return { ...record, terms: () => (made ??= analyzer!.terms(lexical)) }
  }
  const max = limits.lexicalSizeMax
  const bounds = { sizeMax: max, ...(analysis && { budget: analysis }) }
  const terms = termsWithin(analyzer!, lexical, bounds)
  if (terms === undefined) throw apiError('LEXICAL_CONTENT_TOO_LONG', { target, max })
  return { ...record, terms: () => terms }
}

export function areSameSearchFields(a: SearchFields, b: SearchFields): boolean {
  const text = (search: SearchFields) =>
    printJson(atOnce(attach(new Map(), search)).document)
  return a === b || text(a) === text(b)
}

/** A vector as JSON, with the numbers in the form that the client sent. */
function vectorValue(vector: Vector, element: (number: number) => Numeric): Value {
  if (vector.form === 'array') return mapFloats(vector.numbers, element)
  const bytes = Buffer.alloc(vector.numbers.length * 4)
  vector.numbers.forEach((number, i) => bytes.writeFloatBE(number, i * 4))
  return new Map([['$binary', bytes.toString('base64')]])
}

export function isTextOrNull(value: Value): value is string | null {
  return value === null || typeof value === 'string'
}
