/**
 * What the analysis of the texts of one request may cost.
 *
 * Analyzers come from clients, and so do texts: a pattern can take for ever on a short text,
 * and grams of grams can be any number. So every stage counts its steps here, and a request
 * that takes too many is refused. A step is ten to twenty nanoseconds.
 *
 * Between texts the thread is given to others (`nextText`), so what one text may cost is what
 * others may have to wait. An index takes a few kilobytes of terms of one text: analysis that
 * makes more ends there (search/lexical/analyzer.ts), so few texts come near these bounds.
 */
import type { Deadline } from '../runtime/deadline.ts'
import { apiError } from '../errors/api-error.ts'
import { fixedLimits } from '../limits.ts'

/** Counts steps, and throws when they are too many. */
export interface StepBudget {
  take(steps: number): void
}

/** Steps between two looks at the deadline: a millisecond or two. */
const checkSteps = 65_536

/** The one budget of a request, which all that it has analyzed is charged to. */
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

  /** Steps that all texts of the request may still take. */
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

  /** Begins the count of another text, where others have had their turn if it was due. */
  startText(): void {
    this.#leftOfText = this.#textMax
  }

  /** To be waited for between texts, if it is a promise: others have their turn. */
  nextText(): Promise<void> | undefined {
    this.startText()
    return this.#deadline.pause()
  }
}

/** The analysis of one text that nobody waits for by name, such as one that is stored. */
export function ownBudget(): AnalysisBudget {
  return new AnalysisBudget(nobody, fixedLimits.analysisStepsMax)
}

const nobody: Deadline = { check: () => undefined, pause: () => undefined }

function refuse(): never {
  throw apiError('TEXT_TOO_SLOW_TO_ANALYZE')
}
