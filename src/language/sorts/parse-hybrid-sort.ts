/**
 * Parses the sort of a hybrid search: {"$hybrid": …} with a vector query and a lexical query.
 * rerank-plan.ts checks later whether the collection supports the queries that are present.
 */
import { apiError } from '../../errors/api-error.ts'
import { isObject, jsonTypeOf, type JsonObject, type Value } from '../../json/value.ts'
import { readBinaryNumbers, readVectorNumbers } from '../values/vector.ts'

/** Queries of a hybrid search. Null and blank queries count as absent. */
export interface HybridSort {
  /** Text to embed; takes precedence over `vector`. */
  readonly vectorize: string | undefined
  readonly vector: Float32Array | undefined
  readonly lexical: string | undefined
  /** Whether $hybrid is one text, which is the query of both searches. */
  readonly isOneText: boolean
}

const parts = ['$vectorize', '$vector', '$lexical']

export function parseHybridSort(value: Value | undefined): HybridSort {
  if (value === undefined || value === null) return nothing
  if (!isObject(value)) throw mismatch('command.sort', value, 'an Object with "$hybrid"')
  refuseUnknown(value, ['$hybrid'], 'command.sort')
  const hybrid = value.get('$hybrid') ?? null
  if (hybrid === null) return nothing
  if (typeof hybrid === 'string') {
    const text = readText('command.sort.$hybrid', hybrid)
    return { vectorize: text, vector: undefined, lexical: text, isOneText: true }
  }
  if (!isObject(hybrid))
    throw mismatch('command.sort.$hybrid', hybrid, 'a String or an Object')
  refuseUnknown(hybrid, parts, 'command.sort.$hybrid')
  const textAt = (name: string) =>
    readText(`command.sort.$hybrid.${name}`, hybrid.get(name))
  return {
    vectorize: textAt('$vectorize'),
    vector: readVector(hybrid.get('$vector')),
    lexical: textAt('$lexical'),
    isOneText: false,
  }
}

const nothing: HybridSort = {
  vectorize: undefined,
  vector: undefined,
  lexical: undefined,
  isOneText: false,
}

function refuseUnknown(object: JsonObject, known: readonly string[], field: string): void {
  for (const name of object.keys())
    if (!known.includes(name))
      throw apiError('REQUEST_STRUCTURE_MISMATCH', {
        reason: 'otherMember',
        field,
        name,
        known,
      })
}

function readText(field: string, value: Value | undefined): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string') throw mismatch(field, value, 'a String')
  return value.trim() || undefined
}

function readVector(value: Value | undefined): Float32Array | undefined {
  if (value === undefined || value === null) return undefined
  if (Array.isArray(value)) return readVectorNumbers(value)
  const binary = isObject(value) && value.size === 1 ? value.get('$binary') : undefined
  if (binary === undefined)
    throw apiError('SHRED_BAD_DOCUMENT_VECTOR_TYPE', {
      problem: `of the sort is of type ${jsonTypeOf(value)}`,
    })
  return readBinaryNumbers(binary)
}

function mismatch(field: string, value: Value, wanted: string) {
  return apiError('REQUEST_STRUCTURE_MISMATCH', {
    reason: 'fieldType',
    field,
    type: jsonTypeOf(value),
    expected: wanted,
  })
}
