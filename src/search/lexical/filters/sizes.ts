/** Filters that look at how long tokens are, how many there are, or how they end. */
import { fixedLimits } from '../../../limits.ts'
import { checkOrder, countIn } from '../arguments.ts'
import type { Arguments, TokenFilter } from '../stage.ts'
import { keep, mapTexts, stemmer } from './basic.ts'

const countMax = fixedLimits.analyzerCountMax

/** Keeps tokens whose length lies in a range, both ends included. */
export function length(args: Arguments): TokenFilter {
  const min = countIn(args, 'min', { min: 0, max: countMax })
  const max = countIn(args, 'max', { min: 0, max: countMax })
  checkOrder(['min', min], ['max', max])
  return (tokens) => keep(tokens, ({ text }) => text.length >= min && text.length <= max)
}

/** Keeps the first tokens. Whether the others are still looked at makes no difference. */
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

/** Cuts tokens after a number of characters; protected ones stay as they are. */
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

/** Drops what already stands, with the same text, at the same place. */
export const removeDuplicates: TokenFilter = function* (tokens) {
  let here = new Set<string>()
  for (const token of tokens) {
    if (token.step > 0) here = new Set()
    if (here.has(token.text)) continue
    here.add(token.text)
    yield token
  }
}
