/**
 * Slows down guessing of credentials, with counters in the memory of one server.
 *
 * Invalid credentials are counted per client address. At the limit, the server stops checking
 * credentials from the address for a time that doubles with every further attempt, up to a minute.
 * Attempts are not counted per account, so a client cannot lock out the owner of an account. A
 * locked address can still use generated tokens, which cannot be guessed, and credentials that were
 * valid from it before: clients behind the same router keep working.
 */
import { fixedLimits } from '../limits.ts'
import type { Lockout } from './lockout.ts'
import { networkOf } from './network-of.ts'

const { lockoutMsMin, lockoutMsMax, lockoutForgottenMs, lockoutAddressesMax } = fixedLimits

/** Maximum number of valid credentials that are remembered per address. */
const goodMax = 100

interface Record {
  failures: number
  lastFailureMs: number
  lockedUntilMs: number
}

export class LocalLockout implements Lockout {
  readonly #failuresMax: number
  readonly #now: () => number
  readonly #records = new Map<string, Record>()
  /** Digests of valid tokens, by the address that sent them. */
  readonly #good = new Map<string, Set<string>>()

  /** `failuresMax` 0: lockout is disabled. */
  constructor(failuresMax: number, now: () => number = () => performance.now()) {
    this.#failuresMax = failuresMax
    this.#now = now
  }

  lockedFor(address: string, digest: string): number {
    const network = networkOf(address)
    const record = this.#records.get(network)
    if (record === undefined) return 0
    const leftMs = record.lockedUntilMs - this.#now()
    if (leftMs <= 0 || this.#good.get(network)?.has(digest) === true) return 0
    return Math.ceil(leftMs / 1000)
  }

  noteBad(address: string): undefined {
    if (this.#failuresMax === 0) return
    const network = networkOf(address)
    const now = this.#now()
    const before = this.#records.get(network)
    const isOld = before === undefined || now - before.lastFailureMs > lockoutForgottenMs
    const failures = isOld ? 1 : before.failures + 1
    const over = failures - this.#failuresMax
    const pauseMs =
      over < 0 ? 0 : Math.min(lockoutMsMin * 2 ** Math.min(over, 30), lockoutMsMax)
    this.#records.delete(network)
    this.#records.set(network, {
      failures,
      lastFailureMs: now,
      lockedUntilMs: now + pauseMs,
    })
    forgetOldest(this.#records, lockoutAddressesMax)
  }

  noteGood(address: string, digest: string): undefined {
    if (this.#failuresMax === 0) return
    const network = networkOf(address)
    const good = this.#good.get(network) ?? new Set()
    if (good.has(digest)) return
    this.#good.delete(network)
    this.#good.set(network, good.add(digest))
    forgetOldest(good, goodMax)
    forgetOldest(this.#good, lockoutAddressesMax)
  }
}

function forgetOldest(known: Map<string, unknown> | Set<string>, sizeMax: number): void {
  if (known.size <= sizeMax) return
  const [oldest] = known.keys()
  known.delete(oldest!)
}
