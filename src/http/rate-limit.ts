/** Rate limit of commands per principal, for all servers and threads together. */
export interface RateLimit {
  readonly perSecond: number
  /**
   * Counts a command and returns 0 if the command is allowed. Otherwise returns the whole seconds,
   * at least 1, until the next command is allowed. A failure rejects the command.
   */
  take(principalName: string): number | Promise<number>
}
