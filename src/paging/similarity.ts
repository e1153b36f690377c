import { asFloating, shortestFloat } from '../json/floats.ts'
import { printJson } from '../json/print.ts'
import type { Steps } from '../runtime/steps.ts'
import type { Shown } from './show-all.ts'

/** Adds the score of a vector search to a record's text. A projection cannot exclude it. */
export function addSimilarity(shown: Shown, similarity: number): Shown {
  return typeof shown === 'string'
    ? addField(shown, similarity)
    : { ...shown, steps: addFieldAfter(shown.steps, similarity) }
}

function* addFieldAfter(steps: Steps<string>, similarity: number): Steps<string> {
  return addField(yield* steps, similarity)
}

function addField(shown: string, similarity: number): string {
  const field = `"$similarity":${printJson(asFloating(shortestFloat(similarity)))}`
  return shown === '{}' ? `{${field}}` : `${shown.slice(0, -1)},${field}}`
}
