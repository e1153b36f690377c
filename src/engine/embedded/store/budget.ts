/** What a read may cost, so that no read holds up the thread that answers requests. */
import { costOf, type Matchable } from '../../../language/filters/matches.ts'
import type { Steps } from '../../../runtime/steps.ts'
import { EngineError } from '../../errors.ts'

/** Thrown when a read has used up what its thread allows it. */
export class OverBudget extends Error {}

/** One unit is an index lookup; a document looked into costs more. */
export interface Budget {
  /** Counts what was used; throws OverBudget, or when the read is no longer wanted. */
  spend(units: number): void
  /**
   * Waits until so many bytes may be kept, in all; throws when the read is to start again
   * later. Where this is present, rows are found without their texts, and the texts are read
   * when it is known how large they are (row-transfer.ts).
   */
  hold?(size: number): void
}

/** Reading and parsing a document, in index lookups. */
export const documentCost = 4

/** What it costs to read a text, beyond finding it: a megabyte is too long for a short read. */
export function textCost(text: string): number {
  return text.length / 350
}

/** Values of a filter that are compared in the time of an index lookup. */
const valuesPerUnit = 200

/** What a filter makes each document cost that is compared with it, beside its text. */
export function matchCost(filter: Matchable): number {
  return costOf(filter) / valuesPerUnit
}

/** What planning a read costs: the index is asked about each value of the filter. */
export function planCost(filter: Matchable): number {
  return costOf(filter)
}

/** A step of comparing one document, in index lookups: some hundred elements or values. */
const stepCost = 25

/** All of the steps, of which each is charged, and each is a place to pause or to end. */
export function spending<T>(steps: Steps<T>, budget: Budget): T {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    budget.spend(stepCost)
  }
}

/** Index lookups that a read may make on the answering thread: about two milliseconds. */
const unitsOnMainThread = 2000

/** For a read on the answering thread, which may not be long. */
export function mainThreadBudget(): Budget {
  let left = unitsOnMainThread
  return {
    spend(units) {
      left -= units
      if (left < 0) throw new OverBudget()
    },
  }
}

/** What a read on a reading thread has to do, in memory that both threads see. */
export const readCommands = { run: 0, pause: 1, giveUp: 2 } as const

/** What to do, whether the thread has begun, and whether what it asked for is decided. */
export function newCommand(): Int32Array {
  return new Int32Array(new SharedArrayBuffer(12))
}

/** Its thread may be waiting for this. What was given up stays so. */
export function tell(command: Int32Array, what: number): void {
  if (isGivenUp(command)) return
  Atomics.store(command, 0, what)
  Atomics.notify(command, 0)
  if (what === readCommands.giveUp) answerHold(command)
}

/** The thread goes on; it looks first whether it is to give up. */
export function answerHold(command: Int32Array): void {
  Atomics.store(command, 2, 1)
  Atomics.notify(command, 2)
}

export function isGivenUp(command: Int32Array): boolean {
  return Atomics.load(command, 0) === readCommands.giveUp
}

export function hasBegun(command: Int32Array): boolean {
  return Atomics.load(command, 1) === 1
}

/** Bytes that a read may keep without asking. */
const heldUnasked = 262_144

/**
 * For a read on a reading thread, which may take any time, but stops and goes on when
 * asked. `ask` has the answering thread call `answerHold` when so many bytes may be kept.
 */
export function commandedBudget(
  command: Int32Array,
  ask: (size: number) => void,
): Budget & Required<Pick<Budget, 'hold'>> {
  Atomics.store(command, 1, 1)
  const spend = (): void => {
    // Paused where it is: others have their turn, and this thread takes no time.
    while (Atomics.load(command, 0) === readCommands.pause)
      Atomics.wait(command, 0, readCommands.pause)
    if (isGivenUp(command)) throw new EngineError('read', 'the read was given up')
  }
  return {
    spend,
    hold(size) {
      if (size <= heldUnasked) return
      Atomics.store(command, 2, 0)
      // It may have been given up before that, and then nobody answers.
      spend()
      ask(size)
      Atomics.wait(command, 2, 0)
      spend()
    },
  }
}
