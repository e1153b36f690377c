/** Prints a plan in one line for logs and traces: names and counts, but no values of the query. */
import { counted } from '../../../errors/catalog-entry.ts'
import { flatten, type Filter } from '../../../language/filters/filter.ts'
import type { AccessPath } from './access-paths.ts'
import type { IndexCheck } from './checks.ts'
import type { Plan, ReadOrder } from './plan.ts'

/**
 * Maximum number of names in a list, and of characters in a name. Longer lines would be hard to
 * read.
 */
const namesMax = 8
const nameLengthMax = 80

export function printPlan(plan: Plan): string {
  const { check, document } = plan
  const indexed = namesIn(check)
  const checks = plan.intersects ? 'intersected with' : 'the index checks'
  const parts = [
    ...(indexed.length === 0 ? [] : [`${checks} ${listed(indexed)}`]),
    ...(document === undefined
      ? []
      : [`documents check ${listed(conditionsIn(document))}`]),
  ]
  return [walkOf(plan), ...parts].join('; ')
}

function walkOf({ access, order }: Plan): string {
  switch (order.by) {
    case 'path':
      return accessOf(access)
    case 'ids':
      return `${accessOf(access)}, in the order of ids`
    case 'memory':
      return access.kind === 'id'
        ? accessOf(access)
        : `${accessOf(access)}, sorted in memory by ${sortOf(order)}`
    case 'values': {
      const { keys, groupMax, without } = order
      const groups =
        keys.length > 1
          ? `documents of one value sorted by ${sortOf(order)}`
          : `up to ${groupMax} documents of one value sorted, more walked by _id`
      const lacking = without === 0 ? '' : `; ${counted(without, 'document')} without it`
      return `the index of ${shown(keys[0]!.path.text)} in its order, ${groups}${lacking}`
    }
  }
}

function accessOf(access: AccessPath): string {
  switch (access.kind) {
    case 'all':
      return 'all documents'
    case 'id':
      return 'one _id'
    case 'ids':
      return `${counted(access.ids.length, 'value')} of _id`
    case 'idRange':
      return `${counted(access.bounds.length, 'range')} of _id`
    case 'keys': {
      const { keys } = access
      const paths = listed(keys.map(({ pathText }) => pathText))
      return keys.length === 0
        ? 'nothing, because no document has the field'
        : `${counted(keys.length, 'value')} in the index of ${paths}`
    }
    case 'terms':
      return `${counted(access.terms.length, 'term')} in the index of ${shown(access.path)}`
    case 'range':
      return `a range in the index of ${shown(access.range.pathText)}`
  }
}

function sortOf({ keys }: Exclude<ReadOrder, { by: 'path' }>): string {
  return listed(keys.map(({ path }) => path.text))
}

/** Paths and fields that a check looks up in the index. */
function namesIn(check: IndexCheck): string[] {
  switch (check.kind) {
    case 'and':
    case 'or':
      return check.of.flatMap(namesIn)
    case 'not':
      return namesIn(check.of)
    case 'entry':
      return [check.pathText]
    case 'range':
      return [`${shown(check.range.pathText)} (a list of ${check.size})`]
    case 'ids':
    case 'idRange':
      return ['_id']
    case 'search':
      return [check.field]
    default:
      return []
  }
}

function conditionsIn(filter: Filter): string[] {
  return flatten(filter).map((part) =>
    part.kind === 'or'
      ? `one of ${part.of.length}`
      : `${shown(part.path.text)} ${part.kind}`,
  )
}

function listed(names: readonly string[]): string {
  const unique = [...new Set(names)].map(shown)
  const more = unique.length - namesMax
  return `${unique.slice(0, namesMax).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

function shown(name: string): string {
  return name.length <= nameLengthMax ? name : `${name.slice(0, nameLengthMax)}…`
}
