/**
 * Filters of rows as filters of records: columns become what they compare by, under their
 * paths, and what is said about the start of the primary key is said about _id.
 */
import { comparableFilter } from '../../../language/columns/comparable-filter.ts'
import {
  keyCondition,
  keyConditionsIn,
  type KeyConditions,
} from '../../../language/columns/key-conditions.ts'
import type {
  RowComparison,
  RowCondition,
  RowFilter,
} from '../../../language/columns/row-filter.ts'
import { isJoint, requirementsOf } from '../../../language/filters/filter-clause.ts'
import { everything, type Filter } from '../../../language/filters/filter.ts'
import { idPath } from '../../../language/values/record-id.ts'
import { idFilter, keyPrefix } from './key-filter.ts'
import { keyText, type KeyPart } from '../schema/key-text.ts'
import type { RowView } from './row-view.ts'

export function recordFilter(given: RowFilter, view: RowView): Filter {
  const filter = view.fieldKeys.storedFilter(given)
  const requirements = requirementsOf(filter)
  const id = idOfOneRow(requirements, view)
  if (id !== undefined) return { kind: 'eq', path: idPath, value: id }
  const served = servedByKey(filter, view)
  const parts = requirements
    .filter(
      (part) => isJoint(part) || !served?.columns.has(part.column.name) || !isOnKey(part),
    )
    .map((part) => comparableFilter(part, view))
  if (served !== undefined) parts.unshift(served.filter)
  if (parts.length === 0) return everything
  return parts.length === 1 ? parts[0]! : { kind: 'and', of: parts }
}

/** The id, where a value of each column of the key is asked for, and nothing else. */
function idOfOneRow(
  requirements: readonly RowFilter[],
  { key }: RowView,
): string | undefined {
  if (requirements.length !== key.length) return undefined
  const parts: KeyPart[] = []
  for (const { column, direction, toComparable } of key) {
    const required = requirements.find(
      (one) => one.kind === 'eq' && one.column.name === column.name,
    ) as RowComparison | undefined
    if (required === undefined) return undefined
    parts.push({ value: toComparable(required.operands[0]!), direction })
  }
  return keyText(parts)
}

/** What a filter on _id can say of a filter, and the columns that this is about. */
function servedByKey(
  filter: RowFilter,
  view: RowView,
): { readonly filter: Filter; readonly columns: KeyConditions } | undefined {
  const prefix = keyPrefix(view, keyConditionsOf(filter, view))
  if (prefix === undefined) return undefined
  const columns = new Map(prefix)
  // With fewer columns there are fewer ways to take a value of each.
  while (columns.size >= view.table.definition.partitionBy.length) {
    const onId = idFilter(view, columns)
    if (onId !== undefined) return { filter: onId, columns }
    columns.delete([...columns.keys()].at(-1)!)
  }
  return undefined
}

/** What a filter requires of the columns of the primary key. */
function keyConditionsOf(filter: RowFilter, { key, types }: RowView): KeyConditions {
  const columns = key.map(({ column }) => column)
  return keyConditionsIn(filter, columns, types)
}

/** Whether it can be said of an id, if the column is of the key. */
function isOnKey(condition: RowCondition): boolean {
  return condition.kind !== 'match' && keyCondition(condition.kind, []) !== undefined
}
