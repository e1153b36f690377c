/** Parses the sort clause: values at paths, or one kind of search. */
import { apiError } from '../../errors/api-error.ts'
import type { ErrorVariables } from '../../errors/catalog.ts'
import { isObject, jsonTypeOf, type JsonObject, type Value } from '../../json/value.ts'
import type { Limits } from '../../limits.ts'
import type { Analyze } from '../filters/filter.ts'
import type { IndexingRule } from '../filters/indexing.ts'
import { parsePath, wildcardProblem, type Path } from '../values/path.ts'
import { quoteWithType } from '../values/quote-json.ts'
import type { SortKey } from '../values/sort-key.ts'
import type { LexicalOperator, Sort } from './sort.ts'
import { readTerms } from '../filters/terms.ts'
import { checkVector, decodeBinaryVector, readVectorNumbers } from '../values/vector.ts'

/** Properties of the collection that determine which sorts are allowed. */
export interface SortContext {
  /** Name of the collection in messages. */
  readonly target: string
  readonly limits: Limits
  /** Undefined: the collection has no vectors. */
  readonly vector: { readonly dimension: number; readonly metric: string } | undefined
  /** Whether an embedding service is configured. */
  readonly vectorize: boolean
  /** Undefined: lexical search is disabled for the collection. */
  readonly analyze: Analyze | undefined
  readonly lexicalOperator: LexicalOperator
}

export function parseSort(value: Value | undefined, context: SortContext): Sort {
  if (value === undefined || value === null) return anyOrder
  if (!isObject(value)) throw invalid({ reason: 'notAnObject', type: jsonTypeOf(value) })
  checkKeyCount(value, context.limits)
  for (const field of ['$vector', '$vectorize', '$lexical'] as const) {
    const query = value.get(field)
    if (query === undefined) continue
    if (value.size > 1) {
      const others = [...value.keys()].filter((name) => name !== field)
      throw invalid({ reason: 'notAlone', field, others: others.map(quoted) })
    }
    return searches[field](query, context)
  }
  const keys = [...value].map(([name, direction]): SortKey => {
    const path = readPath(name, context)
    return { path, direction: readDirection(path, direction) }
  })
  return { kind: 'values', keys }
}

/** Checks the number of sort keys of documents and rows, before the keys are parsed. */
export function checkKeyCount(
  { size: count }: JsonObject,
  { sortKeysMax: max }: Limits,
): void {
  const setting = '--max-sort-keys'
  if (count > max) throw invalid({ reason: 'tooManyKeys', count, max, setting })
}

const anyOrder: Sort = { kind: 'values', keys: [] }

/**
 * Throws if a sort key is not indexed. This check is separate from parsing, because errors of the
 * filter take precedence over it.
 */
export function checkSortIndexed(sort: Sort, indexing: IndexingRule): void {
  if (sort.kind !== 'values' || indexing.all) return
  for (const { path } of sort.keys)
    if (!indexing.covers(path))
      throw apiError('SORT_CLAUSE_PATH_UNINDEXED', { path: path.text })
}

const searches = {
  $vector(query: Value, { target, vector: rules }: SortContext): Sort {
    const vector = readVector(query)
    if (rules === undefined) throw apiError('VECTOR_SEARCH_NOT_SUPPORTED', { target })
    checkVector(vector, { ...rules, target })
    return { kind: 'vector', vector }
  },

  $vectorize(query: Value, { target, vector, vectorize }: SortContext): Sort {
    if (typeof query !== 'string') throw invalidValue('$vectorize', query, 'a String')
    if (query.trim() === '')
      throw apiError('SORT_CLAUSE_VALUE_INVALID', { reason: 'blank', path: '$vectorize' })
    if (!vectorize) {
      const hasVectors = vector !== undefined
      throw apiError('EMBEDDING_SERVICE_NOT_CONFIGURED', { target, hasVectors })
    }
    return { kind: 'vectorize', text: query }
  },

  $lexical(query: Value, { target, analyze, lexicalOperator }: SortContext): Sort {
    if (typeof query !== 'string')
      throw invalid({ reason: 'noTerms', value: quoteWithType(query) })
    if (analyze === undefined)
      throw apiError('LEXICAL_NOT_ENABLED_FOR_COLLECTION', { target })
    const place = { target, field: '$lexical', clause: 'sort' } as const
    const terms = readTerms(query, analyze, place)
    return { kind: 'lexical', terms, text: query, operator: lexicalOperator }
  },
}

function readVector(query: Value): Float32Array {
  if (Array.isArray(query)) return readVectorNumbers(query)
  const binary = isObject(query) && query.size === 1 ? query.get('$binary') : undefined
  if (typeof binary !== 'string')
    throw invalidValue('$vector', query, 'an Array of numbers or {"$binary": "<Base64>"}')
  const numbers = decodeBinaryVector(binary)
  if ('problem' in numbers)
    throw apiError('SORT_CLAUSE_VALUE_INVALID', {
      reason: 'binary',
      path: '$vector',
      problem: numbers.problem,
      value: quoteWithType(binary),
    })
  return numbers
}

function readPath(name: string, context: SortContext): Path {
  if (name.startsWith('$'))
    throw apiError('SORT_CLAUSE_PATH_INVALID', {
      path: name,
      problem: name === '$hybrid' ? hybridProblem(context) : searchProblem(context),
    })
  const path = parsePath(name)
  const problem = 'problem' in path ? path.problem : wildcardProblem(path)
  if (problem !== undefined)
    throw apiError('SORT_CLAUSE_PATH_INVALID', { path: name, problem })
  return path as Path
}

function hybridProblem({ vector, analyze }: SortContext): string {
  return vector !== undefined && analyze !== undefined
    ? 'use findAndRerank for hybrid searches; the collection must have reranking'
    : 'use findAndRerank for hybrid searches; the collection must have vectors and ' +
        'lexical search'
}

function searchProblem({ vector, vectorize, analyze }: SortContext): string {
  const known = [
    ...(vector === undefined ? [] : ['$vector']),
    ...(vectorize ? ['$vectorize'] : []),
    ...(analyze === undefined ? [] : ['$lexical']),
  ]
  return known.length === 0
    ? 'it is not a field name, because it starts with $, and this collection ' +
        'supports no searches'
    : 'it is not a field name, because it starts with $; this collection supports ' +
        `the searches ${known.join(', ')}`
}

function readDirection(path: Path, direction: Value): 1 | -1 {
  if (direction === 1 || direction === -1) return direction
  throw invalidValue(path.text, direction, '1 (ascending) or -1 (descending)')
}

function quoted(name: string): string {
  return `"${name}"`
}

function invalid(...why: ErrorVariables<'SORT_CLAUSE_INVALID'>) {
  return apiError('SORT_CLAUSE_INVALID', ...why)
}

function invalidValue(path: string, given: Value, expected: string) {
  const value = quoteWithType(given)
  return apiError('SORT_CLAUSE_VALUE_INVALID', { reason: 'value', path, value, expected })
}
