/**
 * Long work in steps.
 *
 * What grows with a request or a document is written as a generator that yields every few
 * hundred microseconds. Its runner says what happens in between: nothing, on a thread
 * that nobody else waits for; or others have their turn, on the one that answers requests.
 */
import type { Deadline } from './deadline.ts'

/** Work that can be interrupted wherever it yields, and comes to a T. */
export type Steps<T> = Generator<void, T, void>

/** All of it, without a pause. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/**
 * Lets others have their turn as often as the deadline asks for it. Work that is done before
 * that takes no promise. Throws, or rejects, when the time is over.
 */
export function inTurns<T>(steps: Steps<T>, deadline: Deadline): T | Promise<T> {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    const pause = deadline.pause()
    if (pause !== undefined) return afterPause(pause, steps, deadline)
  }
}

/** Goes on with a value: at once where it is there, and later where it is promised. */
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

/** For items each of which takes little. */
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

/** Values that are looked at between two places where work can be interrupted. */
const pace = 500

/** Characters of JSON for each value: few, so that work that is measured in characters pauses early. */
export const valueLength = 8

/** Tells a loop over many values when to yield. */
export class Pace {
  #left = pace

  /** One more was looked at: whether it is time. */
  isDue(): boolean {
    if (--this.#left > 0) return false
    this.#left += pace
    return true
  }

  /** What was done took as long as looking at so many values. */
  spend(values: number): void {
    this.#left -= values
  }
}

/**
 * Interrupts recursion, and takes it up again.
 *
 * A generator for each object and array would cost small documents more than what is done
 * with them. So a walk is made of plain functions that return whether they came to their
 * end. Where it is time to stop, each of those that are open leaves what it has yet to do
 * and returns false; later that is done, the innermost first.
 */
export class InterruptibleWalk {
  #left = pace
  #open: (() => boolean)[] = []

  /** One more was looked at: whether it is time to stop. */
  isDue(): boolean {
    return --this.#left <= 0
  }

  /** Stops; `goOn` does what is left, and says whether it came to its end. */
  stop(goOn: () => boolean): false {
    this.#open.push(goOn)
    return false
  }

  /** The steps that are left of a walk that stopped. One that did not needs no generator. */
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

/** What an action returns, at once or later; what it throws becomes a rejection. */
export function neverThrowing<T>(act: () => T | Promise<T>): T | Promise<T> {
  try {
    return act()
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return Promise.reject(error)
  }
}
