/**
 * Whose reads are tried on the answering thread before they go to another.
 *
 * An attempt that fails takes milliseconds, in which nobody else is answered. Many long reads
 * may come at once, so of a principal only a few are tried in one turn of the event loop.
 */

/** Attempts of a principal that may fail in one turn. */
const failuresMax = 2

export class ShortReads {
  /** In this turn, by principal. */
  readonly #failures = new Map<string, number>()

  mayTry(principalName: string): boolean {
    return (this.#failures.get(principalName) ?? 0) < failuresMax
  }

  noteFailure(principalName: string): void {
    if (this.#failures.size === 0) setImmediate(() => this.#failures.clear())
    this.#failures.set(principalName, (this.#failures.get(principalName) ?? 0) + 1)
  }
}
