/** Vectors as requests write them: an Array of numbers, or Base64 of big-endian floats. */
import { apiError } from '../../errors/api-error.ts'
import { extendedOf } from '../../json/extended.ts'
import { isDecimal, jsonTypeOf, type Value } from '../../json/value.ts'
import { fixedLimits } from '../../limits.ts'
import { quoteWithType } from './quote-json.ts'

const { vectorMagnitudeMax } = fixedLimits

export interface VectorRules {
  readonly dimension: number
  readonly metric: string
  /** The collection, as messages name it. */
  readonly target: string
  /** What messages call the vector, if not $vector. */
  readonly field?: string
}

/** Narrows an Array to the floats that are searched. `field` is where it was sent. */
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

/** The floats of "$binary", where a document or a hybrid sort has it. */
export function readBinaryNumbers(binary: Value): Float32Array {
  const numbers =
    typeof binary === 'string'
      ? decodeBinaryVector(binary)
      : { problem: `is of type ${jsonTypeOf(binary)}` }
  if ('problem' in numbers)
    throw apiError('SHRED_BAD_BINARY_VECTOR_VALUE', { problem: numbers.problem })
  return numbers
}

/** Returns the reason when the text holds no floats; it reads on from "$binary". */
export function decodeBinaryVector(
  base64: string,
): Float32Array | { readonly problem: string } {
  if (extendedOf(new Map([['$binary', base64]]))?.kind !== 'binary')
    return { problem: 'is not padded standard Base64' }
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.length === 0) return { problem: 'holds no numbers' }
  if (bytes.length % 4 !== 0)
    return { problem: `holds ${bytes.length} bytes, which is not a multiple of 4` }
  const numbers = new Float32Array(bytes.length / 4)
  for (let i = 0; i < numbers.length; i++) numbers[i] = bytes.readFloatBE(i * 4)
  return numbers
}

const { zeroVectorMax } = fixedLimits

function isZeroVector(numbers: Float32Array): boolean {
  return numbers.every((x) => Math.abs(x) <= zeroVectorMax)
}

/** Refuses a vector that the collection cannot store or be searched with. */
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

/** Why a vector cannot be compared by this metric. */
export function findVectorProblem(
  numbers: Float32Array,
  metric: string,
): string | undefined {
  const position = numbers.findIndex((x) => !(Math.abs(x) <= vectorMagnitudeMax))
  if (position >= 0)
    return (
      `element ${position} of the vector is ${numbers[position]!}, and numbers must be finite ` +
      `and within ±${vectorMagnitudeMax.toExponential()}`
    )
  if (metric === 'cosine' && isZeroVector(numbers))
    return (
      `all ${numbers.length} numbers are within ±${zeroVectorMax}, and with the metric cosine a ` +
      'vector cannot be zero, which has no direction'
    )
  return undefined
}
