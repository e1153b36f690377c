/**
 * What the analysis of the texts of one request may cost.
 *
 * Analyzers come from clients, and so do texts: a pattern can take for ever on a short text,
 * and grams of grams can be any number. So every stage counts its steps here, and a request
 * that takes too many is refused. A step is ten to twenty nanoseconds.
 *
 * Between texts the thread is given to others (`nextText`), so what one text may cost is what
 * others may have to wait. An index takes a few kilobytes of terms of one text: analysis that
 * makes more ends there (analyzer.ts), so few texts come near these bounds.
 */
import type { Deadline } from '../../caller.ts'
import { apiError } from '../../errors/api-error.ts'

/** Counts steps, and throws when they are too many. */
export interface Steps {
  take(steps: number): void
}

/** Steps between two texts, during which nobody else has a turn. */
export const textStepsMax = 2_000_000
/** Steps of all texts of a request. */
export const requestStepsMax = 50_000_000

/** Steps between two looks at the deadline: a millisecond or two. */
const checkSteps = 65_536

export class AnalysisBudget implements Steps {
  readonly #deadline: Deadline | undefined
  readonly #textMax: number
  #leftOfText: number
  #left: number
  #toCheck = checkSteps

  constructor(deadline: Deadline, textMax = textStepsMax, requestMax = requestStepsMax) {
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
    this.#deadline?.check()
  }

  /** Begins the count of another text, where others have had their turn if it was due. */
  startText(): void {
    this.#leftOfText = this.#textMax
  }

  /** To be waited for between texts, if it is a promise: others have their turn. */
  nextText(): Promise<void> | undefined {
    this.startText()
    return this.#deadline?.pause()
  }
}

/** The analysis of one text that nobody waits for by name, such as one that is stored. */
export function ownBudget(): AnalysisBudget {
  return new AnalysisBudget(nobody, requestStepsMax)
}

const nobody: Deadline = { check: () => undefined, pause: () => undefined }

const budgets = new WeakMap<Deadline, AnalysisBudget>()

/** The one budget of a request, which all that it has analyzed is charged to. */
export function budgetOf(caller: Deadline): AnalysisBudget {
  let budget = budgets.get(caller)
  if (budget === undefined) budgets.set(caller, (budget = new AnalysisBudget(caller)))
  return budget
}

function refuse(): never {
  throw apiError('TEXT_TOO_SLOW_TO_ANALYZE')
}

/** A text made of pieces, each of which is counted. */
export class TextBuilder {
  readonly #steps: Steps
  #text = ''

  constructor(steps: Steps) {
    this.#steps = steps
  }

  add(piece: string): void {
    this.#steps.take(8 + (piece.length >> 2))
    this.#text += piece
  }

  toString(): string {
    return this.#text
  }
}
