/**
 * Limits the cost of analyzing the texts of one request.
 *
 * Analyzers and texts both come from clients: a pattern can run endlessly on a short text, and
 * grams of grams can become arbitrarily many. Every stage therefore counts its steps here, and a
 * request that exceeds the budget is rejected. A step takes 10 to 20 ns.
 *
 * Between texts the thread serves other requests (`nextText`), so the limit per text bounds their
 * delay. Analysis ends early when a text yields more terms than an index accepts, a few kilobytes
 * (search/lexical/analyzer.ts), so few texts come near these limits.
 */
import type { Deadline } from '../runtime/deadline.ts'
import { apiError } from '../errors/api-error.ts'
import { fixedLimits } from '../limits.ts'

/** Counts steps, and throws when they exceed the budget. */
export interface StepBudget {
  take(steps: number): void
}

/** Number of steps between two checks of the deadline. These steps take one to two milliseconds. */
const checkSteps = 65_536

/** The budget of one request, to which the analysis of all its texts is charged. */
export class AnalysisBudget implements StepBudget {
  readonly #deadline: Deadline
  readonly #textMax: number
  #leftOfText: number
  #left: number
  #toCheck = checkSteps

  constructor(
    deadline: Deadline,
    textMax: number = fixedLimits.analysisTextStepsMax,
    requestMax: number = fixedLimits.analysisStepsMax,
  ) {
    this.#deadline = deadline
    this.#textMax = this.#leftOfText = textMax
    this.#left = requestMax
  }

  /** Remaining steps for all texts of the request. */
  get left(): number {
    return this.#left
  }

  take(steps: number): void {
    this.#leftOfText -= steps
    this.#left -= steps
    if (this.#leftOfText < 0 || this.#left < 0) refuse()
    this.#toCheck -= steps
    if (this.#toCheck > 0) return
    this.#toCheck = checkSteps
    this.#deadline.check()
  }

  /** Starts the count of a new text. If a pause is due, the caller must pause before this call. */
  startText(): void {
    this.#leftOfText = this.#textMax
  }

  /**
   * Starts a new text. If a promise is returned, the caller must await it before the analysis, so
   * that other requests can run.
   */
  nextText(): Promise<void> | undefined {
    this.startText()
    return this.#deadline.pause()
  }
}

/** Budget for one text outside of a request, such as a stored text. */
export function ownBudget(): AnalysisBudget {
  return new AnalysisBudget(nobody, fixedLimits.analysisStepsMax)
}

const nobody: Deadline = { check: () => undefined, pause: () => undefined }

function refuse(): never {
  throw apiError('TEXT_TOO_SLOW_TO_ANALYZE')
}
