/**
 * Stored form of a vector: a form number, and little-endian floats, in single precision when that
 * represents the sent numbers exactly.
 */
import assert from 'node:assert/strict'
import type { Vector } from '../../contract.ts'

export const vectorForm = {
  absent: 0,
  null: 1,
  arrayOfSingles: 2,
  arrayOfDoubles: 3,
  binary: 4,
} as const

export interface VectorBytes {
  readonly form: number
  readonly bytes: Uint8Array | null
}

export function encodeVector(vector: Vector | null | undefined): VectorBytes {
  if (vector === undefined) return { form: vectorForm.absent, bytes: null }
  if (vector === null) return { form: vectorForm.null, bytes: null }
  const { numbers, form } = vector
  if (form === 'binary' || numbers instanceof Float32Array) {
    const singles = Float32Array.from(numbers)
    const code = form === 'binary' ? vectorForm.binary : vectorForm.arrayOfSingles
    return { form: code, bytes: new Uint8Array(singles.buffer) }
  }
  if (numbers.every((number) => Math.fround(number) === number))
    return {
      form: vectorForm.arrayOfSingles,
      bytes: new Uint8Array(Float32Array.from(numbers).buffer),
    }
  return {
    form: vectorForm.arrayOfDoubles,
    bytes: new Uint8Array(Float64Array.from(numbers).buffer),
  }
}

export function decodeVector({ form, bytes }: VectorBytes): Vector | null | undefined {
  if (form === vectorForm.absent) return undefined
  if (form === vectorForm.null) return null
  assert(bytes !== null, 'a stored vector has bytes')
  // Bytes from SQLite may start at any offset; typed arrays need an aligned offset.
  const { buffer } = bytes.slice()
  return {
    numbers:
      form === vectorForm.arrayOfDoubles
        ? new Float64Array(buffer)
        : new Float32Array(buffer),
    form: form === vectorForm.binary ? 'binary' : 'array',
  }
}

/** The numbers of a stored vector, converted to single precision, which searches use. */
export function singlesOf(form: number, bytes: Uint8Array): Float32Array {
  const { numbers } = decodeVector({ form, bytes })!
  return numbers instanceof Float32Array ? numbers : Float32Array.from(numbers)
}
