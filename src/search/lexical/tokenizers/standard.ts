/** Words by Unicode's rules, optionally with web and email addresses kept whole. */
import { fixedLimits } from '../../../limits.ts'
import { countIn } from '../arguments.ts'
import type { Arguments, Token, Tokenizer } from '../stage.ts'
import { addressAt } from './addresses.ts'
import { newToken, type AdjoiningToken } from './token.ts'
import { Words } from './words.ts'

const { wordLengthMax, wordLengthSettingMax } = fixedLimits
const lengthRange = { max: wordLengthSettingMax, default: wordLengthMax }

export function standard(args: Arguments): Tokenizer {
  const lengthMax = countIn(args, 'maxTokenLength', lengthRange)
  return lengthMax === wordLengthMax ? standardTokenizer : wordTokenizer(lengthMax)
}

/**
 * The standard tokenizer. It is a single instance, so that analyzers can recognize it by identity.
 */
export const standardTokenizer = wordTokenizer(wordLengthMax)

function wordTokenizer(lengthMax: number): Tokenizer {
  return function* (text, steps) {
    const words = new Words(text, steps, lengthMax)
    while (words.next()) yield tokenAt(text, words)
  }
}

export function uax29UrlEmail(args: Arguments): Tokenizer {
  const lengthMax = countIn(args, 'maxTokenLength', lengthRange)
  return function* (text, steps): Iterable<Token> {
    const words = new Words(text, steps, lengthMax)
    let from = 0
    while (from < text.length) {
      steps.take(addressSteps)
      const found = words.moveTo(from)
      const wordStart = found ? words.start : text.length
      const address = addressAt(text, from, wordStart)
      if (address !== undefined && !(found && words.end > address.end)) {
        for (let start = address.start; start < address.end; start += lengthMax)
          yield newToken(
            text.slice(start, Math.min(address.end, start + lengthMax)),
            address.kind,
          )
        from = address.end
      } else {
        if (found) yield tokenAt(text, words)
        from = found ? words.end : text.length
      }
    }
  }
}

/** Cost of testing whether an address starts at a position. */
const addressSteps = 80

function tokenAt(text: string, { start, end, kind, adjoins }: Words): AdjoiningToken {
  return { text: text.slice(start, end), step: 1, keyword: false, kind, adjoins }
}
