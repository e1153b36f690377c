/** Limits of the work of one read. */
import type { Position } from '../../contract.ts'

export interface ReadLimits {
  /** Maximum number of documents or rows that are checked against the filter. */
  readonly scannedMax: number
  /**
   * Maximum number of rows of a partition that a vector search compares itself, because indexes
   * miss some of them.
   */
  readonly comparedMax: number
}

/**
 * Maximum terms of a statement besides those on the key. The cluster compares every row that it
 * finds with each of them; this server checks the remaining conditions.
 */
export const termsMax = 16

/** Maximum length of a posting list; postings are small compared with records. */
export function textsMaxOf({ scannedMax }: ReadLimits): number {
  return 10 * scannedMax
}

/**
 * Counts the documents or rows that a read has checked. A sort in `paging` reads page by page. The
 * positions between these pages contain the count so far, so the limit applies to the whole sort.
 */
export class Scan {
  /** Position without the count. */
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

  /** Counts one checked record; returns false when the limit is exceeded. */
  takeOne({ scannedMax }: ReadLimits): boolean {
    return ++this.#count <= scannedMax
  }
}

/** A position between pages of a sort, after `count` checked records. */
export function placeInScan(count: number, place: Position): Position {
  return `s${count}/${place}`
}
