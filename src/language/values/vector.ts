/** Vectors in requests: an array of numbers, or Base64 of big-endian 32-bit floats. */
import { apiError } from '../../errors/api-error.ts'
import { extendedOf } from '../../json/extended.ts'
import { isDecimal, jsonTypeOf, type Value } from '../../json/value.ts'
import { fixedLimits } from '../../limits.ts'
import { quoteWithType } from './quote-json.ts'

const { vectorMagnitudeMax } = fixedLimits

export interface VectorRules {
  readonly dimension: number
  readonly metric: string
  /** Name of the collection in messages. */
  readonly target: string
  /** Name of the vector in messages; default $vector. */
  readonly field?: string
}

/**
 * Converts an array to the floats that are searched. `field` is the name of the array in errors.
 */
export function readVectorNumbers(
  values: readonly Value[],
  field = '$vector',
): Float32Array {
  if (values.length === 0) throw apiError('SHRED_BAD_VECTOR_SIZE', { field })
  const numbers = new Float32Array(values.length)
  for (const [position, value] of values.entries()) {
    if (typeof value === 'number') numbers[position] = value
    else if (isDecimal(value)) numbers[position] = Number(value.decimal)
    else
      throw apiError('SHRED_BAD_VECTOR_VALUE', {
        field,
        problem: `element ${position} is ${quoteWithType(value)}, not a number`,
      })
  }
  return numbers
}

/** Reads the floats of "$binary" in a document or a hybrid sort. */
export function readBinaryNumbers(binary: Value): Float32Array {
  const numbers =
    typeof binary === 'string'
      ? decodeBinaryVector(binary)
      : { problem: `is of type ${jsonTypeOf(binary)}` }
  if ('problem' in numbers)
    throw apiError('SHRED_BAD_BINARY_VECTOR_VALUE', { problem: numbers.problem })
  return numbers
}

/**
 * Decodes the floats. If the text is invalid, returns the problem, as the end of a sentence about
 * "$binary".
 */
export function decodeBinaryVector(
  base64: string,
): Float32Array | { readonly problem: string } {
  if (extendedOf(new Map([['$binary', base64]]))?.kind !== 'binary')
    return { problem: 'is not padded standard Base64' }
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.length === 0) return { problem: 'contains no numbers' }
  if (bytes.length % 4 !== 0)
    return { problem: `has ${bytes.length} bytes, which is not a multiple of 4` }
  const numbers = new Float32Array(bytes.length / 4)
  for (let i = 0; i < numbers.length; i++) numbers[i] = bytes.readFloatBE(i * 4)
  return numbers
}

const { zeroVectorMax } = fixedLimits

function isZeroVector(numbers: Float32Array): boolean {
  return numbers.every((x) => Math.abs(x) <= zeroVectorMax)
}

/** Throws if the collection cannot store the vector or search with it. */
export function checkVector(numbers: Float32Array, rules: VectorRules): void {
  const { dimension, metric, target, field = '$vector' } = rules
  if (numbers.length !== dimension)
    throw apiError('INVALID_VECTOR_LENGTH', {
      target,
      expected: dimension,
      actual: numbers.length,
    })
  const problem = findVectorProblem(numbers, metric)
  if (problem !== undefined) throw apiError('SHRED_BAD_VECTOR_VALUE', { field, problem })
}

/** The reason why the metric cannot compare the vector; undefined if it can. */
export function findVectorProblem(
  numbers: Float32Array,
  metric: string,
): string | undefined {
  const position = numbers.findIndex((x) => !(Math.abs(x) <= vectorMagnitudeMax))
  if (position >= 0)
    return (
      `element ${position} of the vector is ${numbers[position]!}, but numbers must be ` +
      `finite and within ±${vectorMagnitudeMax.toExponential()}`
    )
  if (metric === 'cosine' && isZeroVector(numbers))
    return (
      `all ${numbers.length} numbers are within ±${zeroVectorMax}, but with the metric ` +
      'cosine a vector cannot be zero, because it has no direction'
    )
  return undefined
}
