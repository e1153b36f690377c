/** Thai is written without spaces; a dictionary, which comes with Node, finds its words. */
import { TokenList } from '../bounds.ts'
import type { Tokenizer } from '../stage.ts'
import { newToken } from './token.ts'

const segmenter = new Intl.Segmenter('th', { granularity: 'word' })

export const thai: Tokenizer = (text) => {
  const list = new TokenList()
  for (const { segment, isWordLike } of segmenter.segment(text))
    if (isWordLike) list.add(newToken(segment))
  return list.tokens
}
