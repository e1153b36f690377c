/**
 * Limits attempts to run reads on the main thread.
 *
 * A failed attempt blocks the main thread for milliseconds. Many long reads may arrive at once, so
 * each principal may fail only a few times per turn of the event loop.
 */

/** Maximum number of failed attempts of a principal per turn of the event loop. */
const failuresMax = 2

export class ShortReads {
  /** Failures in the current turn, by principal. */
  readonly #failures = new Map<string, number>()

  mayTry(principalName: string): boolean {
    return (this.#failures.get(principalName) ?? 0) < failuresMax
  }

  noteFailure(principalName: string): void {
    if (this.#failures.size === 0) setImmediate(() => this.#failures.clear())
    this.#failures.set(principalName, (this.#failures.get(principalName) ?? 0) + 1)
  }
}
