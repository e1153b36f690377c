/**
 * Runs long work in steps.
 *
 * Work whose duration grows with a request or a document is a generator that yields every few
 * hundred microseconds. Between two steps, a worker thread does nothing, while the request thread
 * can run other requests.
 */
import type { Deadline } from './deadline.ts'

/** Work that can be interrupted at each yield, with a result of type T. */
export type Steps<T> = Generator<void, T, void>

/** Runs all steps without a pause. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/**
 * Runs the steps, and pauses for other requests when the deadline asks for it. If all steps end
 * before the first pause, it returns the result without a promise. Throws or rejects after the
 * deadline.
 */
export function inTurns<T>(steps: Steps<T>, deadline: Deadline): T | Promise<T> {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    const pause = deadline.pause()
    if (pause !== undefined) return afterPause(pause, steps, deadline)
  }
}

/**
 * Applies `goOn` to a value, or to the result of a promise. Returns a promise only in the second
 * case.
 */
export function andThen<T, Made>(
  value: T | Promise<T>,
  goOn: (value: T) => Made | Promise<Made>,
): Made | Promise<Made> {
  return value instanceof Promise ? value.then(goOn) : goOn(value)
}

async function afterPause<T>(
  pause: Promise<void>,
  steps: Steps<T>,
  deadline: Deadline,
): Promise<T> {
  await pause
  return inTurns(steps, deadline)
}

/** Maps items, with pauses for other requests between them. One call of `make` must be short. */
export async function mapInTurns<T, Made>(
  items: readonly T[],
  make: (item: T) => Made,
  deadline: Deadline,
): Promise<Made[]> {
  const made: Made[] = []
  for (const item of items) {
    made.push(make(item))
    const pause = deadline.pause()
    if (pause !== undefined) await pause
  }
  return made
}

/** Number of values that are visited between two points where work can be interrupted. */
const pace = 500

/**
 * Characters of JSON that count as one value. The number is low, so that work measured in
 * characters yields early.
 */
export const valueLength = 8

/** Counts visited values, and tells a loop when to yield. */
export class Pace {
  #left = pace

  /** Counts one value; returns whether it is time to yield. */
  isDue(): boolean {
    if (--this.#left > 0) return false
    this.#left += pace
    return true
  }

  /** Counts work that takes as long as visiting this many values. */
  spend(values: number): void {
    this.#left -= values
  }
}

/**
 * Interrupts and resumes a recursive walk through a value.
 *
 * A generator per object and array would cost more than the work on a small document. A walk
 * therefore consists of plain functions that return whether they finished. When it is time to stop,
 * each active function passes its remaining work to `stop` and returns false. The remaining work
 * runs later, that of the innermost function first.
 */
export class InterruptibleWalk {
  #left = pace
  #open: (() => boolean)[] = []

  /** Counts one value; returns whether it is time to stop. */
  isDue(): boolean {
    return --this.#left <= 0
  }

  /** Stops the walk; `goOn` does the remaining work and returns whether it finished. */
  stop(goOn: () => boolean): false {
    this.#open.push(goOn)
    return false
  }

  /** The remaining steps of a stopped walk. A walk that did not stop has no remaining steps. */
  *rest(): Steps<void> {
    while (this.#open.length > 0) {
      yield
      this.#resume()
    }
  }

  #resume(): void {
    this.#left = pace
    const open = this.#open
    this.#open = []
    for (const [i, goOn] of open.entries())
      if (!goOn()) {
        this.#open.push(...open.slice(i + 1))
        return
      }
  }
}

/** Calls `act`, and converts an Error that it throws to a rejected promise. */
export function neverThrowing<T>(act: () => T | Promise<T>): T | Promise<T> {
  try {
    return act()
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return Promise.reject(error)
  }
}
