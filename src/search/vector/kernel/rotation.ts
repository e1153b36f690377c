/**
 * A random rotation, the same on every machine: it spreads each number of a vector over all others,
 * so that their sizes become alike and a short code loses little. Three rounds of random signs and
 * Hadamard transforms approximate a uniformly random rotation in O(n log n) (Ailon and Chazelle,
 * 2009, doi:10.1137/060673096).
 */
const ROUNDS: u32 = 3
const SEED: u32 = 0x2545f491

/** Rotates a vector in place. `length` is a multiple of 32. */
export function rotate(at: usize, length: u32): void {
  const part: u32 = 1 << (31 - clz(length))
  const rest = at + (<usize>(length - part) << 2)
  let random = SEED
  for (let round: u32 = 0; round < ROUNDS; round++) {
    for (let i: u32 = 0; i < length; i += 32) {
      random ^= random << 13
      random ^= random >> 17
      random ^= random << 5
      flip(at + (<usize>i << 2), random)
    }
    transform(at, part)
    // The second transform overlaps the first one, so that all numbers mix.
    if (rest != at) transform(rest, part)
  }
}

/** Changes the signs of 32 numbers where a bit is set. */
@inline function flip(at: usize, signs: u32): void {
  for (let i: usize = 0; i < 128; i += 16) {
    const four = i32x4(signs, signs << 1, signs << 2, signs << 3)
    const flipped = v128.and(four, i32x4.splat(<i32>0x80000000))
    v128.store(at + i, v128.xor(v128.load(at + i), flipped))
    signs <<= 4
  }
}

/** Walsh-Hadamard transform that keeps the length of the vector. `length` is a power of two. */
function transform(at: usize, length: u32): void {
  const end = at + (<usize>length << 2)
  const scale = f32x4.splat(1 / <f32>sqrt<f64>(length))
  for (let p = at; p < end; p += 16) {
    const x = f32x4.mul(v128.load(p), scale)
    const evens = v128.shuffle<f32>(x, x, 0, 0, 2, 2)
    const odds = v128.shuffle<f32>(x, x, 1, 1, 3, 3)
    const pairs = f32x4.add(evens, negateOdd(odds))
    const fours = v128.shuffle<f32>(pairs, pairs, 2, 3, 2, 3)
    const firsts = v128.shuffle<f32>(pairs, pairs, 0, 1, 0, 1)
    v128.store(p, f32x4.add(firsts, negateHigh(fours)))
  }
  for (let half: usize = 16; half < <usize>length << 2; half <<= 1)
    for (let p = at; p < end; p += half << 1)
      for (let a = p; a < p + half; a += 16) {
        const x = v128.load(a), y = v128.load(a + half)
        v128.store(a, f32x4.add(x, y))
        v128.store(a + half, f32x4.sub(x, y))
      }
}

@inline function negateOdd(x: v128): v128 {
  return v128.xor(x, i32x4(0, 0x80000000, 0, 0x80000000))
}
@inline function negateHigh(x: v128): v128 {
  return v128.xor(x, i32x4(0, 0, 0x80000000, 0x80000000))
}
