/**
 * Codes of a byte per number: vectors as integers from 0 to 127, with a scale and an offset to
 * convert them back. Seven bits allow one relaxed SIMD instruction to multiply and add sixteen of
 * them, with the same result on every machine.
 *
 * With x = offset + scale * code, products and distances of vectors follow from the product of
 * their codes and a few sums that are stored with each code.
 */
import { codeSize, COSINE, dimension, DOT_PRODUCT, EUCLIDEAN, metric, node } from './layout'
import { isBuilding, lift } from './lengths'

/** Reads `dimension` floats and writes their code. */
export function encodeBytes(from: usize, to: usize): void {
  let least: f32 = f32.POSITIVE_INFINITY
  let most: f32 = f32.NEGATIVE_INFINITY
  for (let i: u32 = 0; i < dimension; i++) {
    const x = load<f32>(from + (<usize>i << 2))
    least = min(least, x)
    most = max(most, x)
  }
  const step: f32 = most > least ? (most - least) / 127 : 0
  const inverse: f32 = step > 0 ? 1 / step : 0
  let sum: u32 = 0
  let squares: u32 = 0
  for (let i: u32 = 0; i < dimension; i++) {
    const x = load<f32>(from + (<usize>i << 2))
    const c = <u32>min<f32>(127, max<f32>(0, nearest((x - least) * inverse)))
    sum += c
    squares += c * c
    store<u8>(to + i, c)
  }
  for (let i = dimension; i < <u32>codeSize; i++) store<u8>(to + i, 0)
  let scale = <f64>step
  let offset = <f64>least
  if (metric == COSINE) {
    // The code is scaled to length 1, so that products are cosines.
    const norm =
      scale * scale * <f64>squares +
      2 * scale * offset * <f64>sum +
      offset * offset * <f64>dimension
    const shrink = norm > 0 ? 1 / Math.sqrt(norm) : 0
    scale *= shrink
    offset *= shrink
  }
  const facts = to + codeSize
  store<f32>(facts, <f32>scale)
  store<f32>(facts, <f32>offset, 4)
  store<u32>(facts, sum, 8)
  store<u32>(facts, squares, 12)
}

/** Distance of two codes; smaller is closer. */
export function byteDistance(a: usize, b: usize): f32 {
  return fromProduct(a + codeSize, b + codeSize, product(a, b))
}

/** Writes the distances from a code to four nodes to `to`; reads the code only once. */
export function byteDistance4(code: usize, a: u32, b: u32, c: u32, d: u32, to: usize): void {
  const facts = code + codeSize
  let q = code
  let pa = node(a), pb = node(b), pc = node(c), pd = node(d)
  let a0 = i32x4.splat(0), a1 = a0, b0 = a0, b1 = a0, c0 = a0, c1 = a0, d0 = a0, d1 = a0
  const end = q + (codeSize & ~31)
  while (q < end) {
    const x = v128.load(q), y = v128.load(q, 16)
    a0 = multiplyAdd(v128.load(pa), x, a0); a1 = multiplyAdd(v128.load(pa, 16), y, a1)
    b0 = multiplyAdd(v128.load(pb), x, b0); b1 = multiplyAdd(v128.load(pb, 16), y, b1)
    c0 = multiplyAdd(v128.load(pc), x, c0); c1 = multiplyAdd(v128.load(pc, 16), y, c1)
    d0 = multiplyAdd(v128.load(pd), x, d0); d1 = multiplyAdd(v128.load(pd, 16), y, d1)
    q += 32; pa += 32; pb += 32; pc += 32; pd += 32
  }
  if (codeSize & 16) {
    const x = v128.load(q)
    a0 = multiplyAdd(v128.load(pa), x, a0); b0 = multiplyAdd(v128.load(pb), x, b0)
    c0 = multiplyAdd(v128.load(pc), x, c0); d0 = multiplyAdd(v128.load(pd), x, d0)
    pa += 16; pb += 16; pc += 16; pd += 16
  }
  const sums = sum4(i32x4.add(a0, a1), i32x4.add(b0, b1), i32x4.add(c0, c1), i32x4.add(d0, d1))
  store<f32>(to, fromProduct(facts, pa, i32x4.extract_lane(sums, 0)))
  store<f32>(to, fromProduct(facts, pb, i32x4.extract_lane(sums, 1)), 4)
  store<f32>(to, fromProduct(facts, pc, i32x4.extract_lane(sums, 2)), 8)
  store<f32>(to, fromProduct(facts, pd, i32x4.extract_lane(sums, 3)), 12)
}

@inline function multiplyAdd(a: v128, b: v128, sum: v128): v128 {
  return i32x4.relaxed_dot_i8x16_i7x16_add_s(a, b, sum)
}

function product(a: usize, b: usize): i32 {
  let s0 = i32x4.splat(0), s1 = s0
  const end = a + (codeSize & ~31)
  while (a < end) {
    s0 = multiplyAdd(v128.load(a), v128.load(b), s0)
    s1 = multiplyAdd(v128.load(a, 16), v128.load(b, 16), s1)
    a += 32; b += 32
  }
  if (codeSize & 16) s0 = multiplyAdd(v128.load(a), v128.load(b), s0)
  const s = i32x4.add(s0, s1)
  const t = i32x4.add(s, v128.shuffle<i32>(s, s, 2, 3, 0, 1))
  return i32x4.extract_lane(t, 0) + i32x4.extract_lane(t, 1)
}

/** The sums of the lanes of four registers, in one register. */
@inline function sum4(a: v128, b: v128, c: v128, d: v128): v128 {
  const ab = i32x4.add(
    v128.shuffle<i32>(a, b, 0, 4, 1, 5),
    v128.shuffle<i32>(a, b, 2, 6, 3, 7),
  )
  const cd = i32x4.add(
    v128.shuffle<i32>(c, d, 0, 4, 1, 5),
    v128.shuffle<i32>(c, d, 2, 6, 3, 7),
  )
  return i32x4.add(
    v128.shuffle<i32>(ab, cd, 0, 1, 4, 5),
    v128.shuffle<i32>(ab, cd, 2, 3, 6, 7),
  )
}

/**
 * Distance of two vectors, from the values stored with their codes and the product of the codes.
 */
@inline function fromProduct(a: usize, b: usize, product: i32): f32 {
  if (metric == EUCLIDEAN) return squaredDistance(a, b, product)
  const scaleA = load<f32>(a), offsetA = load<f32>(a, 4)
  const scaleB = load<f32>(b), offsetB = load<f32>(b, 4)
  const dot =
    scaleA * scaleB * <f32>product +
    offsetA * scaleB * <f32>load<u32>(b, 8) +
    offsetB * scaleA * <f32>load<u32>(a, 8) +
    offsetA * offsetB * <f32>dimension
  return <f32>1 - (isBuilding && metric == DOT_PRODUCT ? dot + lifted(a, b) : dot)
}

/** Product of the additional dimensions of two vectors, from the values stored with their codes. */
@inline function lifted(a: usize, b: usize): f32 {
  return lift(squaredLength(a - codeSize)) * lift(squaredLength(b - codeSize))
}

@inline export function squaredLength(code: usize): f64 {
  const facts = code + codeSize
  const scale = <f64>load<f32>(facts), offset = <f64>load<f32>(facts, 4)
  return (
    scale * scale * <f64>load<u32>(facts, 12) +
    2 * scale * offset * <f64>load<u32>(facts, 8) +
    offset * offset * <f64>dimension
  )
}

/**
 * Squared distance in double precision: in single precision, terms of close vectors far from zero
 * would cancel out.
 */
@inline function squaredDistance(a: usize, b: usize, product: i32): f32 {
  const scaleA = <f64>load<f32>(a), scaleB = <f64>load<f32>(b)
  const gap = <f64>load<f32>(a, 4) - <f64>load<f32>(b, 4)
  const sums = scaleA * <f64>load<u32>(a, 8) - scaleB * <f64>load<u32>(b, 8)
  return <f32>(
    gap * gap * <f64>dimension +
    2 * gap * sums +
    scaleA * scaleA * <f64>load<u32>(a, 12) +
    scaleB * scaleB * <f64>load<u32>(b, 12) -
    2 * scaleA * scaleB * <f64>product
  )
}
