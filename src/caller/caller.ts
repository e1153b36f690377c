/**
 * The client or tool that waits for a result, and its deadline.
 *
 * Every request has one caller, which is passed through parsing, analysis, reading and printing. A
 * timer cannot fire while work holds the thread, so long work regularly checks with its caller
 * whether to continue.
 */
import { AnalysisBudget } from './analysis-budget.ts'
import type { Deadline } from '../runtime/deadline.ts'
import type { ReadReport } from './read-report.ts'

export type { Deadline }

export interface Caller extends Deadline {
  /** Name of the token or account. Threads take turns among principals. */
  readonly principalName: string
  /**
   * Identical for all requests of a connection. Within a principal, turns alternate among
   * connections.
   */
  readonly connection: object
  /**
   * Aborted with the reason at the deadline, or when the client disconnects. Creating a signal
   * takes microseconds, so only code that waits should access it.
   */
  readonly signal: AbortSignal
  /** Remaining budget for the analysis of texts. */
  readonly analysis: AnalysisBudget
  /**
   * Reserves memory for `size` bytes that are about to be read and kept until the reply is sent;
   * replaces an earlier reservation of `before` bytes. Returns undefined if memory is available,
   * and otherwise a promise, which rejects at the deadline. A waiting caller gives up its earlier
   * reservation, so that two callers cannot deadlock. Absent: memory is not limited.
   */
  reserve?(size: number, before: number): Promise<void> | undefined
  /**
   * Borrows memory for values that are parsed from a long text. The returned function releases the
   * memory. Waits until memory is available; rejects at the deadline. Absent: memory is not
   * limited.
   */
  borrow?(size: number): Promise<() => void>
  /** Called after each read for this caller. Absent: reports are not wanted. */
  noteRead?(report: ReadReport): void
}

/** Milliseconds for which requests may hold the main thread in one turn of its event loop. */
export const sliceMs = 5

/** Caller for work of the server itself or a tool, without a deadline; only the signal ends it. */
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
