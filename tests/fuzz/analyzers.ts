/** Random analyzers, named or composed. */
import type { Hand } from './hand.ts'

const names = [
  'standard',
  'english',
  'cjk',
  'thai',
  'keyword',
  'arabic',
  'whitespace',
  'german',
]

const tokenizers =
  'standard whitespace keyword letter classic nGram edgeNGram pattern simplePattern pathHierarchy uax29UrlEmail thai'.split(
    ' ',
  )

const filters =
  'lowercase uppercase stop porterStem asciiFolding nGram edgeNGram shingle length limitTokenCount truncate trim removeDuplicates reverseString patternReplace synonym synonymGraph wordDelimiterGraph snowballPorter kStem elision keepWord'.split(
    ' ',
  )

const charFilters = ['htmlStrip', 'mapping', 'patternReplace', 'persian']

export function analyzer(hand: Hand): unknown {
  return hand.random.oneIn(2)
    ? hand.choose(names, ['nobody', '', 'STANDARD'])
    : hand.members(
        { tokenizer: () => component(hand, tokenizers) },
        {
          filters: () => hand.few(0, () => component(hand, filters)),
          charFilters: () => hand.few(0, () => component(hand, charFilters)),
        },
      )
}

function component(hand: Hand, known: readonly string[]): unknown {
  const name = hand.choose(known, ['nobody', '', 'phonetic', 'wikipedia'])
  const fitting = Object.entries(argumentsOf[name] ?? {})
  const args = hand.slips()
    ? hand.mapping(Object.keys(everyArgument), 1 + hand.random.below(2), () =>
        hand.pick(oddArguments),
      )
    : Object.fromEntries(fitting.map(([key, values]) => [key, hand.pick(values)]))
  return hand.members(
    { name: () => name },
    Object.keys(args).length > 0 ? { args: () => args } : {},
  )
}

type Arguments = Readonly<Record<string, readonly unknown[]>>

const grams: Arguments = { minGramSize: [1, '2'], maxGramSize: [2, '4'] }

const argumentsOf: Readonly<Record<string, Arguments>> = {
  standard: { maxTokenLength: [1, 255, '20'] },
  nGram: grams,
  edgeNGram: grams,
  pattern: { pattern: ['\\W+', '(a|b)+', '[aeiou]'], group: [-1, 0, '0'] },
  simplePattern: { pattern: ['[a-z]+', '\\w*'] },
  pathHierarchy: { delimiter: ['/', ' '] },
  stop: { words: ['the, a, of', ''], ignoreCase: ['true', false] },
  shingle: { minShingleSize: [2], maxShingleSize: [2, 4] },
  length: { min: [0, '2'], max: [5, '9'] },
  limitTokenCount: { maxTokenCount: [0, 1, 9] },
  truncate: { prefixLength: [1, 5] },
  patternReplace: { pattern: ['(a+)', 'x'], replacement: ['$1$1', ''] },
  synonym: { synonyms: ['a, b => c', 'blue, azure'] },
  synonymGraph: { synonyms: ['blue words => azure', 'a\\,b, c'] },
  snowballPorter: { language: ['English', 'German'] },
  keepWord: { words: ['some, blue'] },
  mapping: { mapping: ['"ä" => "ae"', 'a => b'] },
}

const everyArgument: Arguments = Object.assign(
  {},
  ...Object.values(argumentsOf),
) as Arguments

const oddArguments: readonly unknown[] = [
  0,
  -1,
  1e9,
  '99999999999999999999',
  'true',
  null,
  [],
  '(a+)+$',
  '[',
  '(?<x>a)\\1',
  '\\p{L}+',
  'a{1000000}',
  '((((((a*)*)*)*)*)*)*b',
  'a => ',
  '=>',
  '\u0000',
]
