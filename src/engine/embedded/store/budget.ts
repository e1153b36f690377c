/** Budgets of reads, so that no read blocks the thread that answers requests. */
import { costOf, type Matchable } from '../../../language/filters/matches.ts'
import type { Steps } from '../../../runtime/steps.ts'
import { EngineError } from '../../errors.ts'

/** Thrown when a read exceeds the budget of its thread. */
export class OverBudget extends Error {}

/** Limit of a read, in units of one index lookup. Reading a document costs several units. */
export interface Budget {
  /** Charges work. Throws OverBudget, or another error when the read was aborted. */
  spend(units: number): void
  /**
   * Waits until the read may hold `size` bytes in total; throws when the read has to start again
   * later. If a budget has this method, rows are found without their texts, and the texts are read
   * once their sizes are known (row-transfer.ts).
   */
  hold?(size: number): void
}

/** Cost of reading and parsing a document, in index lookups. */
export const documentCost = 4

/** Cost of reading a text that was found: a megabyte exceeds the budget of the request thread. */
export function textCost(text: string): number {
  return text.length / 350
}

/** Number of values of a filter that are compared in the time of an index lookup. */
const valuesPerUnit = 200

/** Cost of comparing one document with a filter, without reading its text. */
export function matchCost(filter: Matchable): number {
  return costOf(filter) / valuesPerUnit
}

/** Cost of planning a read: the index is asked about each value of the filter. */
export function planCost(filter: Matchable): number {
  return costOf(filter)
}

/** Cost of one step of comparing a document: some hundred elements or values. */
const stepCost = 25

/** Runs steps, and charges each to the budget. The read can pause or end after each step. */
export function spending<T>(steps: Steps<T>, budget: Budget): T {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    budget.spend(stepCost)
  }
}

/** Budget of a read on the request thread, in index lookups: about two milliseconds of work. */
const unitsOnMainThread = 2000

export function mainThreadBudget(): Budget {
  let left = unitsOnMainThread
  return {
    spend(units) {
      left -= units
      if (left < 0) throw new OverBudget()
    },
  }
}

/** Commands to a read on a reader thread, in memory that both threads share. */
export const readCommands = { run: 0, pause: 1, giveUp: 2 } as const

/**
 * Memory for commands to a read. Words: the command; 1 once the thread has begun; 1 once its
 * request for memory is decided.
 */
export function newCommand(): Int32Array {
  return new Int32Array(new SharedArrayBuffer(12))
}

/** Sets the command and wakes the reader thread. `giveUp` is final. */
export function tell(command: Int32Array, what: number): void {
  if (isAborted(command)) return
  Atomics.store(command, 0, what)
  Atomics.notify(command, 0)
  if (what === readCommands.giveUp) answerHold(command)
}

/** Decides a request for memory. The reader thread then checks whether it has to give up. */
export function answerHold(command: Int32Array): void {
  Atomics.store(command, 2, 1)
  Atomics.notify(command, 2)
}

export function isAborted(command: Int32Array): boolean {
  return Atomics.load(command, 0) === readCommands.giveUp
}

export function hasBegun(command: Int32Array): boolean {
  return Atomics.load(command, 1) === 1
}

/** Bytes that a read may hold without a request. */
const heldUnasked = 262_144

/**
 * Budget of a read on a reader thread: its work is not limited, but it pauses, resumes and ends on
 * command. `ask` makes the request thread call `answerHold` once `size` bytes may be held.
 */
export function commandedBudget(
  command: Int32Array,
  ask: (size: number) => void,
): Budget & Required<Pick<Budget, 'hold'>> {
  Atomics.store(command, 1, 1)
  const spend = (): void => {
    // The thread sleeps here while the read is paused.
    while (Atomics.load(command, 0) === readCommands.pause)
      Atomics.wait(command, 0, readCommands.pause)
    if (isAborted(command)) throw new EngineError('read', 'the read was aborted')
  }
  return {
    spend,
    hold(size) {
      if (size <= heldUnasked) return
      Atomics.store(command, 2, 0)
      // An abort that came before the flag was reset does not set it again, so the wait below would
      // not end. In this case, `spend` throws here.
      spend()
      ask(size)
      Atomics.wait(command, 2, 0)
      spend()
    },
  }
}
