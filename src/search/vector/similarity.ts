/** How near two vectors are, as `$similarity` tells it: greater is nearer. */
export type Metric = 'cosine' | 'dot_product' | 'euclidean'

export function similarity(
  metric: Metric,
  a: ArrayLike<number>,
  b: ArrayLike<number>,
): number {
  return similarityTo(metric, a)(b)
}

/** How near vectors are to one that many are compared with. */
export function similarityTo(
  metric: Metric,
  query: ArrayLike<number>,
): (vector: ArrayLike<number>) => number {
  const distanceOf = distanceFrom(metric, query)
  return (vector) => similarityAt(metric, distanceOf(vector))
}

/** The similarity of vectors that are so far from each other. */
export function similarityAt(metric: Metric, distance: number): number {
  return Math.fround(metric === 'euclidean' ? 1 / (1 + distance) : 1 - distance / 2)
}

/**
 * How far vectors are from one that many are compared with, as the graph counts it: by
 * euclidean the square of the distance, otherwise what is missing from a product of 1.
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

// Four sums at a time: one would wait for itself with every step.
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
