/** Rate limit of commands per principal, over all servers and threads. */
export interface RateLimit {
  readonly perSecond: number
  /**
   * Returns 0 and counts a command when it is allowed; otherwise the whole seconds until the next one
   * is, at least 1. A failure rejects the command.
   */
  take(principalName: string): number | Promise<number>
}
