/** Thai is written without spaces; a dictionary, which comes with Node, finds its words. */
import type { Tokenizer } from '../stage.ts'
import { newToken } from './token.ts'

const segmenter = new Intl.Segmenter('th', { granularity: 'word' })

/** A dictionary takes longer than looking at single characters does. */
const segmentSteps = 50

export const thai: Tokenizer = function* (text, steps) {
  for (const { segment, isWordLike } of segmenter.segment(text)) {
    steps.take(segmentSteps)
    if (isWordLike) yield newToken(segment)
  }
}
