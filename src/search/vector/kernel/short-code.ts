/**
 * Codes of 1, 2 or 4 bits per number, after RaBitQ (Gao and Long, 2024, doi:10.1145/3654970) and
 * its extension to more bits (Gao et al., 2025, doi:10.1145/3725413).
 *
 * A vector v is coded relative to the center c: r is v - c, rotated (rotation.ts). A number of r has
 * a code from 0 to 2^bits - 1, which represents the odd number u = 2 code - (2^bits - 1). With
 *
 *   factor = <r, r> / <r, u>
 *
 * the product of r with a rotated query q is about factor * <u, q>, without bias. Distances follow
 * from this product, and from a term of each of the two vectors:
 *
 *   cosine       <r, r> / 2, for vectors of length 1
 *   dot product  (1 + <c, c>) / 2 - <c, v>
 *   euclidean    <r, r>
 *
 * A query has a byte per number, so that it adds nearly no error. A code is compared with queries
 * only. The codes of two nodes are compared by converting one of them to a query (`queryOf`).
 *
 *   code    codeSize bytes; factor, term and squared length of v, 4 bytes each
 *   query   codeLength bytes; the same values, with the size of a step as factor; sum of the bytes
 *
 * Byte j of register b of a code holds the numbers of plane k = 0, 1, ...: number
 * 16 (b * planes + k) + j, in the bits from k * bits on. So each plane of a register belongs to 16
 * consecutive bytes of the query.
 */
import {
  bits, center, codeLength, codeSize, COSINE, dimension, DOT_PRODUCT, EUCLIDEAN, Field, field, input,
  metric, node, rotated,
} from './layout'
import { isBuilding, lift } from './lengths'
import { rotate } from './rotation'

/** Values of the vector that `loadInput` read last. */
let squaredLength: f64 = 0
let residualLength: f64 = 0
let term: f64 = 0

/** Reads the input, and writes it relative to the center and rotated to `rotated`. */
function loadInput(): void {
  let squares: f64 = 0
  for (let i: u32 = 0; i < dimension; i++) {
    const x = <f64>load<f32>(input + (<usize>i << 2))
    squares += x * x
  }
  const scale: f64 = metric == COSINE ? (squares > 0 ? 1 / Math.sqrt(squares) : 0) : 1
  let residuals: f64 = 0
  let product: f64 = 0
  for (let i: u32 = 0; i < dimension; i++) {
    const x = <f64>load<f32>(input + (<usize>i << 2)) * scale
    const c = <f64>load<f32>(center + (<usize>i << 2))
    const r = x - c
    residuals += r * r
    product += c * x
    store<f32>(rotated + (<usize>i << 2), <f32>r)
  }
  for (let i = dimension; i < codeLength; i++) store<f32>(rotated + (<usize>i << 2), 0)
  rotate(rotated, codeLength)
  squaredLength = squares
  residualLength = residuals
  term =
    metric == COSINE ? residuals / 2
    : metric == EUCLIDEAN ? residuals
    : (1 + <f64>reinterpret<f32>(field(Field.centerLength))) / 2 - product
}

/** Steps of normally distributed numbers with the least squared error (Max, 1960), by bits. */
@inline function firstStep(): f64 {
  return bits == 1 ? 0.798 : bits == 2 ? 0.498 : 0.168
}
/** Number of times that codes and step are adapted to each other. */
const ADAPTATIONS: u32 = 4

/** Encodes the input. */
export function encodeShort(to: usize): void {
  loadInput()
  const most = <f32>((1 << bits) - 1)
  const middle = (most + 1) / 2
  let step = firstStep() * Math.sqrt(residualLength / <f64>codeLength)
  let product: f64 = 0
  const rounds: u32 = bits == 1 ? 1 : ADAPTATIONS
  for (let round: u32 = 0; round < rounds; round++) {
    const inverse: f32 = step > 0 ? <f32>(0.5 / step) : 0
    let products = f32x4.splat(0), squares = products
    for (let i: u32 = 0; i < codeLength; i += 4) {
      const r = v128.load(rotated + (<usize>i << 2))
      const steps = f32x4.add(f32x4.mul(r, f32x4.splat(inverse)), f32x4.splat(middle))
      const bounded = f32x4.min(f32x4.splat(most), f32x4.max(f32x4.splat(0), steps))
      const code = f32x4.floor(bounded)
      const u = f32x4.sub(f32x4.add(code, code), f32x4.splat(most))
      products = f32x4.add(products, f32x4.mul(r, u))
      squares = f32x4.add(squares, f32x4.mul(u, u))
    }
    product = <f64>sum4(products)
    if (round + 1 < rounds) step = product / <f64>sum4(squares)
  }
  const inverse: f32 = step > 0 ? <f32>(0.5 / step) : 0
  const planes: u32 = 8 / bits
  for (let at: u32 = 0; at < <u32>codeSize; at += 16)
    for (let j: u32 = 0; j < 16; j++) {
      let byte: u32 = 0
      for (let k: u32 = 0; k < planes; k++) {
        const r = load<f32>(rotated + (<usize>(at * planes + k * 16 + j) << 2))
        const code = <u32>min<f32>(most, max<f32>(0, floor<f32>(r * inverse + middle)))
        byte |= code << (k * bits)
      }
      store<u8>(to + at + j, byte)
    }
  const facts = to + codeSize
  store<f32>(facts, product > 0 ? <f32>(residualLength / product) : 0)
  store<f32>(facts, <f32>term, 4)
  store<f32>(facts, <f32>squaredLength, 8)
}

@inline function sum4(x: v128): f32 {
  const halves = f32x4.add(x, v128.shuffle<f32>(x, x, 2, 3, 0, 1))
  return f32x4.extract_lane(halves, 0) + f32x4.extract_lane(halves, 1)
}

/** Makes a query of the input. */
export function prepareShort(to: usize): void {
  loadInput()
  let most: f32 = 0
  for (let i: u32 = 0; i < codeLength; i++)
    most = max(most, abs(load<f32>(rotated + (<usize>i << 2))))
  const step = most / 127
  const inverse: f32 = step > 0 ? 1 / step : 0
  let sum: i32 = 0
  for (let i: u32 = 0; i < codeLength; i++) {
    const x = <i32>nearest(load<f32>(rotated + (<usize>i << 2)) * inverse)
    store<i8>(to + i, x)
    sum += x
  }
  const facts = to + codeLength
  store<f32>(facts, step)
  store<f32>(facts, <f32>term, 4)
  store<f32>(facts, <f32>squaredLength, 8)
  store<i32>(facts, sum, 12)
}

/** Makes a query of a code. */
export function expandShort(code: usize, to: usize): void {
  const most = (1 << bits) - 1
  const mask = i8x16.splat(<i8>most)
  let sums = i32x4.splat(0)
  let q = to
  for (let p = code; p < code + codeSize; p += 16) {
    let x = v128.load(p)
    for (let k: u32 = 0; k < 8; k += bits) {
      const c = v128.and(x, mask)
      const u = i8x16.sub(i8x16.add(c, c), mask)
      v128.store(q, u)
      sums = i32x4.add(sums, i32x4.extadd_pairwise_i16x8_s(i16x8.extadd_pairwise_i8x16_s(u)))
      x = i16x8.shr_u(x, bits)
      q += 16
    }
  }
  const facts = to + codeLength
  // The fourth value that is copied is replaced by the sum.
  v128.store(facts, v128.load(code + codeSize))
  const halves = i32x4.add(sums, v128.shuffle<i32>(sums, sums, 2, 3, 0, 1))
  store<i32>(facts, i32x4.extract_lane(halves, 0) + i32x4.extract_lane(halves, 1), 12)
}

/** Distance of a query and a code; smaller is closer. */
export function shortDistance(query: usize, code: usize): f32 {
  multiply(query, code, code, code, code)
  return fromProduct(query + codeLength, code + codeSize, i32x4.extract_lane(products, 0))
}

/** Writes the distances from a query to four nodes to `to`. */
export function shortDistance4(query: usize, a: u32, b: u32, c: u32, d: u32, to: usize): void {
  const pa = node(a), pb = node(b), pc = node(c), pd = node(d)
  multiply(query, pa, pb, pc, pd)
  const facts = query + codeLength
  store<f32>(to, fromProduct(facts, pa + codeSize, i32x4.extract_lane(products, 0)))
  store<f32>(to, fromProduct(facts, pb + codeSize, i32x4.extract_lane(products, 1)), 4)
  store<f32>(to, fromProduct(facts, pc + codeSize, i32x4.extract_lane(products, 2)), 8)
  store<f32>(to, fromProduct(facts, pd + codeSize, i32x4.extract_lane(products, 3)), 12)
}

let products: v128 = i32x4.splat(0)

/** Products of the bytes of a query with four codes. */
function multiply(q: usize, a: usize, b: usize, c: usize, d: usize): void {
  if (bits == 1) multiplyPlanes(q, a, b, c, d, 1, 1)
  else if (bits == 2) multiplyPlanes(q, a, b, c, d, 2, 3)
  else multiplyPlanes(q, a, b, c, d, 4, 15)
}

// Inlined for each number of bits, so that the shifts are constant.
@inline function multiplyPlanes(
  q: usize, pa: usize, pb: usize, pc: usize, pd: usize, width: u32, most: i8,
): void {
  const mask = i8x16.splat(most)
  let a = i32x4.splat(0), b = a, c = a, d = a
  const end = q + codeLength
  while (q < end) {
    let xa = v128.load(pa), xb = v128.load(pb), xc = v128.load(pc), xd = v128.load(pd)
    for (let k: u32 = 0; k < 8; k += width) {
      const y = v128.load(q)
      a = multiplyAdd(y, v128.and(xa, mask), a); xa = i16x8.shr_u(xa, width)
      b = multiplyAdd(y, v128.and(xb, mask), b); xb = i16x8.shr_u(xb, width)
      c = multiplyAdd(y, v128.and(xc, mask), c); xc = i16x8.shr_u(xc, width)
      d = multiplyAdd(y, v128.and(xd, mask), d); xd = i16x8.shr_u(xd, width)
      q += 16
    }
    pa += 16; pb += 16; pc += 16; pd += 16
  }
  const ab = i32x4.add(v128.shuffle<i32>(a, b, 0, 4, 1, 5), v128.shuffle<i32>(a, b, 2, 6, 3, 7))
  const cd = i32x4.add(v128.shuffle<i32>(c, d, 0, 4, 1, 5), v128.shuffle<i32>(c, d, 2, 6, 3, 7))
  products = i32x4.add(v128.shuffle<i32>(ab, cd, 0, 1, 4, 5), v128.shuffle<i32>(ab, cd, 2, 3, 6, 7))
}

@inline function multiplyAdd(a: v128, b: v128, sum: v128): v128 {
  return i32x4.relaxed_dot_i8x16_i7x16_add_s(a, b, sum)
}

/** In double precision, because the terms of close vectors nearly cancel the product. */
@inline function fromProduct(query: usize, code: usize, product: i32): f32 {
  const odd = 2 * product - ((1 << bits) - 1) * load<i32>(query, 12)
  let dot = <f64>load<f32>(query) * <f64>load<f32>(code) * <f64>odd
  if (metric == EUCLIDEAN) dot *= 2
  if (isBuilding && metric == DOT_PRODUCT)
    dot += <f64>lift(<f64>load<f32>(query, 8)) * <f64>lift(<f64>load<f32>(code, 8))
  return <f32>(<f64>load<f32>(query, 4) + <f64>load<f32>(code, 4) - dot)
}

@inline export function shortLength(code: usize): f64 {
  return <f64>load<f32>(code + codeSize, 8)
}
