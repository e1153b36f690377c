/**
 * Who waits for an answer, and for how long.
 *
 * Every request has one caller, which goes with it through parsing, analysis, reading and
 * printing. A timer alone could not end work that holds the thread, since it would not fire;
 * so long work asks its caller now and then whether to go on.
 */
import { AnalysisBudget } from './analysis-budget.ts'
import type { Deadline } from '../runtime/deadline.ts'

export type { Deadline }

export interface Caller extends Deadline {
  /** The token or account that asks, by name. Threads take turns among principals. */
  readonly principalName: string
  /** The same object for all requests of a connection. Next, turns are taken among these. */
  readonly connection: object
  /**
   * Aborted when the time is over or the client has disconnected, with the reason. Making a
   * signal takes microseconds, so only what waits should ask for it.
   */
  readonly signal: AbortSignal
  /** What the analysis of its texts may still cost. */
  readonly analysis: AnalysisBudget
  /**
   * Takes room for so many bytes that are about to be read, and kept until the reply is out;
   * instead of `before`, which were taken for the same. Undefined: there is some. A promise
   * where it has to be waited for, which fails when there is none in time; until it is
   * settled nothing is held, so that two cannot wait for each other. Absent: nobody counts.
   */
  reserve?(size: number, before: number): Promise<void> | undefined
  /**
   * Memory for values that are about to be made of a long text, for a while: what it returns
   * gives it back. Waits until there is some; fails when the caller's time is over. Absent:
   * nobody counts.
   */
  borrow?(size: number): Promise<() => void>
}

/** Milliseconds for which requests may hold the answering thread in one turn of its loop. */
export const sliceMs = 5

/** The server itself, or a tool: nobody else waits for it, and only the signal ends it. */
export function ownCaller(signal: AbortSignal = new AbortController().signal): Caller {
  const deadline: Deadline = {
    check: () => signal.throwIfAborted(),
    pause() {
      signal.throwIfAborted()
      return undefined
    },
  }
  const analysis = new AnalysisBudget(deadline)
  return { principalName: '', connection: signal, signal, analysis, ...deadline }
}
