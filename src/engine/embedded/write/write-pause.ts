/**
 * A pause of writes: the writer thread waits between two commits while another thread opens a
 * snapshot of all stores. Both threads synchronize through a shared number, so the pause is as
 * short as the work in it.
 */

/** The shared number, for sending to another thread. */
export type Gate = Int32Array<SharedArrayBuffer>

const state = { idle: 0, held: 1, released: 2, givenUp: 3 } as const

/** Maximum length of a pause in milliseconds: if the other thread hangs, writes continue. */
const heldMsMax = 5_000

/**
 * Maximum milliseconds to wait until the pause starts: the writer thread first finishes its current
 * group of writes or part of an index step.
 */
const awaitedMsMax = 120_000

export function makeGate(): Gate {
  return new Int32Array(new SharedArrayBuffer(4))
}

/** On the writer thread: waits until the other thread ends the pause, for at most `heldMsMax`. */
export function pauseUntilOpened(gate: Gate): void {
  if (Atomics.compareExchange(gate, 0, state.idle, state.held) !== state.idle) return
  Atomics.notify(gate, 0)
  Atomics.wait(gate, 0, state.held, heldMsMax)
  Atomics.compareExchange(gate, 0, state.held, state.givenUp)
}

/** On the thread that takes the snapshot: runs `look` while the writer thread is paused. */
export function whilePaused<T>(gate: Gate, look: () => T): T {
  Atomics.wait(gate, 0, state.idle, awaitedMsMax)
  if (Atomics.load(gate, 0) !== state.held)
    throw new Error('the writer thread did not become free in time')
  try {
    const seen = look()
    // If the writer thread has given up waiting, a write may have happened, and the snapshots
    // differ in time.
    if (Atomics.compareExchange(gate, 0, state.held, state.released) !== state.held)
      throw new Error('taking a snapshot of all collections and tables took too long')
    return seen
  } finally {
    abandon(gate)
  }
}

/** Ends the pause, or the wait for it. */
export function abandon(gate: Gate): void {
  Atomics.store(gate, 0, state.released)
  Atomics.notify(gate, 0)
}
