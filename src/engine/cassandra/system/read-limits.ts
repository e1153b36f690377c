/** How much one read may look at. */
import type { Position } from '../../contract.ts'

export interface ReadLimits {
  /** Documents or rows, to find those that match. */
  readonly scannedMax: number
  /** Rows of a partition that a search by vector compares itself; indexes miss some of them. */
  readonly comparedMax: number
}

/**
 * Terms of one statement on fields and columns that the key does not lead to. The cluster
 * compares every row that it finds with each of them; what they leave out is compared here.
 */
export const termsMax = 16

/** Texts that have a term: they are small, next to the records that have them. */
export function textsMaxOf({ scannedMax }: ReadLimits): number {
  return 10 * scannedMax
}

/**
 * What a read has looked at. Sorts are made above, of page after page: the places between those
 * say how much was looked at before, so that the limit holds for all of them together.
 */
export class Scan {
  /** Where to go on, as those who search know places. */
  readonly after: Position | undefined
  #count: number

  constructor(after?: Position) {
    const [, count = '0', rest] = /^s(\d{1,15})\/(.*)$/s.exec(after ?? '') ?? []
    this.#count = Number(count)
    this.after = rest ?? after
  }

  get count(): number {
    return this.#count
  }

  /** Whether one more is within the limits. */
  takeOne({ scannedMax }: ReadLimits): boolean {
    return ++this.#count <= scannedMax
  }
}

/** A place between the pages of a sort, behind so many that were looked at. */
export function placeInScan(count: number, place: Position): Position {
  return `s${count}/${place}`
}
