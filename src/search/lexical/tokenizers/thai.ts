/** Splits Thai texts, whose words are not separated, with the dictionary in Node. */
import type { Tokenizer } from '../stage.ts'
import { newToken } from './token.ts'

/**
 * The segmenter. It is created for the first text, because loading the dictionary would delay every
 * start.
 */
let segmenter: Intl.Segmenter | undefined

/** Cost per character of a dictionary lookup. */
const characterSteps = 8

/**
 * Characters that are segmented at a time. The segmenter processes a run without spaces as a whole,
 * so a long run would delay its first word.
 */
const windowLength = 2_000

/** Characters at the end of a window whose words may continue after it. */
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

/** The end of a window: after its last space, or at its full length without a space. */
function windowEnd(text: string, start: number): number {
  const end = start + windowLength
  if (end >= text.length) return text.length
  for (let at = end; at > start + overlapLength; at--)
    if (/\s/.test(text[at - 1]!)) return at
  return end
}
