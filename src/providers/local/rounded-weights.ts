/**
 * Quantizes weights: each column is a scale times integers from -63 to 63. The integers have only 7
 * bits, because x64 processors without VNNI add pairs of products in 16 bits, which would overflow
 * with 8-bit integers.
 */
import { closeSync, openSync, readSync } from 'node:fs'
import type { Tensor } from './safetensors.ts'

export interface RoundedWeights {
  /** One row per input. */
  readonly numbers: Int8Array
  /** Scale of each output. */
  readonly scales: Float32Array
}

/** Joins the columns of several tensors. In the file, a tensor has one row per output. */
export function roundWeights(path: string, tensors: readonly Tensor[]): RoundedWeights {
  const inputs = tensors[0]!.shape[1]!
  const outputs = tensors.reduce((sum, { shape }) => sum + shape[0]!, 0)
  const numbers = new Int8Array(inputs * outputs)
  const scales = new Float32Array(outputs)
  let output = 0
  for (const tensor of tensors) {
    const weights = readHalves(path, tensor)
    for (let start = 0; start < weights.length; start += inputs) {
      let greatest = 0
      for (let i = 0; i < inputs; i++)
        greatest = Math.max(greatest, Math.abs(weights[start + i]!))
      // A column of zeros needs a nonzero scale to avoid a division by zero.
      const scale = greatest / numberMax || 1
      scales[output] = scale
      for (let i = 0; i < inputs; i++)
        numbers[i * outputs + output] = Math.round(weights[start + i]! / scale)
      output++
    }
  }
  return { numbers, scales }
}

const numberMax = 63

function readHalves(path: string, { offset, size }: Tensor): Float32Array {
  const bytes = new Uint8Array(size)
  const file = openSync(path, 'r')
  try {
    readSync(file, bytes, 0, size, offset)
  } finally {
    closeSync(file)
  }
  return new Float32Array(new Float16Array(bytes.buffer))
}
