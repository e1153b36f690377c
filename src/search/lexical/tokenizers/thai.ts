/** Thai is written without spaces; a dictionary, which comes with Node, finds its words. */
import type { Tokenizer } from '../stage.ts'
import { newToken } from './token.ts'

/** Made when a text is to be cut: loading the dictionary would hold up every start. */
let segmenter: Intl.Segmenter | undefined

/** A dictionary takes longer than looking at single characters does. */
const segmentSteps = 50

export const thai: Tokenizer = function* (text, steps) {
  segmenter ??= new Intl.Segmenter('th', { granularity: 'word' })
  for (const { segment, isWordLike } of segmenter.segment(text)) {
    steps.take(segmentSteps)
    if (isWordLike) yield newToken(segment)
  }
}
