/** Parses the sort of a command that reads rows: columns in order, or one search. */
import type { Caller } from '../../caller/caller.ts'
import type { Column } from '../../engine/schema.ts'
import { apiError } from '../../errors/api-error.ts'
import { isObject, jsonTypeOf, type JsonObject, type Value } from '../../json/value.ts'
import type { LexicalOperator } from '../../language/sorts/sort.ts'
import { checkKeyCount } from '../../language/sorts/parse-sort.ts'
import { quoteJson } from '../../language/values/quote-json.ts'
import {
  decodeBinaryVector,
  findVectorProblem,
  readVectorNumbers,
} from '../../language/values/vector.ts'
import { labelOf, labelsOf } from '../column-label.ts'
import type { RowStore } from '../row-store.ts'
import { indexedColumns } from './indexed-columns.ts'
import { termsIn } from './read-operands.ts'
import type { RowSortKey } from '../../language/columns/row-filter.ts'
import type { RowSort } from './row-sort.ts'

/** The other options of the command that a sort depends on. */
export interface SortRange {
  readonly limit?: number | undefined
  readonly skip?: number | undefined
  /** Absent: the default of the server. */
  readonly lexicalOperator?: LexicalOperator | undefined
}

export function parseRowSort(
  value: Value | undefined,
  range: SortRange,
  store: RowStore,
  caller: Caller,
): RowSort {
  if (value === undefined || value === null) return { kind: 'values', keys: [] }
  if (!isObject(value))
    throw apiError('SORT_CLAUSE_INVALID', {
      reason: 'notAnObject',
      type: jsonTypeOf(value),
    })
  checkKeyCount(value, store.limits)
  checkColumns(value, store)
  const members = [...value].map(([name, given]) =>
    readMember(store.columns.get(name)!, given, store),
  )
  const [first] = members
  if (members.length > 1 && members.some(({ kind }) => kind !== 'value'))
    throw mixed(members)
  switch (first?.kind) {
    case 'vector':
      checkVectorRange(first.column, range, store)
      checkSearchable(first.column, first.vector, store, (problem) =>
        badValue(first.column, { reason: 'vector', problem }),
      )
      return first
    case 'vectorize':
      checkVectorRange(first.column, range, store)
      checkIndexed(first.column, store)
      checkService(first.column, store)
      return first
    case 'text': {
      const { column, text } = first
      checkLexical(column, range, store)
      const terms = termsIn(column, text, 'sort', store, caller)
      const operator = range.lexicalOperator ?? store.lexicalOperator
      return { kind: 'lexical', column, terms, text, operator }
    }
    default:
      return { kind: 'values', keys: members.filter((member) => member.kind === 'value') }
  }
}

/** One column of a sort. */
type Member =
  | (RowSortKey & { readonly kind: 'value' })
  | { readonly kind: 'vector'; readonly column: Column; readonly vector: Float32Array }
  | { readonly kind: 'vectorize'; readonly column: Column; readonly text: string }
  | { readonly kind: 'text'; readonly column: Column; readonly text: string }

function checkColumns(sort: JsonObject, store: RowStore): void {
  const unknown = [...sort.keys()].filter((name) => !store.columns.has(name))
  if (unknown.length > 0)
    throw apiError('CANNOT_SORT_UNKNOWN_COLUMNS', {
      table: store.name,
      columns: labelsOf(store.columns.values()),
      unknown: unknown.toSorted(),
    })
}

function readMember(column: Column, given: Value, store: RowStore): Member {
  const { type } = column.type
  if (type === 'vector') return readVectorMember(column, given)
  if (typeof given === 'string' && (type === 'text' || type === 'ascii'))
    return { kind: 'text', column, text: given }
  const names = { table: store.name, column: labelOf(column) }
  if (Array.isArray(given))
    throw apiError('CANNOT_VECTOR_SORT_NON_VECTOR_COLUMNS', {
      ...names,
      vectors: labelsOf(vectorColumns(store)),
    })
  if (typeof given === 'string')
    throw apiError('CANNOT_VECTORIZE_SORT_NON_VECTOR_COLUMN', {
      ...names,
      vectors: labelsOf(vectorColumns(store)),
    })
  if (given !== 1 && given !== -1)
    throw apiError('INVALID_REGULAR_SORT_EXPRESSION', {
      reason: 'direction',
      column: labelOf(column),
      value: quoteJson(given),
      type: jsonTypeOf(given),
    })
  if (!hasOrder(column))
    throw apiError('INVALID_REGULAR_SORT_EXPRESSION', {
      reason: 'noOrder',
      column: labelOf(column),
      type,
    })
  return { kind: 'value', column, direction: given }
}

function readVectorMember(column: Column, given: Value): Member {
  if (typeof given === 'string') {
    if (given.trim() === '') throw badValue(column, { reason: 'blank' })
    return { kind: 'vectorize', column, text: given }
  }
  if (Array.isArray(given))
    return { kind: 'vector', column, vector: readVectorNumbers(given, labelOf(column)) }
  if (!isObject(given))
    throw apiError('INVALID_VECTOR_SORT_EXPRESSION', {
      column: labelOf(column),
      value: quoteJson(given),
      type: jsonTypeOf(given),
    })
  const binary = given.size === 1 ? given.get('$binary') : undefined
  if (typeof binary !== 'string')
    throw badValue(column, { reason: 'otherObject', value: quoteJson(given) })
  const vector = decodeBinaryVector(binary)
  if ('problem' in vector)
    throw badValue(column, {
      reason: 'binary',
      problem: vector.problem,
      value: quoteJson(binary),
    })
  return { kind: 'vector', column, vector }
}

function hasOrder({ type }: Column): boolean {
  switch (type.type) {
    case 'duration':
    case 'list':
    case 'set':
    case 'map':
    case 'userDefined':
      return false
    default:
      return true
  }
}

function checkVectorRange(column: Column, { limit, skip }: SortRange, store: RowStore) {
  const max = store.limits.vectorLimitMax
  if (limit !== undefined && limit > max)
    throw apiError('CANNOT_VECTOR_SORT_WITH_LIMIT_EXCEEDS_MAX', {
      column: labelOf(column),
      limit,
      max,
    })
  if (skip !== undefined && skip > 0)
    throw apiError('CANNOT_VECTOR_SORT_WITH_SKIP_OPTION', { column: labelOf(column), skip })
}

/**
 * Rejects a vector that cannot be compared with vectors of the column. The default of `refuse` is
 * for a vector that a provider computed from a text: its error does not blame the request.
 */
export function checkSearchable(
  column: Column,
  vector: Float32Array,
  store: RowStore,
  refuse = (problem: string) =>
    apiError('INVALID_DATABASE_QUERY', { target: store.name, problem }),
): void {
  const metric = checkIndexed(column, store)
  const { dimension } = column.type as VectorType
  if (vector.length !== dimension)
    throw apiError('CANNOT_VECTOR_SORT_ON_MISMATCHED_VECTOR_DIMENSIONS', {
      column: labelOf(column),
      dimension,
      given: vector.length,
    })
  const problem = findVectorProblem(vector, metric)
  if (problem !== undefined) throw refuse(problem)
}

type VectorType = Extract<Column['type'], { readonly type: 'vector' }>

/** The metric of the column's vector index; throws when there is no index. */
function checkIndexed(column: Column, store: RowStore): string {
  const metric = store.metricOf(column)
  if (metric === undefined)
    throw apiError('CANNOT_VECTOR_SORT_NON_INDEXED_VECTOR_COLUMNS', {
      table: store.name,
      vectors: labelsOf(vectorColumns(store)),
      indexed: labelsOf(indexedColumns(store, 'vector')),
      column: labelOf(column),
    })
  return metric
}

function checkService(column: Column, store: RowStore): void {
  if (store.embedderOf(column) === undefined)
    throw apiError('CANNOT_VECTORIZE_SORT_WHEN_MISSING_VECTORIZE_DEFINITION', {
      table: store.name,
      vectorized: labelsOf(
        vectorColumns(store).filter((other) => store.embedderOf(other) !== undefined),
      ),
      column: labelOf(column),
    })
}

function checkLexical(column: Column, { skip }: SortRange, store: RowStore): void {
  const indexed = indexedColumns(store, 'text')
  if (!indexed.includes(column))
    throw apiError('CANNOT_LEXICAL_SORT_NON_INDEXED_COLUMNS', {
      table: store.name,
      indexed: labelsOf(indexed),
      column: labelOf(column),
    })
  if (skip !== undefined && skip > 0)
    throw apiError('CANNOT_LEXICAL_SORT_WITH_SKIP_OPTION', {
      column: labelOf(column),
      skip,
    })
}

function vectorColumns({ columns }: RowStore): Column[] {
  return [...columns.values()].filter(({ type }) => type.type === 'vector')
}

function mixed(members: readonly Member[]) {
  const of = (...kinds: readonly Member['kind'][]) =>
    labelsOf(members.filter(({ kind }) => kinds.includes(kind)).map(({ column }) => column))
  return apiError('CANNOT_SORT_ON_SPECIAL_WITH_OTHERS', {
    lexical: of('text'),
    vector: of('vector', 'vectorize'),
    regular: of('value'),
  })
}

type BadValueReason =
  | { readonly reason: 'blank' }
  | { readonly reason: 'otherObject'; readonly value: string }
  | { readonly reason: 'binary'; readonly problem: string; readonly value: string }
  | { readonly reason: 'vector'; readonly problem: string }

function badValue({ name: path }: Column, why: BadValueReason) {
  return apiError('SORT_CLAUSE_VALUE_INVALID', { path, ...why })
}
