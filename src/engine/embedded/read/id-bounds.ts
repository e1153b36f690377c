/**
 * The id ranges of a filter. The rows of a partition have the ids of one range, so most reads of
 * tables walk an id range.
 */
import { flatten, type Filter } from '../../../language/filters/filter.ts'
import { keyOf } from '../../../language/values/key.ts'
import type { Parameter } from '../store/store-connection.ts'
import type { Bound } from '../runs/runs-reader.ts'
import { rangeOf, tighterBound, type Bounds } from './bounds.ts'

export interface IdBounds {
  /** The id ranges, disjoint and in ascending order. */
  readonly bounds: readonly Bounds[] | undefined
  /** The part of the filter that the ranges do not cover. */
  readonly rest: Filter
}

const known = new WeakMap<Filter, IdBounds>()

/**
 * The id ranges of a filter. `bounds` is undefined when the filter does not restrict ids, or only
 * names single ids.
 */
export function idBoundsOf(filter: Filter): IdBounds {
  if (filter.kind === 'eq' || filter.kind === 'in')
    return { bounds: undefined, rest: filter }
  let found = known.get(filter)
  if (found === undefined) known.set(filter, (found = findIdBounds(filter)))
  return found
}

function findIdBounds(filter: Filter): IdBounds {
  let bounds: readonly Bounds[] | undefined
  const rest: Filter[] = []
  for (const part of flatten(filter)) {
    const own = part.kind === 'eq' || part.kind === 'in' ? undefined : boundsOf(part)
    if (own === undefined) rest.push(part)
    else bounds = bounds === undefined ? own : bothOf(bounds, own)
  }
  return { bounds, rest: { kind: 'and', of: rest } }
}

/** The id ranges to which a filter is equivalent; undefined if it also restricts other fields. */
function boundsOf(filter: Filter): readonly Bounds[] | undefined {
  switch (filter.kind) {
    case 'or': {
      const parts = filter.of.map(boundsOf)
      return parts.includes(undefined) ? undefined : anyOf(parts.flatMap((part) => part!))
    }
    case 'and': {
      const parts = filter.of.map(boundsOf)
      if (parts.length === 0 || parts.includes(undefined)) return undefined
      return parts.map((part) => part!).reduce(bothOf)
    }
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte': {
      if (filter.path.text !== '_id') return undefined
      const [low, high] = rangeOf(filter)
      return notEmpty([{ low, high }])
    }
    case 'eq':
      return filter.path.text === '_id' ? [only(keyOf(filter.value))] : undefined
    case 'in':
      return filter.path.text === '_id'
        ? anyOf(filter.values.map((value) => only(keyOf(value))))
        : undefined
    default:
      return undefined
  }
}

function only(key: Uint8Array): Bounds {
  const bound = { key, inclusive: true }
  return { low: bound, high: bound }
}

/** The union, in ascending order, with overlapping ranges merged. */
function anyOf(bounds: readonly Bounds[]): readonly Bounds[] {
  const joined: Bounds[] = []
  for (const next of bounds.toSorted((a, b) => compareLow(a.low, b.low))) {
    const last = joined.at(-1)
    if (last === undefined || isBefore(last.high, next.low)) joined.push(next)
    else if (tighterBound(last.high, next.high, -1) === last.high)
      joined[joined.length - 1] = { low: last.low, high: next.high }
  }
  return joined
}

function compareLow(a: Bound, b: Bound): number {
  return Buffer.compare(a.key, b.key) || Number(b.inclusive) - Number(a.inclusive)
}

/** Whether a range that ends at `high` and a range that starts at `low` are disjoint. */
function isBefore(high: Bound, low: Bound): boolean {
  const order = Buffer.compare(high.key, low.key)
  return order < 0 || (order === 0 && !(high.inclusive && low.inclusive))
}

function bothOf(a: readonly Bounds[], b: readonly Bounds[]): readonly Bounds[] {
  return notEmpty(
    a.flatMap((one) =>
      b.map((other) => ({
        low: tighterBound(one.low, other.low, 1),
        high: tighterBound(one.high, other.high, -1),
      })),
    ),
  )
}

function notEmpty(bounds: readonly Bounds[]): readonly Bounds[] {
  return bounds.filter(({ low, high }) => !isBefore(high, low))
}

/** An SQL condition on the ids of `d`, the document table. */
export function boundsSql({ low, high }: Bounds): {
  readonly sql: string
  readonly parameters: readonly Parameter[]
} {
  return {
    sql: `d.id ${low.inclusive ? '>=' : '>'} ? AND d.id ${high.inclusive ? '<=' : '<'} ?`,
    parameters: [low.key, high.key],
  }
}
