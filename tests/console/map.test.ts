/** Projections of vectors, compared with known data. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { eigenvectors } from '../../src/console/map/eigenvectors.ts'
import { colorBy } from '../../src/console/map/map-colors.ts'
import { nearestNeighbors } from '../../src/console/map/nearest-neighbors.ts'
import {
  coordinatesAlong,
  findComponents,
} from '../../src/console/map/principal-components.ts'
import { project, type Projection } from '../../src/console/map/project.ts'
import { seededRandom } from '../../src/console/map/random.ts'
import { blockSize, drawBlocks } from '../../src/console/map/sample-blocks.ts'

/** Points in groups around distant centers, group by group. */
function groupsOf(groups: number, each: number, dimension: number, seed = 1): Float32Array {
  const random = seededRandom(seed)
  const centers = Array.from({ length: groups }, () =>
    Array.from({ length: dimension }, () => (random() - 0.5) * 10),
  )
  const vectors = new Float32Array(groups * each * dimension)
  let at = 0
  for (const center of centers)
    for (let one = 0; one < each; one++)
      for (const middle of center) vectors[at++] = middle + (random() - 0.5)
  return vectors
}

function last(vectors: Float32Array, dimension: number, isCosine = false): Projection {
  let latest: Projection = { stage: 'pca', positions: new Float32Array(), progress: 0 }
  for (const projection of project({ vectors, dimension, isCosine, seed: 7 }))
    latest = projection
  return latest
}

/** Share of the points whose nearest neighbour is in their own group. */
function keptTogether(positions: Float32Array, each: number): number {
  const rows = positions.length / 2
  const nearest = nearestNeighbors({ data: positions, rows, columns: 2 }, 1)
  let kept = 0
  nearest.rows.forEach((other, row) => {
    if (Math.floor(other / each) === Math.floor(row / each)) kept++
  })
  return kept / rows
}

describe('principal components', () => {
  test('recover the coordinates of known data', () => {
    // Points in ten dimensions. They vary most along (1, 1, 0, …), and second most along
    // (0, 0, 1, -1, 0, …).
    const rows = 400
    const data = new Float32Array(rows * 10)
    const random = seededRandom(3)
    const known: [number, number][] = []
    for (let row = 0; row < rows; row++) {
      const [long, short] = [(random() - 0.5) * 20, (random() - 0.5) * 6]
      known.push([long, short])
      const from = row * 10
      data.set([long / Math.SQRT2 + 5, long / Math.SQRT2 - 3], from)
      data.set([short / Math.SQRT2, -short / Math.SQRT2 + 1], from + 2)
      for (let column = 4; column < 10; column++) data[from + column] = random() * 0.01
    }
    const vectors = { data, rows, columns: 10 }
    const components = findComponents(vectors, 2, seededRandom(1))
    const found = coordinatesAlong(vectors, components, 2).data
    for (const axis of [0, 1] as const) {
      const mean = known.reduce((sum, pair) => sum + pair[axis], 0) / rows
      const sign = Math.sign(found[axis]! * (known[0]![axis] - mean))
      known.forEach((pair, row) =>
        assert(Math.abs(found[2 * row + axis]! * sign - (pair[axis] - mean)) < 0.15),
      )
    }
  })

  test('use eigenvectors in descending order of eigenvalue', () => {
    const [first, second] = eigenvectors([
      [2, 1],
      [1, 2],
    ])
    assert(Math.abs(Math.abs(first![0]!) - Math.SQRT1_2) < 1e-9)
    assert(Math.abs(first![0]! - first![1]!) < 1e-9)
    assert(Math.abs(second![0]! + second![1]!) < 1e-9)
  })
})

describe('a projection of vectors onto the map', () => {
  test('keeps separated groups apart', () => {
    const vectors = groupsOf(5, 60, 24)
    const { positions, stage, progress } = last(vectors, 24)
    assert.equal(stage, 'umap')
    assert.equal(progress, 1)
    assert(keptTogether(positions, 60) > 0.98)
  })

  test('keeps directions apart under a cosine metric, whatever the lengths', () => {
    const random = seededRandom(5)
    const directions = groupsOf(3, 40, 16, 9)
    for (let from = 0; from < directions.length; from += 16) {
      const length = 0.01 + random() * 100
      for (let at = from; at < from + 16; at++) directions[at]! *= length
    }
    assert(keptTogether(last(directions, 16, true).positions, 40) > 0.98)
  })

  test('starts with PCA, and its progress never decreases and ends at 1', () => {
    const stages: string[] = []
    let before = -1
    for (const { stage, progress } of project({
      vectors: groupsOf(2, 20, 8),
      dimension: 8,
      isCosine: false,
      seed: 1,
    })) {
      stages.push(stage)
      assert(progress >= before)
      before = progress
    }
    assert.equal(stages[0], 'pca')
    assert.equal(before, 1)
    assert(stages.length > 100)
  })

  test('is the same for the same seed', () => {
    const vectors = groupsOf(3, 20, 8)
    assert.deepEqual(last(vectors, 8).positions, last(vectors, 8).positions)
  })

  test('has a position for every point, even for few or equal points', () => {
    const cases: [string, Float32Array, number][] = [
      ['none', new Float32Array(), 4],
      ['no dimension', new Float32Array(), 0],
      ['one', Float32Array.of(1, 2, 3), 3],
      ['two', Float32Array.of(1, 2, 3, 4, 5, 6), 3],
      ['three', Float32Array.of(1, 2, 3, 4, 5, 6, 9, 9, 9), 3],
      ['three alike', Float32Array.of(1, 2, 1, 2, 1, 2), 2],
      ['fifty alike', new Float32Array(50 * 8).fill(0.5), 8],
      ['fifty zeros', new Float32Array(50 * 8), 8],
      ['one dimension', Float32Array.of(5, 1, 4, 2, 3), 1],
      ['two kinds', Float32Array.from({ length: 80 }, (_, at) => (at < 40 ? 0 : 1)), 2],
      ['huge', Float32Array.from({ length: 60 }, (_, at) => at * 1e15), 3],
      ['tiny', Float32Array.from({ length: 60 }, (_, at) => at * 1e-20), 3],
    ]
    for (const [name, vectors, dimension] of cases)
      for (const isCosine of [true, false]) {
        const { positions } = last(vectors, dimension, isCosine)
        const rows = dimension === 0 ? 0 : vectors.length / dimension
        assert.equal(positions.length, rows * 2, name)
        assert(positions.every(Number.isFinite), name)
      }
  })
})

describe('a sample for the map', () => {
  test('draws blocks from the whole collection, and the same ones each time', () => {
    const blocks = drawBlocks(4_999, 1_000)!
    assert.equal(new Set(blocks).size, 1_000 / blockSize)
    assert(blocks.every((offset) => offset % blockSize === 0 && offset < 4_999))
    // The blocks are spread over the collection: each fifth of it has some.
    for (let fifth = 0; fifth < 5; fifth++)
      assert(blocks.some((offset) => Math.floor(offset / 1_000) === fifth))
    assert.deepEqual(drawBlocks(4_999, 1_000), blocks)
  })

  test('takes all documents of a small collection, and the first ones of a huge one', () => {
    assert.equal(drawBlocks(1_000, 1_000), undefined)
    assert.equal(drawBlocks(10_000_000, 1_000), undefined)
  })

  test('has colours that depend on the value, not on the other documents', () => {
    const documents = (kinds: readonly string[]) =>
      kinds.map((kind) => new Map([['kind', kind]]))
    const colorOf = (kinds: readonly string[], wanted: string) =>
      colorBy(documents(kinds), 'kind').legend.find(({ label }) => label === wanted)!.color
    const one = colorOf(['park', 'harbour', 'park'], 'harbour')
    assert.equal(colorOf(['harbour', 'harbour', 'museum'], 'harbour'), one)
  })
})
