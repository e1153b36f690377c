/**
 * A code that signs in to the console once. The server prints it in a link on its terminal, so the
 * operator does not have to copy a token. The server keeps only a hash of the code, and forgets the
 * token when the code is redeemed.
 */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { fixedLimits } from '../limits.ts'

/** Why a code is rejected. */
export type CodeRefusal = 'wrong' | 'used' | 'expired'

export class SignInCode {
  readonly #now: () => number
  #digest: Buffer | undefined
  #expiresAt = 0
  #token: string | undefined

  /** `now`: milliseconds of a clock. */
  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  /** Creates a code for the token. It replaces an earlier code. */
  create(token: string): string {
    // 192 bits, so that a code cannot be guessed.
    const code = randomBytes(24).toString('base64url')
    this.#digest = digestOf(code)
    this.#expiresAt = this.#now() + fixedLimits.signInCodeMs
    this.#token = token
    return code
  }

  /** The token of the code. The code cannot be redeemed again. */
  redeem(code: string): { readonly token: string } | { readonly why: CodeRefusal } {
    // Comparing hashes in constant time reveals nothing about the code.
    if (this.#digest === undefined || !timingSafeEqual(digestOf(code), this.#digest))
      return { why: 'wrong' }
    const token = this.#token
    this.#token = undefined
    if (this.#now() >= this.#expiresAt) return { why: 'expired' }
    return token === undefined ? { why: 'used' } : { token }
  }
}

function digestOf(code: string): Buffer {
  return hash('sha256', code, 'buffer')
}
