/** Stemming by tables of endings: most stemmers apply a few such tables in turn. */

/** One step of a stemmer. */
export type StemmerStep = (word: string) => string

/** An ending to remove, and its replacement. */
export interface Ending {
  readonly text: string
  readonly by: string
  /** Minimum letters of a word from which the ending is removed. */
  readonly wordMin: number
  readonly spares: (word: string) => boolean
}

/** Endings, separated by spaces, of words with more than `letters` letters. */
export function over(letters: number, texts: string, by = ''): readonly Ending[] {
  return wordsOf(texts).map((text) => ({
    text,
    by,
    wordMin: letters + 1,
    spares: () => false,
  }))
}

/**
 * Endings that are removed if at least `letters` letters remain. Exceptions are whole words, or
 * endings if they start with a hyphen.
 */
export function leaving(
  letters: number,
  texts: string,
  by = '',
  exceptions = '',
): readonly Ending[] {
  const spares = exceptionTest(wordsOf(exceptions))
  return wordsOf(texts).map((text) => ({
    text,
    by,
    wordMin: letters + text.length,
    spares,
  }))
}

/** Removes the first matching ending, in the given order. */
export function cut(...groups: readonly (readonly Ending[])[]): StemmerStep {
  const byLastLetter = Map.groupBy(groups.flat(), ({ text }) => text.at(-1))
  return (word) => {
    const found = byLastLetter
      .get(word.at(-1))
      ?.find(
        ({ text, wordMin, spares }) =>
          word.length >= wordMin && word.endsWith(text) && !spares(word),
      )
    return found === undefined ? word : word.slice(0, -found.text.length) + found.by
  }
}

export function inTurn(...steps: readonly StemmerStep[]): StemmerStep {
  return (word) => steps.reduce((changed, step) => step(changed), word)
}

/** Applies only the first step that changes the word. */
export function firstOf(...steps: readonly StemmerStep[]): StemmerStep {
  return (word) => {
    for (const step of steps) {
      const changed = step(word)
      if (changed !== word) return changed
    }
    return word
  }
}

/** Applies the step only to words with more than `letters` letters. */
export function onlyOver(letters: number, step: StemmerStep): StemmerStep {
  return (word) => (word.length > letters ? step(word) : word)
}

/** Finds the longest ending that starts at or after a position. */
export function longestEnding<Action>(
  table: ReadonlyMap<string, Action>,
): (word: string, from?: number) => { start: number; action: Action } | undefined {
  const lengthMax = Math.max(...[...table.keys()].map((ending) => ending.length))
  return (word, from = 0) => {
    for (
      let start = Math.max(from, word.length - lengthMax);
      start < word.length;
      start++
    ) {
      const action = table.get(word.slice(start))
      if (action !== undefined) return { start, action }
    }
    return undefined
  }
}

/** A table for `longestEnding`, in rows of endings with the same action. */
export function endingTable<Action>(
  ...rows: readonly (readonly [endings: string, action: Action])[]
): ReadonlyMap<string, Action> {
  return new Map(
    rows.flatMap(([endings, action]) =>
      wordsOf(endings).map((ending) => [ending, action] as const),
    ),
  )
}

export function wordsOf(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '')
}

function exceptionTest(exceptions: readonly string[]): (word: string) => boolean {
  const whole = new Set(exceptions.filter((exception) => !exception.startsWith('-')))
  const endings = exceptions
    .filter((exception) => exception.startsWith('-'))
    .map((exception) => exception.slice(1))
  return (word) => whole.has(word) || endings.some((ending) => word.endsWith(ending))
}
