/**
 * Rate limit of one server: a token bucket per principal, which holds the commands of one second
 * and refills steadily.
 */
import type { RateLimit } from './rate-limit.ts'

interface Bucket {
  left: number
  /** Time of the last refill, in milliseconds of performance.now(). */
  at: number
}

/**
 * Maximum buckets per generation; two generations are kept. Principals are few, so the limit is
 * only a precaution.
 */
const bucketsMax = 50_000

export class LocalRateLimit implements RateLimit {
  readonly perSecond: number
  readonly #size: number
  #buckets = new Map<string, Bucket>()
  /**
   * Buckets of the previous generation. Buckets without use in the current generation are
   * evicted.
   */
  #earlier = new Map<string, Bucket>()

  constructor(perSecond: number) {
    this.perSecond = perSecond
    this.#size = Math.max(1, perSecond)
  }

  take(principal: string, now = performance.now()): number {
    const bucket = this.#fill(principal, now)
    if (bucket.left < 1) return this.#secondsUntilOne(bucket)
    bucket.left--
    return 0
  }

  /** Seconds until `take` would succeed; does not take a token. */
  secondsUntilRoom(principal: string, now = performance.now()): number {
    const bucket = this.#fill(principal, now)
    return bucket.left < 1 ? this.#secondsUntilOne(bucket) : 0
  }

  #secondsUntilOne({ left }: Bucket): number {
    return Math.ceil((1 - left) / this.perSecond)
  }

  #fill(principal: string, now: number): Bucket {
    const bucket = this.#bucketOf(principal, now)
    const filled = ((now - bucket.at) / 1000) * this.perSecond
    bucket.left = Math.min(this.#size, bucket.left + filled)
    bucket.at = now
    return bucket
  }

  #bucketOf(principal: string, now: number): Bucket {
    const known = this.#buckets.get(principal)
    if (known !== undefined) return known
    const bucket = this.#earlier.get(principal) ?? { left: this.#size, at: now }
    if (this.#buckets.size >= bucketsMax) {
      this.#earlier = this.#buckets
      this.#buckets = new Map()
    }
    this.#buckets.set(principal, bucket)
    return bucket
  }
}
