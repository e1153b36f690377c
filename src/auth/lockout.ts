/**
 * Slows down guessing of credentials: counts invalid credentials per client address, and locks the
 * address for a while after too many.
 *
 * If one of these methods fails, the request is rejected, even if its credentials are valid.
 * Otherwise an attacker who can cause failures could guess without being counted.
 */
export interface Lockout {
  /**
   * Seconds until the server checks the credentials with this digest from this address. 0: it
   * checks them now, because the address is not locked or the credentials were valid from it
   * before.
   */
  lockedFor(address: string, digest: string): number | Promise<number>
  /**
   * Counts an invalid credential. Returns a promise if the count has to be stored before the reply
   * is sent.
   */
  noteBad(address: string): Promise<void> | undefined
  /** Remembers valid credentials: they stay usable from this address while it is locked. */
  noteGood(address: string, digest: string): Promise<void> | undefined
}
