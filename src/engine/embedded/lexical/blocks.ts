/**
 * Bit-packed blocks of 128 numbers. All numbers of a block take as many bits as the largest number.
 * Number i is in lane i mod 4, and the words of the lanes alternate, so that four numbers are
 * unpacked with one shift: the layout of Lemire and Boytsov, "Decoding billions of integers per
 * second through vectorization" (2015).
 */
export const blockSize = 128

/** Size of a block in 32-bit words. */
export function wordsOf(width: number): number {
  return width * 4
}

/** Number of bits of the largest number at the indexes in [from, to). */
export function widthOf(numbers: Uint32Array, from: number, to: number): number {
  let all = 0
  for (let i = from; i < to; i++) all |= numbers[i]!
  return 32 - Math.clz32(all)
}

/** Packs 128 numbers, starting at index `from`. The words must be 0. */
export function packBlock(
  numbers: Uint32Array,
  from: number,
  width: number,
  words: Uint32Array,
  at: number,
): void {
  if (width === 0) return
  for (let i = 0; i < blockSize; i++) {
    const bit = (i >> 2) * width
    const word = at + ((bit >> 5) << 2) + (i & 3)
    const shift = bit & 31
    words[word]! |= numbers[from + i]! << shift
    if (shift + width > 32) words[word + 4]! |= numbers[from + i]! >>> (32 - shift)
  }
}

/** Unpacks a block and adds `added` to each number. */
export function unpackBlock(
  words: Uint32Array,
  at: number,
  width: number,
  added: number,
  into: Uint32Array,
): void {
  if (width === 0) {
    into.fill(added, 0, blockSize)
    return
  }
  const mask = width === 32 ? -1 : (1 << width) - 1
  for (let i = 0, bit = 0; i < blockSize; i += 4, bit += width) {
    const word = at + ((bit >> 5) << 2)
    const shift = bit & 31
    if (shift + width <= 32) {
      into[i] = ((words[word]! >>> shift) & mask) + added
      into[i + 1] = ((words[word + 1]! >>> shift) & mask) + added
      into[i + 2] = ((words[word + 2]! >>> shift) & mask) + added
      into[i + 3] = ((words[word + 3]! >>> shift) & mask) + added
    } else {
      const left = 32 - shift
      into[i] = (((words[word]! >>> shift) | (words[word + 4]! << left)) & mask) + added
      into[i + 1] =
        (((words[word + 1]! >>> shift) | (words[word + 5]! << left)) & mask) + added
      into[i + 2] =
        (((words[word + 2]! >>> shift) | (words[word + 6]! << left)) & mask) + added
      into[i + 3] =
        (((words[word + 3]! >>> shift) | (words[word + 7]! << left)) & mask) + added
    }
  }
}
