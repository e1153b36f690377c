/** Metrics of vectors. Similarities are the values of `$similarity`; greater is closer. */
export type Metric = 'cosine' | 'dot_product' | 'euclidean'

export function similarity(
  metric: Metric,
  a: ArrayLike<number>,
  b: ArrayLike<number>,
): number {
  return similarityTo(metric, a)(b)
}

/** Returns a function for the similarity to one query. */
export function similarityTo(
  metric: Metric,
  query: ArrayLike<number>,
): (vector: ArrayLike<number>) => number {
  const distanceOf = distanceFrom(metric, query)
  return (vector) => similarityAt(metric, distanceOf(vector))
}

/** The similarity for a distance. */
export function similarityAt(metric: Metric, distance: number): number {
  return Math.fround(metric === 'euclidean' ? 1 / (1 + distance) : 1 - distance / 2)
}

/**
 * Returns a function for the distance to one query, as the graph defines it: squared for euclidean,
 * otherwise 1 minus the cosine or product.
 */
export function distanceFrom(
  metric: Metric,
  query: ArrayLike<number>,
): (vector: ArrayLike<number>) => number {
  switch (metric) {
    case 'cosine': {
      const squaredLength = dot(query, query)
      return (vector) =>
        1 - dot(query, vector) / Math.sqrt(squaredLength * dot(vector, vector))
    }
    case 'dot_product':
      return (vector) => 1 - dot(query, vector)
    case 'euclidean':
      return (vector) => squaredDistance(query, vector)
  }
}

/**
 * Returns a function for the similarity of two of these vectors, by their positions. It computes
 * the length of a vector only once.
 */
export function similarityAmong(
  metric: Metric,
  vectors: readonly Float32Array[],
): (a: number, b: number) => number {
  if (metric !== 'cosine') return (a, b) => similarity(metric, vectors[a]!, vectors[b]!)
  const known = new Float64Array(vectors.length)
  const squaredLength = (at: number) => (known[at] ||= dot(vectors[at]!, vectors[at]!))
  return (a, b) => {
    const product = dot(vectors[a]!, vectors[b]!)
    const cosine = product / Math.sqrt(squaredLength(a) * squaredLength(b))
    return similarityAt(metric, 1 - cosine)
  }
}

export function lengthOf(vector: ArrayLike<number>): number {
  return Math.sqrt(dot(vector, vector))
}

// Four independent sums avoid waiting for the result of each addition.
function dot(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const end = a.length & ~3
  let s0 = 0
  let s1 = 0
  let s2 = 0
  let s3 = 0
  for (let i = 0; i < end; i += 4) {
    s0 += a[i]! * b[i]!
    s1 += a[i + 1]! * b[i + 1]!
    s2 += a[i + 2]! * b[i + 2]!
    s3 += a[i + 3]! * b[i + 3]!
  }
  for (let i = end; i < a.length; i++) s0 += a[i]! * b[i]!
  return s0 + s1 + s2 + s3
}

function squaredDistance(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0
  for (let i = 0; i < a.length; i++) {
    const gap = a[i]! - b[i]!
    sum += gap * gap
  }
  return sum
}
