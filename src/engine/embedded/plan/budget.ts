/** What a read may cost, so that no read holds up the thread that answers requests. */
import { EngineError } from '../../errors.ts'

/** Thrown when a read has used up what its thread allows it. */
export class OverBudget extends Error {}

/** One unit is an index lookup; a document looked into costs more. */
export interface Budget {
  /** Units that one step may take: the time for which nothing else runs. */
  readonly step: number
  /** Counts what was used; throws OverBudget, or when the read is no longer wanted. */
  spend(units: number): void
}

/** Reading and parsing a document, in index lookups. */
export const documentCost = 4

/** What it costs to read a text, beyond finding it: a megabyte is too long for a short read. */
export function textCost(text: string): number {
  return text.length / 350
}

/** A short attempt, which leaves the budget as it is. */
export function tryOut(budget: Budget): Budget {
  let left = 512
  return {
    step: 256,
    spend(units) {
      budget.spend(0)
      left -= units
      if (left < 0) throw new OverBudget()
    },
  }
}

/** Index lookups that a read may make on the answering thread: about two milliseconds. */
const unitsOnMainThread = 2000

/** For a read on the answering thread, which may not be long. */
export function mainThreadBudget(): Budget {
  let left = unitsOnMainThread
  return {
    step: unitsOnMainThread,
    spend(units) {
      left -= units
      // One full step is always allowed; needing a second says that the read is long.
      if (left < -unitsOnMainThread / 2) throw new OverBudget()
    },
  }
}

/** What a read on a reading thread is told to do, in memory that both threads see. */
export const readCommands = { run: 0, pause: 1, giveUp: 2 } as const

/** What to do, and whether the thread has begun. */
export function newCommand(): Int32Array {
  return new Int32Array(new SharedArrayBuffer(8))
}

/** Its thread may be waiting for this. What was given up stays so. */
export function tell(command: Int32Array, what: number): void {
  if (Atomics.load(command, 0) === readCommands.giveUp) return
  Atomics.store(command, 0, what)
  Atomics.notify(command, 0)
}

export function hasBegun(command: Int32Array): boolean {
  return Atomics.load(command, 1) === 1
}

/** Units between two looks at the command: some milliseconds. */
const stepSize = 4_000

/** For a read on a reading thread, which may take any time, but does as it is told. */
export function commandedBudget(command: Int32Array): Budget {
  Atomics.store(command, 1, 1)
  return {
    step: stepSize,
    spend() {
      // Paused where it is: others have their turn, and this thread takes no time.
      while (Atomics.load(command, 0) === readCommands.pause)
        Atomics.wait(command, 0, readCommands.pause)
      if (Atomics.load(command, 0) === readCommands.giveUp)
        throw new EngineError('read', 'the read was given up')
    },
  }
}
