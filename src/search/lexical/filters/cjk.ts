/** Filters for Chinese, Japanese and Korean: widths, bigrams, and digits of all scripts. */
import { flagIn } from '../arguments.ts'
import type { StepBudget } from '../../../caller/analysis-budget.ts'
import type { Arguments, Token, TokenFilter, TokenKind } from '../stage.ts'
import { adjoins } from '../tokenizers/token.ts'
import { mapTexts } from './basic.ts'

/** Converts full-width ASCII to plain ASCII, and half-width katakana to full width. */
export function foldWidth(text: string, steps: StepBudget): string {
  steps.take(text.length)
  return text
    .replace(/[\uff01-\uff5e]/g, (char) => String.fromCharCode(char.charCodeAt(0) - 0xfee0))
    .replace(/[\u30a1-\u30fe]?[\uff65-\uff9f]+/g, (run) => run.normalize('NFKC'))
}

export const cjkWidth: TokenFilter = mapTexts(foldWidth)

/** Converts digits of all scripts to ASCII. */
export const decimalDigit: TokenFilter = mapTexts((text, steps) =>
  text.replace(/(?![0-9])\p{Nd}/gu, (digit) => {
    steps.take(digitSteps)
    // In Unicode, the ten digits of a script are adjacent and start with zero. The digits of
    // another script may directly precede them, so the distance from the first digit is taken
    // modulo ten.
    const char = digit.codePointAt(0)!
    let zero = char
    while (isDigit(zero - 1)) zero--
    return String((char - zero) % 10)
  }),
)

/** Cost of finding the zero of a digit. */
const digitSteps = 32

function isDigit(char: number): boolean {
  return /\p{Nd}/u.test(String.fromCodePoint(char))
}

const scripts = ['han', 'hiragana', 'katakana', 'hangul'] as const

/**
 * Builds pairs of adjacent characters, because words are not separated: "一二三" becomes "一二" and
 * "二三". A single character remains; tokens of other scripts stay unchanged.
 */
export function cjkBigram(args: Arguments): TokenFilter {
  const paired = new Set<TokenKind>(scripts.filter((script) => flagIn(args, script, true)))
  const outputUnigrams = flagIn(args, 'outputUnigrams', false)
  return function* (tokens) {
    let run: Run | undefined
    for (const token of tokens) {
      const isPaired = paired.has(token.kind)
      if (run !== undefined && (!isPaired || !adjoins(token))) {
        yield* endOf(run, outputUnigrams)
        run = undefined
      }
      if (!isPaired) {
        yield token
        continue
      }
      let { step } = token
      for (const text of token.text) {
        const char = { ...token, text, step }
        if (run !== undefined) yield* pairOf(run.last, char, outputUnigrams)
        run = { last: char, isAlone: run === undefined }
        step = 1
      }
    }
    if (run !== undefined) yield* endOf(run, outputUnigrams)
  }
}

/** The end of a sequence of adjacent characters. */
interface Run {
  readonly last: Token
  /** Whether the last character is the only one so far. */
  readonly isAlone: boolean
}

function* pairOf(char: Token, next: Token, outputUnigrams: boolean): Iterable<Token> {
  if (outputUnigrams) yield char
  yield {
    ...char,
    text: char.text + next.text,
    step: outputUnigrams ? 0 : char.step,
    kind: 'gram',
  }
}

/**
 * The last character as a token, if needed. In a longer run, this character is already part of a
 * pair.
 */
function* endOf({ last, isAlone }: Run, outputUnigrams: boolean): Iterable<Token> {
  if (isAlone || outputUnigrams) yield last
}
