/**
 * An interruptible merge sort. The built-in sort cannot be interrupted, and sorting many records by
 * many fields would block its thread for seconds.
 */
import type { Pace, Steps } from './steps.ts'

/**
 * Returns a sorted copy; the sort is stable. `pace` decides when to yield. `compare` has to add its
 * cost to `pace` if it is expensive.
 */
export function* sortInSteps<T>(
  items: readonly T[],
  compare: (a: T, b: T) => number,
  pace: Pace,
): Steps<T[]> {
  const { length } = items
  let from = [...items]
  let to = Array<T>(length)
  for (let width = 1; width < length; width *= 2) {
    for (let start = 0; start < length; start += 2 * width) {
      const middle = Math.min(start + width, length)
      const end = Math.min(start + 2 * width, length)
      let left = start
      let right = middle
      for (let at = start; at < end; at++) {
        const isLeft =
          right === end || (left < middle && compare(from[left]!, from[right]!) <= 0)
        to[at] = from[isLeft ? left++ : right++]!
        if (pace.isDue()) yield
      }
    }
    ;[from, to] = [to, from]
  }
  return from
}
