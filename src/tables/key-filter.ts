/**
 * What is said about the columns of a primary key, said about the id of rows.
 *
 * The id is a text in the order of the key (language/columns/key-text.ts), so equality on the first
 * columns is a prefix of it, and a range on the next column a range of ids. In a column that
 * sorts descending greater values have lesser texts, which swaps the bounds.
 */
import { endOfPrefix, keyText, type KeyPart } from '../language/columns/key-text.ts'
import type { Value } from '../json/value.ts'
import type { Filter } from '../language/filters/filter.ts'
import { compareValues } from '../language/values/order.ts'
import { idPath } from '../paging/record-id.ts'
import type { ConditionKind } from './column-clause.ts'
import type { RowStore } from './row-store.ts'

/** What a column must be, in comparables (language/columns/comparable.ts). */
export interface KeyCondition {
  /** One of these. */
  readonly eq?: readonly Value[]
  readonly low?: Bound
  readonly high?: Bound
}

export interface Bound {
  readonly value: Value
  readonly inclusive: boolean
}

/** What a condition says that can be said of an id; undefined where none of it can. */
export function keyCondition(
  kind: ConditionKind,
  values: readonly Value[],
): KeyCondition | undefined {
  const value = values[0]!
  switch (kind) {
    case 'eq':
    case 'in':
      return { eq: values }
    case 'gt':
    case 'gte':
      return { low: { value, inclusive: kind === 'gte' } }
    case 'lt':
    case 'lte':
      return { high: { value, inclusive: kind === 'lte' } }
    case 'ne':
    case 'nin':
    case 'all':
    case 'notAll':
    case 'match':
      return undefined
  }
}

/** By the names of their columns. */
export type KeyConditions = ReadonlyMap<string, KeyCondition>

type KeyStore = Pick<RowStore, 'table' | 'columns'>

/** Filters with more parts than this are slower than looking at rows one by one. */
const partsMax = 1000

/**
 * The filter on _id that says the same, or undefined when the conditions do not name whole
 * partitions and then a prefix of the sort, or name too many.
 */
export function idFilter(store: KeyStore, conditions: KeyConditions): Filter | undefined {
  const all = idParts(store, conditions)
  if (all === undefined) return undefined
  const parts: IdPart[] = []
  for (const part of all) {
    if (parts.length === partsMax) return undefined
    parts.push(part)
  }
  return filterOf(parts)
}

/**
 * As many of the conditions as a filter on _id can say: those on all partition columns and
 * then on columns of the sort up to the first that is not given by equality. Undefined when
 * a partition column is not.
 */
export function keyPrefix(
  { table }: KeyStore,
  conditions: KeyConditions,
): KeyConditions | undefined {
  const { partitionBy, partitionSort } = table.definition
  const prefix = new Map<string, KeyCondition>()
  for (const column of partitionBy) {
    const condition = conditions.get(column)
    if (condition?.eq === undefined) return undefined
    prefix.set(column, condition)
  }
  for (const { column } of partitionSort) {
    const condition = conditions.get(column)
    if (condition === undefined) break
    prefix.set(column, condition)
    if (condition.eq === undefined) break
  }
  return prefix
}

/** Ids that share what the conditions say: all with a prefix, a range of those, or one. */
export type IdPart =
  | { readonly kind: 'one'; readonly id: string }
  /** From the first text, up to but without the second. */
  | { readonly kind: 'range'; readonly from: string; readonly to: string }

/** The same in parts, of which there may be very many: one for each way to take values. */
export function idParts(
  store: KeyStore,
  conditions: KeyConditions,
): Iterable<IdPart> | undefined {
  const prefix = keyPrefix(store, conditions)
  if (prefix === undefined || prefix.size < conditions.size) return undefined
  const { partitionBy, partitionSort } = store.table.definition
  const key: Place[] = [
    ...partitionBy.map((column) => ({ column, direction: 1 as const })),
    ...partitionSort,
  ]
  return partsBelow('', key, prefix)
}

/** A column of the key. */
interface Place {
  readonly column: string
  readonly direction: KeyPart['direction']
}

function* partsBelow(
  text: string,
  [place, ...below]: readonly Place[],
  conditions: KeyConditions,
): Generator<IdPart> {
  if (place === undefined) {
    yield { kind: 'one', id: text }
    return
  }
  const condition = conditions.get(place.column)
  if (condition?.eq === undefined) {
    yield rangeBelow(text, place, condition ?? {})
    return
  }
  const texts = condition.eq.map((value) => text + textOf(value, place))
  for (const longer of new Set(texts)) yield* partsBelow(longer, below, conditions)
}

function rangeBelow(text: string, place: Place, { low, high }: KeyCondition): IdPart {
  const [first, last] = place.direction === 1 ? [low, high] : [high, low]
  const from = first && text + textOf(first.value, place)
  const to = last && text + textOf(last.value, place)
  return {
    kind: 'range',
    from: from === undefined ? text : first!.inclusive ? from : endOfPrefix(from),
    to: to === undefined ? endOfPrefix(text) : last!.inclusive ? endOfPrefix(to) : to,
  }
}

function textOf(value: Value, { direction }: Place): string {
  return keyText([{ value, direction }])
}

/** Matches what is in any of the parts. */
export function filterOf(parts: readonly IdPart[]): Filter {
  const ids = parts.flatMap((part) => (part.kind === 'one' ? [part.id] : []))
  const filters = parts.flatMap((part): Filter[] =>
    part.kind === 'one'
      ? []
      : [
          {
            kind: 'and',
            of: [
              { kind: 'gte', path: idPath, value: part.from },
              { kind: 'lt', path: idPath, value: part.to },
            ],
          },
        ],
  )
  if (ids.length === 1) filters.push({ kind: 'eq', path: idPath, value: ids[0]! })
  else if (ids.length > 1) filters.push({ kind: 'in', path: idPath, values: ids })
  return filters.length === 1 ? filters[0]! : { kind: 'or', of: filters }
}

/** What is left where both must hold. Values that are left have no bounds any more. */
export function bothConditions(a: KeyCondition, b: KeyCondition): KeyCondition {
  const low = tighter(a.low, b.low, 1)
  const high = tighter(a.high, b.high, -1)
  if (a.eq === undefined && b.eq === undefined)
    return { ...(low && { low }), ...(high && { high }) }
  const left = (a.eq ?? b.eq!).filter(
    (value) =>
      (b.eq ?? a.eq!).some((other) => compareValues(value, other) === 0) &&
      isWithin(value, low, 1) &&
      isWithin(value, high, -1),
  )
  return { eq: left }
}

/** `side` is 1 for lower bounds, -1 for upper ones. */
function tighter(
  a: Bound | undefined,
  b: Bound | undefined,
  side: 1 | -1,
): Bound | undefined {
  if (a === undefined || b === undefined) return a ?? b
  const order = compareValues(a.value, b.value) * side
  return order > 0 || (order === 0 && !a.inclusive) ? a : b
}

function isWithin(value: Value, bound: Bound | undefined, side: 1 | -1): boolean {
  if (bound === undefined) return true
  const order = compareValues(value, bound.value) * side
  return order > 0 || (order === 0 && bound.inclusive)
}
