/**
 * Keeps vectors from an index that cannot compare them: zero vectors if the metric is cosine, and
 * vectors whose numbers are too large for any metric. A node rejects such a vector only after it
 * has logged the write; the node then fails repeatedly and may not start again. Requests with such
 * vectors are rejected before they reach the engine. This check covers other writes: migrations,
 * and updates of documents that other software has stored.
 */
import { findVectorProblem } from '../../../language/values/vector.ts'
import type { Metric } from '../../../search/vector/similarity.ts'
import type { RowMerge } from '../../contract.ts'
import { EngineError } from '../../errors.ts'
import type { Table, TableDefinition, TableVectorIndex } from '../../schema.ts'

/** Whether nodes can index the vector. */
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

/**
 * The problem that keeps the vector out of the index, if any. The vector is checked as nodes
 * receive it, in 32-bit floats.
 */
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

/** Whether the row has a vector that some vector index cannot store. */
export function mayBreakIndex({ values }: RowMerge): boolean {
  return values
    .values()
    .some((value) => value instanceof Float32Array && !isComparable(value, 'cosine'))
}
