/** Decides whether long work continues. */
export interface Deadline {
  /**
   * Throws after the deadline, or when the client has disconnected. Takes less than a microsecond:
   * call it every few thousand steps.
   */
  check(): void
  /**
   * Call between steps of long work on the thread that serves requests. Returns a promise to await
   * when the caller has used up its slice, which lets other requests run; otherwise undefined.
   * Throws like `check`.
   */
  pause(): Promise<void> | undefined
}
