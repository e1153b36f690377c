/**
 * Eigenvectors of a small symmetric matrix by Jacobi rotations, in descending order of
 * eigenvalue.
 */
export function eigenvectors(symmetric: readonly (readonly number[])[]): number[][] {
  const size = symmetric.length
  const matrix = symmetric.map((row) => [...row])
  const vectors = matrix.map((_, row) =>
    matrix.map((_, column) => (row === column ? 1 : 0)),
  )
  for (let sweep = 0; sweep < 30 && !isDiagonal(matrix); sweep++)
    for (let p = 0; p < size; p++)
      for (let q = p + 1; q < size; q++) rotate(matrix, vectors, p, q)
  const order = matrix
    .map((_, at) => at)
    .toSorted((a, b) => matrix[b]![b]! - matrix[a]![a]!)
  return order.map((column) => vectors.map((row) => row[column]!))
}

function isDiagonal(matrix: readonly (readonly number[])[]): boolean {
  let outside = 0
  let trace = 0
  matrix.forEach((row, at) => {
    row.forEach((value, column) => (outside += column === at ? 0 : value * value))
    trace += Math.abs(row[at]!)
  })
  return outside <= (1e-12 * trace) ** 2
}

/** Rotates so that the element at (p, q) becomes zero. */
function rotate(matrix: number[][], vectors: number[][], p: number, q: number): void {
  const [rowP, rowQ] = [matrix[p]!, matrix[q]!]
  const between = rowP[q]!
  if (between === 0) return
  const ratio = (rowQ[q]! - rowP[p]!) / (2 * between)
  const tangent = Math.sign(ratio || 1) / (Math.abs(ratio) + Math.hypot(1, ratio))
  const cosine = 1 / Math.hypot(1, tangent)
  const sine = tangent * cosine
  for (const row of matrix) turn(row, p, q, cosine, sine)
  for (let column = 0; column < matrix.length; column++) {
    const [above, below] = [rowP[column]!, rowQ[column]!]
    rowP[column] = cosine * above - sine * below
    rowQ[column] = sine * above + cosine * below
  }
  for (const row of vectors) turn(row, p, q, cosine, sine)
}

function turn(row: number[], p: number, q: number, cosine: number, sine: number): void {
  const [left, right] = [row[p]!, row[q]!]
  row[p] = cosine * left - sine * right
  row[q] = sine * left + cosine * right
}
