/**
 * Splits tokens at signs and where letters, cases and digits change, and optionally joins the parts
 * again: "Wi-Fi500" becomes "Wi", "Fi" and "500", and with catenateAll also "WiFi500".
 */
import { ArgumentProblem, entriesIn, flagIn, pairIn, wordsIn } from '../arguments.ts'
import { Pace, type Steps } from '../../../runtime/steps.ts'
import type { Arguments, Token, TokenFilter } from '../stage.ts'

export function* wordDelimiterGraph(args: Arguments): Steps<TokenFilter> {
  const options = yield* readOptions(args)
  return function* (tokens, steps) {
    let skipped = 0
    for (const token of tokens) {
      const step = token.step + skipped
      skipped = step
      if (isProtected(token, options)) {
        yield { ...token, step }
        skipped = 0
        continue
      }
      steps.take(charSteps * token.text.length)
      for (const part of partTokens(token, step, options)) {
        yield part
        skipped = 0
      }
    }
  }
}

/** Cost of classifying a character. */
const charSteps = 16

function* readOptions(args: Arguments) {
  return {
    generateWordParts: flagIn(args, 'generateWordParts', true),
    generateNumberParts: flagIn(args, 'generateNumberParts', true),
    catenateWords: flagIn(args, 'catenateWords', false),
    catenateNumbers: flagIn(args, 'catenateNumbers', false),
    catenateAll: flagIn(args, 'catenateAll', false),
    splitOnCaseChange: flagIn(args, 'splitOnCaseChange', true),
    splitOnNumerics: flagIn(args, 'splitOnNumerics', true),
    preserveOriginal: flagIn(args, 'preserveOriginal', false),
    stemEnglishPossessive: flagIn(args, 'stemEnglishPossessive', true),
    ignoreKeywords: flagIn(args, 'ignoreKeywords', false),
    protected: (yield* wordsIn(args, 'protected')) ?? new Set<string>(),
    types: yield* readTypes(args.get('types') ?? ''),
  }
}

type Options = ReturnType<typeof readOptions> extends Steps<infer Read> ? Read : never

function isProtected({ text, keyword }: Token, options: Options): boolean {
  return (keyword && options.ignoreKeywords) || options.protected.has(text)
}

function* partTokens(token: Token, firstStep: number, options: Options): Iterable<Token> {
  const parts = partsOf(token.text, options)
  const isWhole = parts[0]?.text === token.text
  let step = firstStep
  let place = 0
  if (options.preserveOriginal || isWhole) {
    yield { ...token, step }
    step = 0
  }
  if (isWhole) return
  for (const { first, last } of spansOf(parts, options)) {
    const text = textOf(parts, first, last)
    // `preserveOriginal` has already produced a token with this text.
    if (options.preserveOriginal && text === token.text) continue
    if (first > place) step += first - place
    place = first
    yield { ...token, text, step }
    step = 0
  }
}

function textOf(parts: readonly Part[], first: number, last: number): string {
  return first === last
    ? parts[first]!.text
    : parts
        .slice(first, last + 1)
        .map((part) => part.text)
        .join('')
}

interface Part {
  readonly text: string
  readonly isWord: boolean
  readonly isNumber: boolean
}

/** Types of characters, as bits. A letter without case has the bits of both cases. */
const lower = 1
const upper = 2
const digit = 4
const delimiter = 8
const alpha = lower | upper

function partsOf(text: string, options: Options): readonly Part[] {
  const chars = Array.from(text)
  const types = chars.map((char) => typeOf(char, options))
  const parts: Part[] = []
  let start = 0
  while (start < chars.length) {
    const type = types[start]!
    if (isDelimiter(type)) {
      start += options.stemEnglishPossessive && isPossessive(chars, types, start) ? 2 : 1
      continue
    }
    let end = start + 1
    while (end < chars.length && !isBreak(types[end - 1]!, types[end]!, options)) end++
    const isWord = (type & alpha) > 0
    const isNumber = (type & digit) > 0
    parts.push({ text: chars.slice(start, end).join(''), isWord, isNumber })
    start = end
  }
  return parts
}

function isDelimiter(type: number): boolean {
  return (type & delimiter) > 0
}

/** The apostrophe of a trailing "'s" after a letter. */
function isPossessive(chars: readonly string[], types: readonly number[], at: number) {
  return (
    at > 0 &&
    chars[at] === "'" &&
    (chars[at + 1] === 's' || chars[at + 1] === 'S') &&
    (types[at - 1]! & alpha) > 0 &&
    (at + 2 === chars.length || isDelimiter(types[at + 2]!))
  )
}

function isBreak(before: number, after: number, options: Options): boolean {
  if ((before & after) > 0) return false
  const wasLetter = (before & alpha) > 0
  const isLetter = (after & alpha) > 0
  if (wasLetter && isLetter)
    // A capital starts a word, so the letter after a capital belongs to the same word.
    return options.splitOnCaseChange && (before & upper) === 0
  const betweenLetterAndDigit =
    (wasLetter && (after & digit) > 0) || ((before & digit) > 0 && isLetter)
  return !betweenLetterAndDigit || options.splitOnNumerics
}

interface Span {
  readonly first: number
  readonly last: number
}

/**
 * The parts, and sequences of adjacent parts, that become tokens. They are sorted by their first
 * part. If several start with the same part, the longest comes first.
 */
function spansOf(parts: readonly Part[], options: Options): readonly Span[] {
  const spans: Span[] = []
  for (const [i, { isWord, isNumber }] of parts.entries())
    if ((isWord && options.generateWordParts) || (isNumber && options.generateNumberParts))
      spans.push({ first: i, last: i })
  if (options.catenateWords)
    for (const row of rows(parts, (part) => part.isWord)) spans.push(row)
  if (options.catenateNumbers)
    for (const row of rows(parts, (part) => part.isNumber && !part.isWord)) spans.push(row)
  if (options.catenateAll && parts.length > 0)
    spans.push({ first: 0, last: parts.length - 1 })
  return spans
    .sort((a, b) => a.first - b.first || b.last - a.last)
    .filter(({ first, last }, i) => {
      const before = spans[i - 1]
      return before?.first !== first || before.last !== last
    })
}

/** The longest runs of adjacent parts that satisfy the condition. */
function rows(parts: readonly Part[], isOfKind: (part: Part) => boolean): readonly Span[] {
  const found: Span[] = []
  let first = 0
  for (let i = 0; i <= parts.length; i++) {
    const part = parts[i]
    if (part !== undefined && isOfKind(part)) continue
    if (i > first) found.push({ first, last: i - 1 })
    first = i + 1
  }
  return found
}

function typeOf(char: string, { types }: Options): number {
  const own = types.get(char)
  if (own !== undefined) return own
  if (/\p{Ll}/u.test(char)) return lower
  if (/\p{Lu}/u.test(char)) return upper
  if (/[\p{L}\p{M}]/u.test(char)) return alpha
  return /\p{N}/u.test(char) ? digit : delimiter
}

const typeNames: ReadonlyMap<string, number> = new Map([
  ['LOWER', lower],
  ['UPPER', upper],
  ['ALPHA', alpha],
  ['DIGIT', digit],
  ['ALPHANUM', alpha | digit],
  ['SUBWORD_DELIM', delimiter],
])

/** Reads entries such as "% => DIGIT", which makes a sign part of numbers. */
function* readTypes(list: string): Steps<ReadonlyMap<string, number>> {
  const types = new Map<string, number>()
  const pace = new Pace()
  for (const entry of yield* entriesIn(list)) {
    if (pace.isDue()) yield
    const [given, name] = pairIn(entry) ?? []
    const char = given?.replace(/^\\u([0-9a-f]{4})$/i, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    )
    const type = typeNames.get(name ?? '')
    if (char === undefined || Array.from(char).length !== 1 || type === undefined)
      throw new ArgumentProblem(
        `"types" has "${entry}", but an entry must be one character, "=>" and one of ` +
          [...typeNames.keys()].join(', '),
      )
    types.set(char, type)
  }
  return types
}
