/**
 * Work of many requests on one model, a slice at a time. A request that comes back for another
 * slice stands at the end of the queue, so a request of one slice waits for one slice of
 * each of the others, however much they have left to do.
 */
import { setImmediate } from 'node:timers/promises'

export class ModelTurns {
  #last: Promise<unknown> = Promise.resolve()

  /** The slice is not begun if the signal has been raised by then. */
  take<T>(slice: () => T | Promise<T>, signal: AbortSignal): Promise<T> {
    const turn = this.#last.then(async () => {
      // Slices hold up the thread; messages about others get in between them.
      await setImmediate()
      signal.throwIfAborted()
      return slice()
    })
    this.#last = turn.catch(() => undefined)
    return turn
  }
}
