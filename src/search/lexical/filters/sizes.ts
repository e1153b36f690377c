/** Filters by the length and number of tokens, and filters that shorten or reverse tokens. */
import { fixedLimits } from '../../../limits.ts'
import { checkOrder, countIn } from '../arguments.ts'
import type { Arguments, TokenFilter } from '../stage.ts'
import { keep, mapTexts, stemmer } from './basic.ts'

const countMax = fixedLimits.analyzerCountMax

/** Keeps tokens whose length is in a range, inclusive on both ends. */
export function length(args: Arguments): TokenFilter {
  const min = countIn(args, 'min', { min: 0, max: countMax })
  const max = countIn(args, 'max', { min: 0, max: countMax })
  checkOrder(['min', min], ['max', max])
  return (tokens) => keep(tokens, ({ text }) => text.length >= min && text.length <= max)
}

/** Keeps the first `maxTokenCount` tokens. `consumeAllTokens` has no effect on the result. */
export function limitTokenCount(args: Arguments): TokenFilter {
  const count = countIn(args, 'maxTokenCount', { max: countMax })
  return function* (tokens) {
    let left = count
    for (const token of tokens) {
      yield token
      if (--left === 0) return
    }
  }
}

/** Truncates tokens to a number of characters, except protected tokens. */
export function truncate(args: Arguments): TokenFilter {
  const length = countIn(args, 'prefixLength', { max: countMax, default: 5 })
  return stemmer((text) => {
    if (text.length <= length) return text
    const isThroughPair = text.codePointAt(length - 1)! > 0xffff
    return text.slice(0, isThroughPair ? length - 1 : length)
  })
}

export const trim: TokenFilter = mapTexts((text) => text.trim())

export const reverseString: TokenFilter = mapTexts((text, steps) => {
  steps.take(4 * text.length)
  return Array.from(text).reverse().join('')
})

/** Removes tokens with the same text at the same position. */
export const removeDuplicates: TokenFilter = function* (tokens) {
  let here = new Set<string>()
  for (const token of tokens) {
    if (token.step > 0) here = new Set()
    if (here.has(token.text)) continue
    here.add(token.text)
    yield token
  }
}
