/** Turns texts into the terms that are searched for. */
export interface Analyzer {
  /** The terms of a text in order, repeats included. */
  terms(text: string): readonly string[]
}

/** The analyzer that a checked recipe or the name of a built-in one describes. */
export function analyzerFor(_recipe: unknown): Analyzer {
  const words = new Intl.Segmenter('en', { granularity: 'word' })
  return {
    terms: (text) =>
      [...words.segment(text)]
        .filter(({ isWordLike }) => isWordLike)
        .map(({ segment }) => segment.toLowerCase()),
  }
}
