/** Decides whether long work continues. */
export interface Deadline {
  /**
   * Throws after the deadline, or when the client has disconnected. A call takes less than a
   * microsecond, so long work should call it every few thousand steps.
   */
  check(): void
  /**
   * Call this method between steps of long work on the request thread. If the caller has used up
   * its slice, it returns a promise to await, during which other requests run; otherwise undefined.
   * Throws like `check`.
   */
  pause(): Promise<void> | undefined
}
