/**
 * A moment at which nothing is written: the writing thread waits between two commits while
 * another thread looks at all stores. The two meet at a number that they share, so that it
 * takes no longer than looking does.
 */

/** A meeting as it goes from one thread to another. */
export type Gate = Int32Array<SharedArrayBuffer>

const state = { open: 0, held: 1, released: 2, givenUp: 3 } as const

/** How long writes may wait: should the one who looks be stuck, they go on. */
const heldMsMax = 5_000

/** How long a group of writes, or a part of an index, may take before it is our turn. */
const awaitedMsMax = 120_000

export function makeGate(): Gate {
  return new Int32Array(new SharedArrayBuffer(4))
}

/** The side of the thread that writes: waits until the other side has looked. */
export function holdStill(gate: Gate): void {
  if (Atomics.compareExchange(gate, 0, state.open, state.held) !== state.open) return
  Atomics.notify(gate, 0)
  Atomics.wait(gate, 0, state.held, heldMsMax)
  Atomics.compareExchange(gate, 0, state.held, state.givenUp)
}

/** The other side: does what it is given while nothing is written. */
export function whileHeld<T>(gate: Gate, look: () => T): T {
  Atomics.wait(gate, 0, state.open, awaitedMsMax)
  if (Atomics.load(gate, 0) !== state.held)
    throw new Error('the thread that writes was not free in time')
  try {
    const seen = look()
    // Else what was looked at last may be of another moment than what came first.
    if (Atomics.compareExchange(gate, 0, state.held, state.released) !== state.held)
      throw new Error('looking at all collections and tables took too long')
    return seen
  } finally {
    abandon(gate)
  }
}

/** Nobody waits here any more. */
export function abandon(gate: Gate): void {
  Atomics.store(gate, 0, state.released)
  Atomics.notify(gate, 0)
}
