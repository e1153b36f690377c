/**
 * A vector that an index cannot compare must not reach it: one without a direction by cosine, and
 * one of numbers that are too large by any metric. Nodes refuse it when they have noted the write
 * already, then fail again and again, and may not start any more. What requests send is refused
 * above; this is for whatever else is written: by a migration, or by the change of a document that
 * others have stored.
 */
import { findVectorProblem } from '../../../language/values/vector.ts'
import type { Metric } from '../../../search/vector/similarity.ts'
import type { RowMerge } from '../../contract.ts'
import { EngineError } from '../../errors.ts'
import type { Table, TableDefinition, TableVectorIndex } from '../../schema.ts'

/** Whether nodes can compare it. */
export function isComparable(
  numbers: Float32Array | Float64Array,
  metric: Metric,
): boolean {
  return problemOf(numbers, metric) === undefined
}

export function checkComparable(
  numbers: Float32Array | Float64Array,
  metric: Metric,
  field: string,
): void {
  const problem = problemOf(numbers, metric)
  if (problem !== undefined)
    throw new EngineError('unsupported', `${field} cannot be indexed: ${problem}`)
}

/** As nodes get it, in 32 bits. */
function problemOf(
  numbers: Float32Array | Float64Array,
  metric: Metric,
): string | undefined {
  const narrow = numbers instanceof Float32Array ? numbers : Float32Array.from(numbers)
  return findVectorProblem(narrow, metric)
}

export function checkRowComparable({ definition }: Table, { values }: RowMerge): void {
  for (const [{ name }, value] of values) {
    if (!(value instanceof Float32Array)) continue
    const index = vectorIndexOn(definition, name)
    if (index !== undefined) checkComparable(value, index.metric, name)
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
export function mayBreakIndex({ values }: RowMerge): boolean {
  return values
    .values()
    .some((value) => value instanceof Float32Array && !isComparable(value, 'cosine'))
}
