/** How fast anybody may send commands: by principal, wherever its commands are answered. */
export interface RateLimit {
  readonly perSecond: number
  /**
   * 0: go ahead, which counts as a command. Else the whole seconds after which there will be
   * room, at least one. A failure refuses the command.
   */
  take(principalName: string): number | Promise<number>
}
