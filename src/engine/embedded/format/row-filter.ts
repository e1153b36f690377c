/**
 * Translates filters of rows into filters of records: columns become comparable values under their
 * paths, and conditions on the start of the primary key become conditions on _id.
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
import { isLogical, requirementsOf } from '../../../language/filters/filter-clause.ts'
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
      (part) => isLogical(part) || !served?.columns.has(part.column.name) || !isOnKey(part),
    )
    .map((part) => comparableFilter(part, view))
  if (served !== undefined) parts.unshift(served.filter)
  if (parts.length === 0) return everything
  return parts.length === 1 ? parts[0]! : { kind: 'and', of: parts }
}

/** The row id, when the filter consists of one equality per column of the key. */
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

/** The part of a filter that a filter on _id can express, and the columns of that part. */
function servedByKey(
  filter: RowFilter,
  view: RowView,
): { readonly filter: Filter; readonly columns: KeyConditions } | undefined {
  const prefix = keyPrefix(view, keyConditionsOf(filter, view))
  if (prefix === undefined) return undefined
  const columns = new Map(prefix)
  // Each round drops the last column: fewer columns have fewer combinations of values.
  while (columns.size >= view.table.definition.partitionBy.length) {
    const onId = idFilter(view, columns)
    if (onId !== undefined) return { filter: onId, columns }
    columns.delete([...columns.keys()].at(-1)!)
  }
  return undefined
}

/** Conditions that a filter puts on the columns of the primary key. */
function keyConditionsOf(filter: RowFilter, { key, types }: RowView): KeyConditions {
  const columns = key.map(({ column }) => column)
  return keyConditionsIn(filter, columns, types)
}

/** Whether a condition on a key column can be translated to the id. */
function isOnKey(condition: RowCondition): boolean {
  return condition.kind !== 'match' && keyCondition(condition.kind, []) !== undefined
}
