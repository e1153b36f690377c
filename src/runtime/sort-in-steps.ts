/**
 * A merge sort that can be interrupted. The platform's sort cannot, and a sort by many fields
 * of many records would hold its thread for seconds.
 */
import type { Pace, Steps } from './steps.ts'

/**
 * A sorted copy; items that compare as equal keep their order. `pace` says when to yield:
 * where a comparison does more than a little, it adds that to the same pace.
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
