import { asFloating, shortestFloat } from '../json/floats.ts'
import { printJson } from '../json/print.ts'
import type { Steps } from '../steps.ts'

/** A shown record with its score in a vector search, which no projection takes away. */
export function addSimilarity(shown: string, similarity: number): string {
  const field = `"$similarity":${printJson(asFloating(shortestFloat(similarity)))}`
  return shown === '{}' ? `{${field}}` : `${shown.slice(0, -1)},${field}}`
}

export function* addSimilarityInSteps(
  shown: Steps<string>,
  similarity: number,
): Steps<string> {
  return addSimilarity(yield* shown, similarity)
}
