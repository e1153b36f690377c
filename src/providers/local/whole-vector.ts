/** Combines token vectors into the vector of a text. */
import type { EncodedText, Pooling } from './token-model.ts'

/** Pools token vectors into one vector of length 1. */
export function wholeVector(
  { numbers, dimension }: EncodedText,
  pooling: Pooling,
): Float32Array {
  if (pooling === 'first') return scaleToUnit(numbers.slice(0, dimension))
  const sum = new Float32Array(dimension)
  for (let start = 0; start < numbers.length; start += dimension)
    for (let i = 0; i < dimension; i++) sum[i]! += numbers[start + i]!
  return scaleToUnit(sum)
}

/** Scales the vector to length 1 in place, and returns it. */
export function scaleToUnit(vector: Float32Array): Float32Array {
  const length = Math.sqrt(dot(vector, 0, vector, 0, vector.length))
  for (let i = 0; i < vector.length; i++) vector[i]! /= length
  return vector
}

/** Dot product of `count` numbers of `a` and `b`, each from its own start. */
export function dot(
  a: Float32Array,
  aStart: number,
  b: Float32Array,
  bStart: number,
  count: number,
): number {
  let sum = 0
  for (let i = 0; i < count; i++) sum += a[aStart + i]! * b[bStart + i]!
  return sum
}
