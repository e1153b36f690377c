/**
 * Slows down guessing of credentials: counts invalid credentials per client address, and blocks
 * the address for a while after too many.
 *
 * A failed call rejects the request, even if its credentials are valid: otherwise an attacker
 * who can cause failures could guess without being counted.
 */
export interface Lockout {
  /**
   * Seconds until credentials from this address are checked again; 0: the address is not
   * locked.
   */
  lockedFor(address: string, digest: string): number | Promise<number>
  /**
   * Counts an invalid credential. Returns a promise when the count must be stored before the reply.
   */
  noteBad(address: string): Promise<void> | undefined
  /** Remembers valid credentials: they stay usable from this address while it is locked. */
  noteGood(address: string, digest: string): Promise<void> | undefined
}
