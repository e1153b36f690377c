import type { StepBudget } from '../../caller/analysis-budget.ts'

/** Builds a text from pieces, and charges steps for each piece. */
export class TextBuilder {
  readonly #steps: StepBudget
  #text = ''

  constructor(steps: StepBudget) {
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
