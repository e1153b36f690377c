/**
 * Principal components of many long vectors.
 *
 * The components are computed from a sample of the vectors. Its Gram matrix has one row per vector
 * or per number of a vector, whichever is smaller. Multiplying the matrix repeatedly with a few
 * random directions makes them converge to its strongest eigenvectors (subspace iteration, after
 * Halko, Martinsson and Tropp, 2011).
 */
import { eigenvectors } from './eigenvectors.ts'

/** Row-major matrix. */
export interface Matrix {
  readonly data: Float32Array
  readonly rows: number
  readonly columns: number
}

export interface Components {
  readonly mean: Float32Array
  /**
   * Orthonormal vectors in descending order of variance; fewer than requested when the rank is
   * lower.
   */
  readonly directions: readonly Float32Array[]
}

/**
 * Maximum number of vectors in the sample. A larger sample takes longer and changes the result
 * little.
 */
const sampleMax = 500
const rounds = 12
/** Number of directions in addition to the requested ones. They speed up convergence. */
const spare = 4

export function findComponents(
  vectors: Matrix,
  wanted: number,
  random: () => number,
): Components {
  const mean = meanOf(vectors)
  const sample = sampleOf(vectors, mean, random)
  const byColumns = sample.columns <= sample.rows
  const products = byColumns ? columnProducts(sample) : rowProducts(sample)
  const size = byColumns ? sample.columns : sample.rows
  const strongest = strongestOf(products, size, Math.min(wanted + spare, size), random)
  const directions = byColumns
    ? strongest
    : orthonormal(strongest.map((weights) => combineRows(sample, weights)))
  return {
    mean,
    directions: directions.slice(0, wanted).map((one) => Float32Array.from(one)),
  }
}

/**
 * Coordinates of each row along the directions. If there are fewer than `count` directions, the
 * missing coordinates are zero.
 */
export function coordinatesAlong(
  { data, rows, columns }: Matrix,
  { mean, directions }: Components,
  count: number,
): Matrix {
  const coordinates = new Float32Array(rows * count)
  const used = directions.slice(0, count)
  const offsets = used.map((direction) => dot(direction, mean, 0))
  for (let row = 0; row < rows; row++)
    for (let axis = 0; axis < used.length; axis++)
      coordinates[row * count + axis] =
        dot(used[axis]!, data, row * columns) - offsets[axis]!
  return { data: coordinates, rows, columns: count }
}

function meanOf({ data, rows, columns }: Matrix): Float32Array {
  const sums = new Float64Array(columns)
  for (let row = 0, at = 0; row < rows; row++)
    for (let column = 0; column < columns; column++) sums[column]! += data[at++]!
  return Float32Array.from(sums, (sum) => (rows === 0 ? 0 : sum / rows))
}

/** A random sample of the rows, centred. */
function sampleOf(vectors: Matrix, mean: Float32Array, random: () => number): Matrix {
  const { data, rows, columns } = vectors
  const chosen = Array.from({ length: rows }, (_, row) => row)
  const count = Math.min(rows, sampleMax)
  for (let at = 0; at < count && count < rows; at++) {
    const other = at + Math.floor(random() * (rows - at))
    const kept = chosen[at]!
    chosen[at] = chosen[other]!
    chosen[other] = kept
  }
  const sample = new Float32Array(count * columns)
  for (let row = 0; row < count; row++) {
    const from = chosen[row]! * columns
    for (let column = 0; column < columns; column++)
      sample[row * columns + column] = data[from + column]! - mean[column]!
  }
  return { data: sample, rows: count, columns }
}

/** The covariance matrix, up to a factor. */
function columnProducts({ data, rows, columns }: Matrix): Float64Array {
  const products = new Float64Array(columns * columns)
  for (let row = 0; row < rows; row++) {
    const own = data.subarray(row * columns, (row + 1) * columns)
    for (let a = 0; a < columns; a++) {
      const factor = own[a]!
      for (let b = a; b < columns; b++) products[a * columns + b]! += factor * own[b]!
    }
  }
  return mirrored(products, columns)
}

function rowProducts({ data, rows, columns }: Matrix): Float64Array {
  const products = new Float64Array(rows * rows)
  for (let a = 0; a < rows; a++) {
    const own = data.subarray(a * columns, (a + 1) * columns)
    for (let b = a; b < rows; b++) products[a * rows + b] = dot(own, data, b * columns)
  }
  return mirrored(products, rows)
}

function mirrored(matrix: Float64Array, size: number): Float64Array {
  for (let a = 0; a < size; a++)
    for (let b = a + 1; b < size; b++) matrix[b * size + a] = matrix[a * size + b]!
  return matrix
}

/** Eigenvectors of a symmetric matrix, in descending order of eigenvalue. */
function strongestOf(
  matrix: Float64Array,
  size: number,
  count: number,
  random: () => number,
): Float64Array[] {
  const image = (direction: Float64Array) =>
    Float64Array.from(direction, (_, row) => dotExact(direction, matrix, row * size))
  let basis: Float64Array[] = Array.from({ length: count }, () =>
    Float64Array.from({ length: size }, () => random() - 0.5),
  )
  for (let round = 0; round < rounds; round++) basis = orthonormal(basis.map(image))
  // Rayleigh-Ritz method: projects the matrix to the basis, and combines the basis by the
  // eigenvectors of the small matrix.
  const images = basis.map(image)
  const small = basis.map((left) => images.map((right) => dotExact(left, right, 0)))
  return eigenvectors(small).map((weights) => {
    const sum = new Float64Array(size)
    basis.forEach((direction, at) => {
      for (let row = 0; row < size; row++) sum[row]! += weights[at]! * direction[row]!
    })
    return sum
  })
}

function combineRows({ data, columns }: Matrix, weights: Float64Array): Float64Array {
  const sum = new Float64Array(columns)
  weights.forEach((weight, row) => {
    for (let column = 0; column < columns; column++)
      sum[column]! += weight * data[row * columns + column]!
  })
  return sum
}

/**
 * An orthonormal basis of the directions by Gram-Schmidt. Each direction is orthogonalized twice,
 * because one pass leaves rounding errors. Linearly dependent directions are dropped.
 */
function orthonormal(directions: readonly Float64Array[]): Float64Array[] {
  const kept: Float64Array[] = []
  let greatest = 0
  for (const direction of directions) {
    greatest = Math.max(greatest, Math.sqrt(dotExact(direction, direction, 0)))
    for (let round = 0; round < 2; round++)
      for (const other of kept) {
        const along = dotExact(other, direction, 0)
        for (let at = 0; at < direction.length; at++) direction[at]! -= along * other[at]!
      }
    const length = Math.sqrt(dotExact(direction, direction, 0))
    if (!(length > greatest * 1e-7) || !Number.isFinite(length)) continue
    for (let at = 0; at < direction.length; at++) direction[at]! /= length
    kept.push(direction)
  }
  return kept
}

/**
 * Dot product of a direction and a row. This is the hot loop: four independent sums avoid waiting
 * for each addition. `dotExact` is a separate function, so that each function gets only one type of
 * array and stays monomorphic.
 */
function dot(direction: Float32Array, data: Float32Array, from: number): number {
  let [a, b, c, d] = [0, 0, 0, 0]
  const { length } = direction
  const whole = length - (length % 4)
  for (let at = 0; at < whole; at += 4) {
    a += direction[at]! * data[from + at]!
    b += direction[at + 1]! * data[from + at + 1]!
    c += direction[at + 2]! * data[from + at + 2]!
    d += direction[at + 3]! * data[from + at + 3]!
  }
  for (let at = whole; at < length; at++) a += direction[at]! * data[from + at]!
  return a + b + c + d
}

function dotExact(direction: Float64Array, data: Float64Array, from: number): number {
  let sum = 0
  for (let at = 0; at < direction.length; at++) sum += direction[at]! * data[from + at]!
  return sum
}
