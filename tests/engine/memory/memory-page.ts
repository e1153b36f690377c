/** Pages of the in-memory engine. It serves filters and sorts only if they are empty. */
import type { Hit, Page, ReadQuery } from '../../../src/engine/contract.ts'
import type { Clause } from '../../../src/language/filters/filter-clause.ts'

/** The members of a stored record that paging needs. */
export interface Paged {
  readonly size: number
  readonly position: string
}

type AnyFilter = Clause<{ readonly kind: string }>

export function isEverything(filter: AnyFilter): boolean {
  return filter.kind === 'and' && 'of' in filter && filter.of.length === 0
}

/**
 * The page of a query. `candidates` are the records after the position `after`, in stored order.
 */
export function pageOf<Item extends Paged>(
  candidates: readonly Item[],
  { filter, sort, skip, limit, after, lookAhead, sizeMax }: ReadQuery<AnyFilter, unknown>,
): Page<Item> {
  const served = { filter: isEverything(filter), sort: sort.length === 0 }
  const isServed = served.filter && served.sort
  const left = isServed && after === undefined ? candidates.slice(skip) : candidates
  const records = upToSize(left.slice(0, limit), isServed ? sizeMax : undefined)
  const isCut = records.length < Math.min(limit, left.length)
  const isNextWanted = !isServed || isCut || lookAhead !== false
  const isNext = isNextWanted && records.length < left.length
  return {
    records,
    served,
    next: isNext ? records.at(-1)!.position : undefined,
    positionAfter: ({ position }) => position,
  }
}

/**
 * The items with the highest scores, best first. Ties keep the order of `items`. Items without a
 * score or with a score below `scoreMin` are omitted.
 */
export function bestOf<Item extends Paged>(
  items: readonly Item[],
  scoreOf: (item: Item) => number | null | undefined,
  {
    limit,
    sizeMax,
    scoreMin = -Infinity,
  }: { readonly limit: number; readonly sizeMax?: number; readonly scoreMin?: number },
): Hit<Item>[] {
  const scores = new Map(items.map((item) => [item, scoreOf(item) ?? NaN]))
  const found = items.filter((item) => scores.get(item)! >= scoreMin)
  const best = found.toSorted((a, b) => scores.get(b)! - scores.get(a)!).slice(0, limit)
  return upToSize(best, sizeMax).map((record) => ({ record, score: scores.get(record)! }))
}

/** The first items, ending with the item that makes their total size exceed `sizeMax`. */
function upToSize<Item extends Paged>(items: readonly Item[], sizeMax = Infinity) {
  let size = 0
  const last = items.findIndex((item) => (size += item.size) > sizeMax)
  return last < 0 ? items : items.slice(0, last + 1)
}
