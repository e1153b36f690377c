/**
 * The fields that search lives on: $vector, $vectorize and $lexical, and $hybrid, which
 * stands for the latter two. Callers send and get them at the root of a document; the engine
 * keeps them beside it. Here they pass from one place to the other.
 */
import type { SearchFields, Vector } from '../engine/engine.ts'
import type { Collection } from '../engine/schema.ts'
import { apiError, type ApiError } from '../errors/api-error.ts'
import { printJson } from '../json/print.ts'
import {
  isDecimal,
  isObject,
  jsonTypeOf,
  type JsonObject,
  type Value,
} from '../json/value.ts'
import type { Limits } from '../limits.ts'
import {
  checkVector,
  decodeBinaryVector,
  readVectorNumbers,
  type VectorRules,
} from '../query/vector.ts'

/** Turns texts into vectors, as the collection's embedding service does. */
export interface Embedder {
  embed(
    texts: readonly string[],
    purpose: 'index' | 'search',
    signal: AbortSignal,
  ): Promise<readonly Float32Array[]>
}

/** What the rules for search fields depend on. */
export interface SearchRules {
  readonly collection: Collection
  /** As messages name the collection. */
  readonly target: string
  readonly limits: Limits
  /** Absent where the collection has no embedding service. */
  readonly embedder: Embedder | undefined
}

/** Replaces $hybrid by what it stands for. */
export function expandHybrid(
  document: JsonObject,
  position: number,
  count: number,
): JsonObject {
  const hybrid = document.get('$hybrid')
  if (hybrid === undefined) return document
  const conflicting = ['$lexical', '$vector', '$vectorize'].filter((name) =>
    document.has(name),
  )
  if (conflicting.length > 0)
    throw apiError('HYBRID_FIELD_CONFLICT', { fields: conflicting, position, count })
  const parts = isObject(hybrid)
    ? readHybridParts(hybrid, position, count)
    : { lexical: hybrid, vectorize: hybrid }
  if (!isTextOrNull(parts.lexical))
    throw apiError('HYBRID_FIELD_UNSUPPORTED_VALUE_TYPE', {
      type: jsonTypeOf(parts.lexical),
      position,
      count,
    })
  const expanded = new Map(document)
  expanded.delete('$hybrid')
  return expanded.set('$lexical', parts.lexical).set('$vectorize', parts.vectorize)
}

function readHybridParts(hybrid: JsonObject, position: number, count: number) {
  const unknown = [...hybrid.keys()].filter(
    (name) => name !== '$lexical' && name !== '$vectorize',
  )
  if (unknown.length > 0)
    throw apiError('HYBRID_FIELD_UNKNOWN_SUBFIELDS', { fields: unknown, position, count })
  for (const [field, value] of hybrid)
    if (!isTextOrNull(value))
      throw apiError('HYBRID_FIELD_UNSUPPORTED_SUBFIELD_VALUE_TYPE', {
        field,
        type: jsonTypeOf(value),
        position,
        count,
      })
  return {
    lexical: hybrid.get('$lexical') ?? null,
    vectorize: hybrid.get('$vectorize') ?? null,
  }
}

/**
 * Makes the vectors of documents that have a text to make one from and no vector yet. Also
 * refuses what no document of the collection may have, whichever of a request it stands in.
 */
export async function embedTexts(
  documents: readonly JsonObject[],
  rules: SearchRules,
  signal: AbortSignal,
): Promise<readonly JsonObject[]> {
  documents.forEach((document, i) => checkTogether(document, i + 1, rules))
  const texts = documents.map(textToEmbed).filter((text) => text !== undefined)
  const vectors =
    texts.length === 0 ? [] : await embedder(rules).embed(texts, 'index', signal)
  let next = 0
  return documents.map((document) => {
    if (!document.has('$vectorize') || document.has('$vector')) return document
    const vector = textToEmbed(document) === undefined ? null : [...vectors[next++]!]
    return new Map(document).set('$vector', vector)
  })
}

/**
 * The changed document, with the old vector if its text is the old one, and otherwise
 * without, so that the text is embedded again.
 */
export function keepEmbedding(before: JsonObject, after: JsonObject): JsonObject {
  const text = after.get('$vectorize')
  if (text === undefined) return after
  const vector = text === before.get('$vectorize') ? before.get('$vector') : undefined
  if (vector === after.get('$vector')) return after
  const kept = new Map(after)
  kept.delete('$vector')
  return vector === undefined ? kept : kept.set('$vector', vector)
}

function checkTogether(document: JsonObject, position: number, rules: SearchRules): void {
  const vectorize = document.get('$vectorize') ?? null
  if (!isTextOrNull(vectorize))
    throw apiError('INVALID_VECTORIZE_VALUE_TYPE', {
      type: jsonTypeOf(vectorize),
      position,
    })
  if (
    (document.get('$vector') ?? null) !== null &&
    rules.collection.options.vector === undefined
  )
    throw apiError('VECTOR_SEARCH_NOT_SUPPORTED', { target: rules.target })
}

/** For documents that come whole: the text gives the vector, so both cannot be sent. */
export function checkNotBoth(document: JsonObject, where: string): void {
  if (document.has('$vector') && document.has('$vectorize'))
    throw apiError('INVALID_USAGE_OF_VECTORIZE', { where })
}

/** Null and blank texts have no vector. */
function textToEmbed(document: JsonObject): string | undefined {
  const text = document.get('$vectorize')
  return typeof text === 'string' && text.trim() !== '' && !document.has('$vector')
    ? text
    : undefined
}

function embedder({ embedder, target }: SearchRules): Embedder {
  if (embedder === undefined) throw apiError('EMBEDDING_SERVICE_NOT_CONFIGURED', { target })
  return embedder
}

/** A document as it was read, with its search fields in both forms. */
export interface Attached {
  readonly document: JsonObject
  readonly search: SearchFields
}

/** Puts search fields into the document, as callers know it. */
export function attach(document: JsonObject, search: SearchFields): Attached {
  const whole = new Map(document)
  if (search.vector !== undefined)
    whole.set('$vector', search.vector === null ? null : vectorValue(search.vector))
  if (search.vectorize !== undefined) whole.set('$vectorize', search.vectorize)
  if (search.lexical !== undefined) whole.set('$lexical', search.lexical)
  return { document: whole, search }
}

/**
 * Takes the search fields out of a document, checked. A vector that `before` has as well is
 * taken from there.
 */
export function detach(
  whole: JsonObject,
  rules: SearchRules,
  before?: Attached,
): { readonly document: JsonObject; readonly search: SearchFields } {
  const vector = whole.get('$vector')
  const vectorize = whole.get('$vectorize')
  const lexical = whole.get('$lexical')
  if (vector === undefined && vectorize === undefined && lexical === undefined)
    return { document: whole, search: {} }
  const document = new Map(whole)
  for (const name of ['$vector', '$vectorize', '$lexical']) document.delete(name)
  const kept = vector !== undefined && vector === before?.document.get('$vector')
  const search = {
    ...(vector !== undefined && {
      vector: kept ? before.search.vector! : readVector(vector, rules),
    }),
    // What is no text was refused when texts were embedded.
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

function readVector(value: Value, { collection, target, limits }: SearchRules) {
  if (value === null) return null
  const options = collection.options.vector
  if (options === undefined) throw apiError('VECTOR_SEARCH_NOT_SUPPORTED', { target })
  const rules = { dimension: options.dimension, metric: options.metric, target }
  return Array.isArray(value)
    ? readVectorArray(value, rules, limits)
    : readBinaryVector(value, rules)
}

function readVectorArray(value: Value[], rules: VectorRules, limits: Limits): Vector {
  if (value.length > limits.vectorDimensionMax)
    throw apiError('SHRED_DOC_LIMIT_VIOLATION', {
      what: 'The count of numbers in $vector',
      actual: value.length,
      max: limits.vectorDimensionMax,
    })
  const narrow = readVectorNumbers(value)
  checkVector(narrow, rules)
  // Half the size where nothing is lost: the numbers must come back as they were sent.
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
  const base64 = value.get('$binary')!
  const numbers =
    typeof base64 === 'string'
      ? decodeBinaryVector(base64)
      : { problem: `is of type ${jsonTypeOf(base64)}` }
  if ('problem' in numbers)
    throw apiError('SHRED_BAD_BINARY_VECTOR_VALUE', { problem: numbers.problem })
  checkVector(numbers, rules)
  return { numbers, form: 'binary' }
}

function badVector(problem: string): ApiError {
  return apiError('SHRED_BAD_DOCUMENT_VECTOR_TYPE', { problem })
}

export function areSameSearchFields(a: SearchFields, b: SearchFields): boolean {
  const text = (search: SearchFields) => printJson(attach(new Map(), search).document)
  return a === b || text(a) === text(b)
}

/** A vector as JSON, in the form in which it was sent. */
function vectorValue(vector: Vector): Value {
  if (vector.form === 'array') return [...vector.numbers]
  const bytes = Buffer.alloc(vector.numbers.length * 4)
  vector.numbers.forEach((number, i) => bytes.writeFloatBE(number, i * 4))
  return new Map([['$binary', bytes.toString('base64')]])
}

function isTextOrNull(value: Value): value is string | null {
  return value === null || typeof value === 'string'
}
