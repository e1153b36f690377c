/** Thai is written without spaces; a dictionary, which comes with Node, finds its words. */
import type { Tokenizer } from '../stage.ts'
import { newToken } from './token.ts'

/** Made when a text is to be cut: loading the dictionary would hold up every start. */
let segmenter: Intl.Segmenter | undefined

/** Looking a character up in a dictionary takes longer than looking at it. */
const characterSteps = 8

/**
 * Characters that are segmented at a time. The segmenter looks a run of characters without
 * spaces up as a whole, so the first word of a long run would take as long as all of it.
 */
const windowLength = 2_000

/** Characters at the end of a window whose words may go on behind it. */
const overlapLength = 100

export const thai: Tokenizer = function* (text, steps) {
  segmenter ??= new Intl.Segmenter('th', { granularity: 'word' })
  let start = 0
  while (start < text.length) {
    const end = windowEnd(text, start)
    steps.take(characterSteps * (end - start))
    const window = text.slice(start, end)
    const isWhole = end === text.length || /\s/.test(text[end - 1]!)
    const decidedEnd = isWhole ? window.length : window.length - overlapLength
    for (const { segment, index, isWordLike } of segmenter.segment(window)) {
      if (index >= decidedEnd) break
      if (isWordLike) yield newToken(segment)
      start += segment.length
    }
  }
}

/** Behind the last space of a window, where there is one. */
function windowEnd(text: string, start: number): number {
  const end = start + windowLength
  if (end >= text.length) return text.length
  for (let at = end; at > start + overlapLength; at--)
    if (/\s/.test(text[at - 1]!)) return at
  return end
}
