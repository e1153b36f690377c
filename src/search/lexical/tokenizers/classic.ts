/**
 * Lucene's tokenizer before it adopted Unicode's rules: for European languages, with support for
 * acronyms, company names, email addresses, host names and part numbers.
 */
import type { StepBudget } from '../../../caller/analysis-budget.ts'
import { countIn } from '../arguments.ts'
import type { Arguments, Tokenizer, TokenKind } from '../stage.ts'
import { newToken } from './token.ts'

const cj = '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}]'
const letter = `(?!${cj})\\p{L}`
const letters = `(?:${letter})+`
const alphanumeric = `(?:${letter}|\\p{Nd})+`
/** Pattern of letters and digits, with at least one digit. */
const numeric = `(?:${letter})*\\p{Nd}(?:${letter}|\\p{Nd})*`
const separator = '[_\\-/.,]'
/** Maximum parts of an address, which bounds the time of a search. */
const parts = '{0,30}'

/** The rules. They are created for the first text, because most servers never use them. */
let rules: ReturnType<typeof makeRules> | undefined

/** Creates the rules. The longest match wins; for equal lengths, the first rule wins. */
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
  // Part numbers: at least every second part has a digit.
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

/** Cost of trying all rules at a position. */
const wordSteps = 64

function nextStart(text: string, from: number): number | undefined {
  start ??= new RegExp(`${cj}|${letter}|\\p{Nd}`, 'gu')
  start.lastIndex = from
  return start.exec(text)?.index
}

/** The longest match of all rules. The search stops when a match exceeds `lengthMax`. */
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
