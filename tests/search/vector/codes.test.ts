import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { centerOf, codeBits } from '../../../src/search/vector/code-width.ts'
import { capacityFor, Segment } from '../../../src/search/vector/segment.ts'
import { distanceFrom, type Metric } from '../../../src/search/vector/similarity.ts'
import { vectorsFrom } from './vectors.ts'

const seed = Number(process.env['SEED'] ?? 1119)
const metrics = ['cosine', 'dot_product', 'euclidean'] as const

/**
 * Largest root mean square of errors of products, relative to the lengths of both vectors and to
 * the square root of the dimension. The values for 1, 2 and 4 bits follow from the error of
 * rounding normally distributed numbers: 0.76, 0.37 and 0.11.
 */
const errorMax = { 1: 0.85, 2: 0.45, 4: 0.15 } as const

function lengthOf(vector: Float32Array): number {
  return Math.hypot(...vector)
}

/** The vector relative to the center, as codes of this metric see it. */
function residual(metric: Metric, vector: Float32Array, center: Float32Array) {
  const scale = metric === 'cosine' ? 1 / lengthOf(vector) : 1
  return vector.map((number, i) => number * scale - center[i]!)
}

describe(`distances of short codes (seed ${seed})`, () => {
  for (const metric of metrics)
    for (const bits of [1, 2, 4] as const)
      for (const dimension of [100, 384, 768])
        test(`have a bounded error: ${bits} bits, ${dimension} dimensions, by ${metric}`, () => {
          const make = vectorsFrom(seed, dimension, {
            lengths: metric === 'cosine' ? 0 : 2,
          })
          const vectors = Array.from({ length: 203 }, make)
          const center = centerOf(vectors, metric, dimension)
          const shape = { dimension, metric, bits, capacity: 500, breadth: 64, threads: 1 }
          const segment = Segment.create(shape, center)
          for (const [i, vector] of vectors.entries()) segment.add(i + 1, vector)
          const perDistance = metric === 'euclidean' ? 2 : 1
          let errors = 0
          let squares = 0
          let count = 0
          for (const query of Array.from({ length: 20 }, make)) {
            const distanceOf = distanceFrom(metric, query)
            const queryLength = lengthOf(residual(metric, query, center))
            const found = segment.scanAll(query, vectors.length)
            assert.equal(found.length, 2 * vectors.length)
            for (let i = 0; i < found.length; i += 2) {
              const vector = vectors[found[i]! - 1]!
              const size = queryLength * lengthOf(residual(metric, vector, center))
              const error =
                ((found[i + 1]! - distanceOf(vector)) / perDistance / size) *
                Math.sqrt(dimension)
              errors += error
              squares += error * error
              count++
            }
          }
          const spread = Math.sqrt(squares / count)
          assert(spread < errorMax[bits], `error ${spread}`)
          assert(Math.abs(errors / count) < 0.15 * errorMax[bits], `bias ${errors / count}`)
        })

  for (const bits of [1, 2, 4, 8] as const)
    test(`are the same for one code as for many: ${bits} bits`, () => {
      const make = vectorsFrom(seed, 200)
      const shape = { dimension: 200, metric: 'euclidean', bits, capacity: 100 } as const
      const segment = Segment.create({ ...shape, breadth: 64, threads: 1 }, make())
      for (let document = 1; document <= 50; document++) segment.add(document, make())
      const query = make()
      const found = segment.scanAll(query, 50)
      for (let i = 0; i < found.length; i += 2) {
        const [document, distance] = segment.scan(query, 1, found.subarray(i, i + 1))
        assert.deepEqual([document, distance], [found[i], found[i + 1]])
      }
    })

  test('are finite for equal vectors, the center and zeros', () => {
    for (const metric of metrics)
      for (const bits of [1, 2, 4] as const) {
        const center = Float32Array.from({ length: 64 }, () => 1 / 8)
        const shape = {
          dimension: 64,
          metric,
          bits,
          capacity: 100,
          breadth: 64,
          threads: 1,
        }
        const segment = Segment.create(shape, center)
        const zeros = new Float32Array(64)
        const vectors = [center, center, zeros, zeros]
        for (const [i, vector] of vectors.entries()) segment.add(i + 1, vector)
        while (segment.linkNext());
        for (const query of vectors) {
          const found = segment.search(query, 10)
          assert.equal(found.length, 8)
          assert(found.every(Number.isFinite), `${metric} ${bits} ${found.join(' ')}`)
        }
      }
  })
})

describe('the memory of an index', () => {
  const size = (bits: 1 | 2 | 8) => {
    const make = vectorsFrom(seed, 768)
    const shape = { dimension: 768, metric: 'cosine', bits, capacity: 4096 } as const
    const segment = Segment.create({ ...shape, breadth: 16, threads: 1 }, make())
    for (let document = 1; document <= 1000; document++) segment.add(document, make())
    while (segment.linkNext());
    return segment.size / 1000
  }

  test('is at most 260, 500 and 980 bytes for 768 numbers', () => {
    assert(size(1) <= 260)
    assert(size(2) <= 500)
    assert(size(8) <= 980)
  })

  test('is that of the narrowest codes that the dimension permits', () => {
    const widths = (memory: 'low' | 'balanced' | 'fast') =>
      [8, 32, 64, 128, 384, 512, 1536].map((dimension) => codeBits(memory, dimension))
    assert.deepEqual(widths('low'), [8, 4, 4, 2, 2, 1, 1])
    assert.deepEqual(widths('balanced'), [8, 8, 4, 4, 4, 2, 2])
    assert.deepEqual(widths('fast'), [8, 8, 8, 8, 8, 8, 8])
  })

  test('fits into one WebAssembly memory at every width', () => {
    for (const dimension of [1, 100, 768, 4096])
      for (const bits of [1, 2, 4, 8] as const) {
        const capacity = capacityFor(dimension, bits)
        const shape = { dimension, metric: 'cosine', bits, capacity, breadth: 8 } as const
        const segment = Segment.create({ ...shape, threads: 9 })
        segment.add(1, new Float32Array(dimension).fill(1))
        const used = segment.memory.buffer.byteLength
        assert(used + capacity * segment.size <= 2 ** 32, `${dimension} ${bits}`)
      }
  })
})
