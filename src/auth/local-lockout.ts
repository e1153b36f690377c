/**
 * Slows down guessing at one server.
 *
 * Bad credentials are counted by the address that they come from. Past the limit, nothing
 * that is not known to be good is even looked at for a while, which grows with every further
 * try. Nothing is counted by account, so nobody can be locked out by another's guesses; and
 * who has shown good credentials from an address goes on with them, as does everybody whose
 * token cannot be guessed, so that guesses from behind the same router do not stop their
 * neighbours.
 */
import { fixedLimits } from '../limits.ts'
import type { Lockout } from './lockout.ts'

const { lockoutMsMin, lockoutMsMax, lockoutForgottenMs, lockoutAddressesMax } = fixedLimits

/** Good credentials that are remembered for an address. */
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
  /** Digests of tokens by the address that showed them. */
  readonly #good = new Map<string, Set<string>>()

  /** Zero failures: nobody is ever locked out. */
  constructor(failuresMax: number, now: () => number = () => performance.now()) {
    this.#failuresMax = failuresMax
    this.#now = now
  }

  lockedFor(address: string, digest: string): number {
    const place = placeOf(address)
    const record = this.#records.get(place)
    if (record === undefined) return 0
    const leftMs = record.lockedUntilMs - this.#now()
    if (leftMs <= 0 || this.#good.get(place)?.has(digest) === true) return 0
    return Math.ceil(leftMs / 1000)
  }

  noteBad(address: string): undefined {
    if (this.#failuresMax === 0) return
    const place = placeOf(address)
    const now = this.#now()
    const before = this.#records.get(place)
    const isOld = before === undefined || now - before.lastFailureMs > lockoutForgottenMs
    const failures = isOld ? 1 : before.failures + 1
    const over = failures - this.#failuresMax
    const pauseMs =
      over < 0 ? 0 : Math.min(lockoutMsMin * 2 ** Math.min(over, 30), lockoutMsMax)
    this.#records.delete(place)
    this.#records.set(place, {
      failures,
      lastFailureMs: now,
      lockedUntilMs: now + pauseMs,
    })
    forgetOldest(this.#records, lockoutAddressesMax)
  }

  noteGood(address: string, digest: string): undefined {
    if (this.#failuresMax === 0) return
    const place = placeOf(address)
    const good = this.#good.get(place) ?? new Set()
    if (good.has(digest)) return
    this.#good.delete(place)
    this.#good.set(place, good.add(digest))
    forgetOldest(good, goodMax)
    forgetOldest(this.#good, lockoutAddressesMax)
  }
}

function forgetOldest(known: Map<string, unknown> | Set<string>, sizeMax: number): void {
  if (known.size <= sizeMax) return
  const [oldest] = known.keys()
  known.delete(oldest!)
}

/** A client with one address of IPv6 usually has the whole network of it. */
function placeOf(address: string): string {
  if (!address.includes(':')) return address
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)
  return mapped?.[1] ?? networkOf(address)
}

/** The first four of the eight parts, with those written that `::` leaves out. */
function networkOf(address: string): string {
  const [head = '', tail] = address.split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const between = tail === undefined ? 0 : 8 - before.length - after.length
  const parts = [...before, ...Array<string>(Math.max(between, 0)).fill('0'), ...after]
  return parts.slice(0, 4).join(':')
}
