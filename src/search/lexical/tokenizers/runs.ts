/** Tokenizers that classify single characters: tokens are runs of accepted characters. */
import { choiceIn, countIn } from '../arguments.ts'
import type { Arguments, Tokenizer } from '../stage.ts'
import { newToken } from './token.ts'

/** The whole text is one token. `maxTokenLen` is validated and has no effect, as in Lucene. */
export function keyword(args: Arguments): Tokenizer {
  countIn(args, 'maxTokenLen', { max: 1_048_576, default: 256 })
  return (text) => (text === '' ? [] : [newToken(text)])
}

/** Tokens are runs of letters; long runs are split. */
export function letter(args: Arguments): Tokenizer {
  return runs(/\p{L}+/gu, args)
}

/** Tokens are separated by white space. */
export function whitespace(args: Arguments): Tokenizer {
  const rule = choiceIn(args, 'rule', ['java', 'unicode'])
  // Java does not count non-breaking spaces as white space.
  return rule === 'java'
    ? runs(
        /[^\t-\r\x1c-\x20\u1680\u2000-\u2006\u2008-\u200a\u2028\u2029\u205f\u3000]+/g,
        args,
      )
    : runs(/\P{White_Space}+/gu, args)
}

function runs(pattern: RegExp, args: Arguments): Tokenizer {
  const lengthMax = countIn(args, 'maxTokenLen', { max: 1_048_576, default: 255 })
  return function* (text) {
    for (const [run] of text.matchAll(pattern))
      for (const piece of pieces(run, lengthMax)) yield newToken(piece)
  }
}

/** Splits a text into pieces of a length, without splitting surrogate pairs. */
function* pieces(text: string, lengthMax: number): Iterable<string> {
  let start = 0
  while (text.length - start > lengthMax) {
    let end = start + lengthMax
    if (text.codePointAt(end - 1)! > 0xffff) end += lengthMax === 1 ? 1 : -1
    yield text.slice(start, end)
    start = end
  }
  if (start < text.length) yield text.slice(start)
}
