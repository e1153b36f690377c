/**
 * What is said about the columns of a primary key, said about the id of rows.
 *
 * The id is a text in the order of the key (key-text.ts), so equality on the first columns is
 * a prefix of it, and a range on the next column a range of ids. In a column that sorts
 * descending greater values have lesser texts, which swaps the bounds.
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

/** Filters with more parts than this are slower than looking at rows one by one. */
const partsMax = 1000

/**
 * The filter on _id that says the same, or undefined when the conditions do not name whole
 * partitions and then a prefix of the sort, or name too many.
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
 * As many of the conditions as a filter on _id can say: those on all partition columns and
 * then on columns of the sort up to the first that is not given by equality. Undefined when
 * a partition column is not.
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

/** Ids that share what the conditions say: all with a prefix, a range of those, or one. */
export type IdPart =
  | { readonly kind: 'one'; readonly id: string }
  /** From the first text, up to but without the second. */
  | { readonly kind: 'range'; readonly from: string; readonly to: string }

/** The same in parts, of which there may be very many: one for each way to take values. */
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

/** Matches what is in any of the parts. */
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
