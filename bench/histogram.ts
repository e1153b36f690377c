/**
 * Histogram of durations with buckets at most 1.6 % wide. It takes 8 kB for any number of
 * durations, and adding one takes nanoseconds.
 */
export class Histogram {
  readonly #buckets = new Uint32Array((powers + 1) * steps)
  #count = 0

  add(milliseconds: number): void {
    this.#buckets[bucketOf(milliseconds * 1000)]!++
    this.#count++
  }

  /** The duration in milliseconds that this share of all durations does not exceed. */
  quantile(share: number): number {
    const rank = Math.max(1, Math.ceil(this.#count * share))
    let seen = 0
    for (const [bucket, count] of this.#buckets.entries()) {
      seen += count
      if (seen >= rank) return upperEnd(bucket) / 1000
    }
    return NaN
  }

  get count(): number {
    return this.#count
  }
}

/** Buckets per power of two of microseconds. */
const steps = 64
/** Number of powers of two that the histogram covers: from a microsecond to more than an hour. */
const powers = 32

function bucketOf(microseconds: number): number {
  if (microseconds < 1) return 0
  const power = Math.min(powers, Math.floor(Math.log2(microseconds)))
  return (
    power * steps + Math.min(steps - 1, Math.floor((microseconds / 2 ** power - 1) * steps))
  )
}

function upperEnd(bucket: number): number {
  const power = Math.floor(bucket / steps)
  return 2 ** power * (1 + ((bucket % steps) + 1) / steps)
}
