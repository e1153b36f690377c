/** How near two vectors are, as `$similarity` tells it: greater is nearer. */
export type Metric = 'cosine' | 'dot_product' | 'euclidean'

export function similarity(
  metric: Metric,
  a: ArrayLike<number>,
  b: ArrayLike<number>,
): number {
  switch (metric) {
    case 'cosine':
      return Math.fround((1 + dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b))) / 2)
    case 'dot_product':
      return Math.fround((1 + dot(a, b)) / 2)
    case 'euclidean':
      return Math.fround(1 / (1 + squaredDistance(a, b)))
  }
}

function dot(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!
  return sum
}

function squaredDistance(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += (a[i]! - b[i]!) ** 2
  return sum
}
