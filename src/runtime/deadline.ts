/** How long work may go on. */
export interface Deadline {
  /**
   * Throws once the time is over or the client has disconnected. It costs less than a
   * microsecond: ask every few thousand steps.
   */
  check(): void
  /**
   * For long work on the answering thread, between steps. When the caller has held the
   * thread for as long as it may at a time, returns a promise to wait for, which gives other
   * requests their turn; otherwise undefined. Throws as `check` does.
   */
  pause(): Promise<void> | undefined
}
