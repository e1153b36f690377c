/**
 * Slows down guessing: counts bad credentials by the address that they come from, and says
 * for how long no more from there are to be looked at.
 *
 * A failure rejects the request, whatever its credentials: otherwise an attacker who can cause
 * failures could guess without being counted.
 */
export interface Lockout {
  /** Whether credentials from there are not to be looked at; seconds until they are. */
  lockedFor(address: string, digest: string): number | Promise<number>
  /** A promise where others have to know before the request is answered. */
  noteBad(address: string): Promise<void> | undefined
  /** Who has shown these from there goes on with them, whatever else comes from there. */
  noteGood(address: string, digest: string): Promise<void> | undefined
}
