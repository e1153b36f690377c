/**
 * Groups texts into batches, because the model is a third slower with single texts. In a batch, all
 * texts are padded to the length of the longest text, so their lengths should be similar.
 */

/** Positions in `lengths`, sorted by length and grouped into batches. */
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
 * Maximum tokens of a batch, as many as one text can have. Larger batches are hardly faster, and
 * delay other requests: a batch of this size takes about 50 ms on one core.
 */
export const batchTokensMax = 256

/** Minimum share of a batch's tokens that are text instead of padding. */
export const usefulShareMin = 0.8
