/**
 * Long work in steps.
 *
 * What grows with a request or a document is written as a generator that yields every few
 * hundred microseconds. Whoever runs it says what happens in between: nothing, on a thread
 * that nobody else waits for; or others have their turn, on the one that answers requests.
 */
import type { Deadline } from './caller.ts'

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

async function afterPause<T>(
  pause: Promise<void>,
  steps: Steps<T>,
  deadline: Deadline,
): Promise<T> {
  await pause
  return inTurns(steps, deadline)
}

/** What comes of each, one after the other. */
export function* inOrder<T, Made>(
  items: readonly T[],
  make: (item: T, position: number) => Steps<Made>,
): Steps<Made[]> {
  const made: Made[] = []
  for (let i = 0; i < items.length; i++) {
    if (i > 0) yield
    made.push(yield* make(items[i]!, i))
  }
  return made
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

/** Values that a walk looks at between two places where it can be interrupted. */
const paceMax = 500

/** Tells a walk over many values when to yield. */
export class Pace {
  #left = paceMax

  /** One more was looked at: whether it is time. */
  isDue(): boolean {
    if (--this.#left > 0) return false
    this.#left = paceMax
    return true
  }
}
