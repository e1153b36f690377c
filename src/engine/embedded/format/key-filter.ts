/**
 * Translates conditions on columns of the primary key into conditions on the row id.
 *
 * The id is a text in the order of the key (key-text.ts), so ids with equal first columns have a
 * common prefix, and a range on the next column is a range of ids. In a descending column greater
 * values have lesser texts, which swaps the bounds.
 */
import type { ColumnValue } from '../../../language/columns/column.ts'
import type {
  KeyCondition,
  KeyConditions,
} from '../../../language/columns/key-conditions.ts'
import type { Filter } from '../../../language/filters/filter.ts'
import { idPath } from '../../../language/values/record-id.ts'
import { endOfPrefix, keyText } from '../schema/key-text.ts'
import type { KeyColumn, RowView } from './row-view.ts'

type KeyView = Pick<RowView, 'key' | 'table'>

/** Maximum parts of a filter. A filter with more parts is slower than checking rows one by one. */
const partsMax = 1000

/**
 * The equivalent filter on _id. Undefined when the conditions do not cover all partition columns
 * followed by a prefix of the sort columns, or the filter would have too many parts.
 */
export function idFilter(view: KeyView, conditions: KeyConditions): Filter | undefined {
  const all = idParts(view, conditions)
  if (all === undefined) return undefined
  const parts: IdPart[] = []
  for (const part of all) {
    if (parts.length === partsMax) return undefined
    parts.push(part)
  }
  return filterOf(parts)
}

/**
 * The conditions that a filter on _id can express: the conditions on all partition columns, and on
 * sort columns up to and including the first column without equality. Undefined when a partition
 * column has no equality.
 */
export function keyPrefix(
  { table, key }: KeyView,
  conditions: KeyConditions,
): KeyConditions | undefined {
  const partitionSize = table.definition.partitionBy.length
  const prefix = new Map<string, KeyCondition>()
  for (const [position, { column }] of key.entries()) {
    const condition = conditions.get(column.name)
    if (position < partitionSize && condition?.eq === undefined) return undefined
    if (condition === undefined) break
    prefix.set(column.name, condition)
    if (condition.eq === undefined) break
  }
  return prefix
}

/** One id, or a range of ids. */
export type IdPart =
  | { readonly kind: 'one'; readonly id: string }
  /** Includes `from`, excludes `to`. */
  | { readonly kind: 'range'; readonly from: string; readonly to: string }

/** The parts of the filter on _id, one per combination of values. There may be millions. */
export function idParts(
  view: KeyView,
  conditions: KeyConditions,
): Iterable<IdPart> | undefined {
  const prefix = keyPrefix(view, conditions)
  if (prefix === undefined || prefix.size < conditions.size) return undefined
  return partsBelow('', view.key, prefix)
}

function* partsBelow(
  text: string,
  [column, ...below]: readonly KeyColumn[],
  conditions: KeyConditions,
): Generator<IdPart> {
  if (column === undefined) {
    yield { kind: 'one', id: text }
    return
  }
  const condition = conditions.get(column.column.name)
  if (condition?.eq === undefined) {
    yield rangeBelow(text, column, condition ?? {})
    return
  }
  const texts = condition.eq.map((value) => text + textOf(value, column))
  for (const longer of new Set(texts)) yield* partsBelow(longer, below, conditions)
}

function rangeBelow(text: string, column: KeyColumn, { low, high }: KeyCondition): IdPart {
  const [first, last] = column.direction === 1 ? [low, high] : [high, low]
  const from = first && text + textOf(first.value, column)
  const to = last && text + textOf(last.value, column)
  return {
    kind: 'range',
    from: from === undefined ? text : first!.inclusive ? from : endOfPrefix(from),
    to: to === undefined ? endOfPrefix(text) : last!.inclusive ? endOfPrefix(to) : to,
  }
}

function textOf(value: ColumnValue, { direction, toComparable }: KeyColumn): string {
  return keyText([{ value: toComparable(value), direction }])
}

/** A filter that matches the ids of all parts. */
function filterOf(parts: readonly IdPart[]): Filter {
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
