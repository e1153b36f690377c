/** The id ranges that contain all rows to delete, and the filter for the rows in them. */
import { comparableFilter } from '../../../language/columns/comparable-filter.ts'
import { keyFilter, type KeyConditions } from '../../../language/columns/key-conditions.ts'
import { everything, type Filter } from '../../../language/filters/filter.ts'
import { keyOf } from '../../../language/values/key.ts'
import type { IdRange } from './write-batch.ts'
import { idParts } from '../format/key-filter.ts'
import { endOfPrefix } from '../schema/key-text.ts'
import type { RowView } from '../format/row-view.ts'

/** Maximum number of ranges to look up. Beyond it, fewer and wider ranges are scanned. */
const rangesMax = 10_000

/** Ranges per message. */
const groupSize = 1_000

export interface DeletedRanges {
  readonly groups: Iterable<readonly IdRange[]>
  readonly filter: Filter
}

export function deletedRanges(conditions: KeyConditions, view: RowView): DeletedRanges {
  const named = new Map(conditions)
  const partitionSize = view.table.definition.partitionBy.length
  while (countRanges(named) > rangesMax && named.size > partitionSize)
    named.delete([...named.keys()].at(-1)!)
  const areFew = countRanges(named) <= rangesMax
  return {
    groups: areFew ? groupsOf(rangesOf(named, view)) : [[allIds]],
    filter: areFew && named.size === conditions.size ? everything : all(conditions, view),
  }
}

const allIds: IdRange = { from: keyOf(''), to: keyOf([]) }

/** Number of combinations of the columns' values. */
function countRanges(conditions: KeyConditions): number {
  return conditions.values().reduce((ways, { eq }) => ways * (eq?.length ?? 1), 1)
}

function* rangesOf(conditions: KeyConditions, view: RowView): Generator<IdRange> {
  for (const part of idParts(view, conditions)!)
    yield part.kind === 'one'
      ? { from: keyOf(part.id), to: keyOf(endOfPrefix(part.id)) }
      : { from: keyOf(part.from), to: keyOf(part.to) }
}

function* groupsOf(ranges: Iterable<IdRange>): Generator<readonly IdRange[]> {
  let group: IdRange[] = []
  for (const range of ranges) {
    if (group.length === groupSize) {
      yield group
      group = []
    }
    group.push(range)
  }
  if (group.length > 0) yield group
}

function all(conditions: KeyConditions, view: RowView): Filter {
  const key = view.key.map(({ column }) => column)
  return comparableFilter(keyFilter(conditions, key), view)
}
