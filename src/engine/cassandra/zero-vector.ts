/**
 * A vector without a direction must not reach an index by cosine. Nodes refuse it when they
 * have noted the write already, then fail again and again, and may not start any more. What
 * sends requests is refused above; this is for whatever else is written, such as a migration.
 */
import { isZeroVector } from '../../language/values/vector.ts'
import type { Metric } from '../../search/vector/similarity.ts'
import type { RowMerge } from '../contract.ts'
import { EngineError } from '../errors.ts'
import type { Table, TableDefinition, TableVectorIndex } from '../schema.ts'

/** Whether nodes can compare it. */
export function isComparable(
  numbers: Float32Array | Float64Array,
  metric: Metric,
): boolean {
  return metric !== 'cosine' || !isZeroVector(numbers)
}

export function checkDirection(
  numbers: Float32Array | Float64Array,
  metric: Metric,
  field: string,
): void {
  if (!isComparable(numbers, metric))
    throw new EngineError(
      'unsupported',
      `${field} holds a zero vector, which cannot be compared by cosine`,
    )
}

export function checkDirections({ definition }: Table, { values }: RowMerge): void {
  for (const [{ name }, value] of values) {
    if (!(value instanceof Float32Array)) continue
    const index = vectorIndexOn(definition, name)
    if (index !== undefined) checkDirection(value, index.metric, name)
  }
}

export function vectorIndexOn(
  { indexes }: TableDefinition,
  column: string,
): TableVectorIndex | undefined {
  return indexes.find(
    (index): index is TableVectorIndex =>
      index.kind === 'vector' && index.column === column,
  )
}

/** Such a row is written only where its table has no index that it could break. */
export function hasZeroVector({ values }: RowMerge): boolean {
  return values
    .values()
    .some((value) => value instanceof Float32Array && isZeroVector(value))
}
