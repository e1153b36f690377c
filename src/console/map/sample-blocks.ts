/** Draws a random sample of a collection, in blocks of documents with consecutive ids. */
import { seededRandom } from './random.ts'

/** Documents per block: as many as one page of a find has. */
export const blockSize = 20

/**
 * Maximum number of documents of which a sample is drawn. The server passes the skipped documents
 * one by one, so a sample of a larger collection would take too long.
 */
const sampledMax = 200_000

/** The same sample each time, so that points do not change when the map is loaded again. */
const seed = 20_260

/**
 * Offsets of the blocks in the order of ids, ascending; undefined if all documents are wanted, or if
 * there are too many to draw from.
 */
export function drawBlocks(total: number, countMax: number): readonly number[] | undefined {
  if (total <= countMax || total > sampledMax) return undefined
  const blocks = Array.from({ length: Math.ceil(total / blockSize) }, (_, block) => block)
  const wanted = Math.ceil(countMax / blockSize)
  const random = seededRandom(seed)
  // Fisher-Yates, as far as blocks are wanted.
  for (let at = 0; at < wanted; at++) {
    const other = at + Math.floor(random() * (blocks.length - at))
    const drawn = blocks[other]!
    blocks[other] = blocks[at]!
    blocks[at] = drawn
  }
  return blocks
    .slice(0, wanted)
    .toSorted((one, other) => one - other)
    .map((block) => block * blockSize)
}
