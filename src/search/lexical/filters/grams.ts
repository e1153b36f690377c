/** Produces grams of each token, at the position of the token. */
import type { StepBudget } from '../../../caller/analysis-budget.ts'
import { flagIn } from '../arguments.ts'
import type { Arguments, TokenFilter } from '../stage.ts'
import { edgeGrams, grams, gramSizesIn, type GramSizes } from '../tokenizers/grams.ts'
import { keep } from './basic.ts'

export function nGramFilter(args: Arguments): TokenFilter {
  return gramFilter(args, grams)
}

export function edgeNGramFilter(args: Arguments): TokenFilter {
  return gramFilter(args, (text, sizes) => edgeGrams(text, sizes))
}

function gramFilter(
  args: Arguments,
  cut: (text: string, sizes: GramSizes, steps: StepBudget) => Iterable<string>,
): TokenFilter {
  const sizes = gramSizesIn(args)
  const preserveOriginal = flagIn(args, 'preserveOriginal', false)
  return function* (tokens, steps) {
    // Drops tokens that are too short for a gram. The next token skips their positions.
    const long = preserveOriginal
      ? tokens
      : keep(tokens, ({ text }) => sizeOf(text) >= sizes.min)
    for (const token of long) {
      let { step } = token
      for (const text of cut(token.text, sizes, steps)) {
        yield { ...token, text, step, kind: 'gram' }
        step = 0
      }
      const size = sizeOf(token.text)
      // If the size of the token is in the range, the token is one of its own grams.
      if (preserveOriginal && (size < sizes.min || size > sizes.max))
        yield { ...token, step }
    }
  }
}

function sizeOf(text: string): number {
  let size = 0
  for (let i = 0; i < text.length; i += text.codePointAt(i)! > 0xffff ? 2 : 1) size++
  return size
}
