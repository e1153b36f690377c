/**
 * Which texts the model sees together. One at a time wastes a third of its speed; together,
 * all are filled up to the longest, so they should be of about the same length.
 */

/** Positions in `lengths`, the shortest texts first, in batches that are each worth a run. */
export function batchesOf(lengths: readonly number[]): readonly (readonly number[])[] {
  const byLength = lengths.map((_, position) => position)
  byLength.sort((a, b) => lengths[a]! - lengths[b]!)
  const batches: number[][] = []
  let batch: number[] = []
  let tokens = 0
  for (const position of byLength) {
    const length = lengths[position]!
    const filled = (batch.length + 1) * length
    if (
      batch.length > 0 &&
      (filled > batchTokensMax || tokens + length < filled * usefulShareMin)
    ) {
      batches.push(batch)
      batch = []
      tokens = 0
    }
    batch.push(position)
    tokens += length
  }
  if (batch.length > 0) batches.push(batch)
  return batches
}

/**
 * As much as one text can have. More at a time is hardly faster, and others wait meanwhile:
 * this is some 50 milliseconds on one core.
 */
export const batchTokensMax = 256

/** Minimum share of a batch's tokens that are text, not padding. */
export const usefulShareMin = 0.8
