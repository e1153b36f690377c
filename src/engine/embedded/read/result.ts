/** Results of reads: rows, and how they were found. */
import type { ReadReport } from '../../../caller/read-report.ts'
import type { Joined } from '../../contract.ts'
import type { DocRow } from '../format/doc-row.ts'
import type { StoredPosition } from '../format/position.ts'
import type { Plan } from './plan.ts'
import { printPlan } from './print-plan.ts'
import type { ResultOrder } from './store-query.ts'

export interface JoinedRows {
  readonly joined: Joined
  /** Position of the last row, if more rows follow. */
  readonly next: StoredPosition | undefined
}

/** Counts of an executed read, to compare with its plan. */
export interface Met {
  /** Number of index entries and other candidates that the read visited. */
  entries: number
  /** Number of documents whose texts were read. */
  documents: number
}

/** The plan of an executed read, and the counts of its execution. */
export interface Explained {
  /** A printed plan if another thread has executed the read. */
  readonly plan: Plan | PrintedPlan
  readonly met: Met
}

export interface PrintedPlan {
  readonly text: string
  readonly expected: number | undefined
}

/** The plan of a read on a reader thread, printed for the main thread. */
export function printedPlan(plan: Plan | PrintedPlan): PrintedPlan {
  if ('text' in plan) return plan
  const text = `${printPlan(plan)}; on a reader thread`
  return { text, expected: plan.expected }
}

/** The report of a read. The plan is printed only when it is requested. */
export class ExplainedRead implements ReadReport {
  readonly #plan: Plan | PrintedPlan
  readonly entries: number
  readonly documents: number
  readonly elapsedMs: number

  constructor({ plan, met }: Explained, elapsedMs: number) {
    this.#plan = plan
    this.entries = met.entries
    this.documents = met.documents
    this.elapsedMs = elapsedMs
  }

  get plan(): string {
    return 'text' in this.#plan ? this.#plan.text : printPlan(this.#plan)
  }

  get expected(): number | undefined {
    return this.#plan.expected
  }
}

export interface CountResult extends Explained {
  readonly count: number
}

export interface Result extends Explained {
  readonly rows: DocRow[]
  /**
   * The joined texts of all rows, in place of the rows, and the position of the last row. Only for
   * queries with `textsOnly`.
   */
  readonly joined?: JoinedRows | undefined
  /** Whether matches follow the last row. */
  readonly more: boolean
  readonly order: ResultOrder
}
