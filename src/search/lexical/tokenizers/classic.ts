/**
 * What Lucene's tokenizer was before Unicode had rules: for European languages, with an eye
 * for acronyms, companies, mail addresses, host names and part numbers.
 */
import type { StepBudget } from '../../../caller/analysis-budget.ts'
import { countIn } from '../arguments.ts'
import type { Arguments, Tokenizer, TokenKind } from '../stage.ts'
import { newToken } from './token.ts'

const cj = '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}]'
const letter = `(?!${cj})\\p{L}`
const letters = `(?:${letter})+`
const alphanumeric = `(?:${letter}|\\p{Nd})+`
/** Letters and digits, at least one of the latter. */
const numeric = `(?:${letter})*\\p{Nd}(?:${letter}|\\p{Nd})*`
const separator = '[_\\-/.,]'
/** What an address has at most of it, so that looking for one takes a bounded time. */
const parts = '{0,30}'

/** Made when a text is to be cut: most servers never need them. */
let rules: ReturnType<typeof makeRules> | undefined

/** The longest match counts; of those of the same length, the first. */
const makeRules = (): readonly (readonly [RegExp, TokenKind])[] => [
  [sticky(alphanumeric), 'word'],
  [sticky(`${letters}(?:'${letters})+`), 'apostrophe'],
  [sticky(`${letter}\\.(?:${letter}\\.)+`), 'acronym'],
  [sticky(`${letters}[&@]${letters}`), 'word'],
  [
    sticky(
      `${alphanumeric}(?:[._\\-]${alphanumeric})${parts}@${alphanumeric}(?:[.\\-]${alphanumeric})+`,
    ),
    'email',
  ],
  [sticky(`${alphanumeric}(?:\\.${alphanumeric})+`), 'word'],
  // Every second part, at least, has a digit.
  [
    sticky(
      `${alphanumeric}(?:${separator}${numeric}${separator}${alphanumeric})*(?:${separator}${numeric})?`,
    ),
    'number',
  ],
  [
    sticky(
      `${numeric}(?:${separator}${alphanumeric}${separator}${numeric})*(?:${separator}${alphanumeric})?`,
    ),
    'number',
  ],
  [sticky(cj), 'han'],
]

let start: RegExp | undefined

export function classic(args: Arguments): Tokenizer {
  const lengthMax = countIn(args, 'maxTokenLength', { max: 1_048_576, default: 255 })
  return function* (text, steps) {
    let skipped = 0
    let from = nextStart(text, 0)
    while (from !== undefined) {
      steps.take(wordSteps)
      const { end, kind } = longestAt(text, from, lengthMax, steps)
      if (end - from > lengthMax) skipped++
      else {
        yield newToken(text.slice(from, end), kind, 1 + skipped)
        skipped = 0
      }
      from = nextStart(text, end)
    }
  }
}

/** For trying all rules at a place. */
const wordSteps = 64

function nextStart(text: string, from: number): number | undefined {
  start ??= new RegExp(`${cj}|${letter}|\\p{Nd}`, 'gu')
  start.lastIndex = from
  return start.exec(text)?.index
}

/** Looks no further once it is too long. */
function longestAt(
  text: string,
  from: number,
  lengthMax: number,
  steps: StepBudget,
): LongestMatch {
  let longest: LongestMatch = { end: from, kind: 'word' }
  rules ??= makeRules()
  for (const [pattern, kind] of rules) {
    pattern.lastIndex = from
    if (!pattern.test(text)) continue
    steps.take((pattern.lastIndex - from) >> 1)
    if (pattern.lastIndex > longest.end) longest = { end: pattern.lastIndex, kind }
    if (longest.end - from > lengthMax) break
  }
  return longest
}

interface LongestMatch {
  readonly end: number
  readonly kind: TokenKind
}

function sticky(source: string): RegExp {
  return new RegExp(source, 'uy')
}
