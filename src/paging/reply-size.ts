/** The limit of a reply's size. */
import type { Limits } from '../limits.ts'

/**
 * Maximum characters of a page; undefined when `count` records always fit, so that characters need
 * not be counted.
 */
export function sizeMaxOf(count: number, limits: Limits): number | undefined {
  const { documentLengthMax, replySizeMax } = limits
  return count * documentLengthMax > replySizeMax ? replySizeMax : undefined
}
