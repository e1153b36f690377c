/** Random filters on documents in the form of requests. */
import type { Value, JsonObject } from '../../src/json/value.ts'
import type { Comparison, Filter } from '../../src/language/filters/filter.ts'
import type { IndexingRule } from '../../src/language/filters/indexing.ts'
import type { SortKey } from '../../src/language/values/sort-key.ts'
import { randomFilter, type Random, type Shape } from './random.ts'

/**
 * A random filter that the service accepts: at most one comparison of _id, which is not in $or, and
 * no $lexical.
 */
export function randomSentFilter(random: Random, shape: Shape, rule: IndexingRule): Filter {
  for (;;) {
    const filter = randomFilter(random, shape, rule)
    if (count(filter, '_id') <= 1 && !hasIdInOr(filter) && count(filter, '$lexical') === 0)
      return filter
  }
}

export function sortJson(sort: readonly SortKey[]): JsonObject {
  return new Map(sort.map(({ path, direction }) => [path.text, direction]))
}

/** JSON that parses to the filter. */
export function filterJson(filter: Filter): JsonObject {
  if (filter.kind === 'and' || filter.kind === 'or') {
    // The parser ignores an empty $or, but an empty `or` matches nothing. So it is written as
    // another filter that matches nothing.
    if (filter.kind === 'or' && filter.of.length === 0)
      return new Map([['_id', new Map([['$in', []]])]])
    return new Map([[`$${filter.kind}`, filter.of.map(filterJson)]])
  }
  const [operator, operand] = operatorOf(filter)
  const comparison = new Map([[filter.path.text, new Map([[operator, operand]])]])
  const isOpposite = filter.kind === 'notAll' || filter.kind === 'notSize'
  return isOpposite ? new Map([['$not', comparison]]) : comparison
}

function operatorOf(comparison: Comparison): [string, Value] {
  switch (comparison.kind) {
    case 'in':
    case 'nin':
    case 'all':
      return [`$${comparison.kind}`, [...comparison.values]]
    case 'notAll':
      return ['$all', [...comparison.values]]
    case 'exists':
      return ['$exists', comparison.exists]
    case 'size':
    case 'notSize':
      return ['$size', comparison.size]
    case 'match':
      return ['$match', comparison.terms.join(' ')]
    default:
      return [`$${comparison.kind}`, comparison.value]
  }
}

/**
 * Number of comparisons on a path. An empty `or` counts as a comparison of _id, because
 * `filterJson` writes it as one.
 */
function count(filter: Filter, path: string): number {
  if (filter.kind !== 'and' && filter.kind !== 'or')
    return filter.path.text === path ? 1 : 0
  const own = filter.kind === 'or' && filter.of.length === 0 && path === '_id' ? 1 : 0
  return filter.of.reduce((sum, part) => sum + count(part, path), own)
}

function hasIdInOr(filter: Filter): boolean {
  if (filter.kind !== 'and' && filter.kind !== 'or') return false
  const isId = (part: Filter) => count(part, '_id') > 0
  return (filter.kind === 'or' && filter.of.some(isId)) || filter.of.some(hasIdInOr)
}
