/** Substrings of a text with every length in a range, whatever characters they contain. */
import { checkOrder, countIn } from '../arguments.ts'
import type { StepBudget } from '../../../caller/analysis-budget.ts'
import type { Arguments, Token, Tokenizer } from '../stage.ts'
import { fixedLimits } from '../../../limits.ts'
import { newToken } from './token.ts'

export interface GramSizes {
  readonly min: number
  readonly max: number
}

/** Parses the sizes of n-grams. Without `defaults`, the arguments are required. */
export function gramSizesIn(args: Arguments, defaults?: GramSizes): GramSizes {
  const range = (name: 'min' | 'max') => ({
    max: fixedLimits.gramSizeMax,
    ...(defaults && { default: defaults[name] }),
  })
  const min = countIn(args, 'minGramSize', range('min'))
  const max = countIn(args, 'maxGramSize', range('max'))
  checkOrder(['minGramSize', min], ['maxGramSize', max])
  return { min, max }
}

/** Tokens are the substrings: "abc" with sizes from 1 to 2 becomes "a", "ab", "b", "bc", "c". */
export function nGram(args: Arguments): Tokenizer {
  const sizes = gramSizesIn(args, { min: 3, max: 7 })
  return (text, steps) => asTokens(grams(text, sizes, steps))
}

/** Tokens are the prefixes: "abc" with sizes from 1 to 2 becomes "a", "ab". */
export function edgeNGram(args: Arguments): Tokenizer {
  const sizes = gramSizesIn(args, { min: 1, max: 1 })
  return (text) => asTokens(edgeGrams(text, sizes))
}

export function* grams(
  text: string,
  sizes: GramSizes,
  steps: StepBudget,
): Iterable<string> {
  for (let start = 0; start < text.length; start += lengthAt(text, start)) {
    // This is the cost of the characters before the first gram, which no other stage counts.
    steps.take(1 + (sizes.min >> 2))
    yield* edgeGrams(text, sizes, start)
  }
}

/** The grams that begin at `start`. Sizes are in characters, some of which take two code units. */
export function* edgeGrams(
  text: string,
  { min, max }: GramSizes,
  start = 0,
): Iterable<string> {
  let end = start
  for (let size = 1; size <= max && end < text.length; size++) {
    end += lengthAt(text, end)
    if (size >= min) yield text.slice(start, end)
  }
}

function lengthAt(text: string, position: number): number {
  return text.codePointAt(position)! > 0xffff ? 2 : 1
}

function* asTokens(texts: Iterable<string>): Iterable<Token> {
  for (const text of texts) yield newToken(text, 'gram')
}
