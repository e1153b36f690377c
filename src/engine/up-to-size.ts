/**
 * The first items until their total size exceeds `sizeMax`; the item that exceeds it is the last.
 */
export function upToSize<T>(
  items: readonly T[],
  sizeOf: (item: T) => number,
  sizeMax = Infinity,
): readonly T[] {
  let size = 0
  const last = items.findIndex((item) => (size += sizeOf(item)) > sizeMax)
  return last < 0 ? items : items.slice(0, last + 1)
}
