/** Estonian, after the Snowball algorithm by L. Freienthal (2019). */
import { endingTable, longestEnding, wordsOf, type StemmerStep } from './endings.ts'

export function estonianStem(word: string): string {
  const known = irregular.get(word)
  if (known !== undefined) return known
  const r1 = regionAfter(word)
  const plain = withoutEmphasis(word, r1)
  const finite = cutAt(plain, r1, verbEndings)
  const stem = finite ?? nounSteps.reduce((noun, step) => step(noun, r1), plain)
  return undoubled(stem, r1).replace(/'$/, '')
}

/** Short verbs with changing roots: their forms, as beginning(ending|ending). */
const irregular = new Map(
  [
    'joo: joo(n|d|b|te|me|vad|mata|dakse|ma) jõi(n|d||me|te) juua(kse|)',
    `saa: saa(n|d|b|te|me|vad|ksin|ksid|ks|ksite|ksime|mata|dakse|di|ma|da)
      sai(n|d||te|me)`,
    `viima: vii(n|d|b|te|me|vad|ksin|ksid|ks|ksite|ksime|sin|site|sime|mata|akse|di|ma|a)`,
    `keesi: kee(n|b|d|s|me|te|vad|ksin|ks|ksid|ksime|ksite|mata|ma|ta|dakse)`,
    `löö: löö(n|d|b|me|te|vad|ksin|ksid|ks|ksime|ksite|mata|dakse|di|ma) lüüa(kse|)`,
    'lõi: lõi(n|d||me|te)',
    `loo: loo(n|d|b|me|te|vad|ksin|ksid|ks|ksime|ksite|mata|di|ma) luua(kse|)`,
    `käisi: käi(n|b|d|s|me|te|vad|ksin|ks|ksid|ksime|ksite|mata|akse|di|a|ma)`,
    `söö: söö(n|b|d|me|te|vad|ksin|ks|ksid|ksime|ksite|mata|dakse|di|ma)
      sõi(n||d|me|te) süüa(kse|)`,
    `too: too(n|d|b|te|me|vad|ksin|ksid|ks|ksite|ksime|mata|di|ma)
      tõi(n|d||me|te) tuua(kse|)`,
    `võisi: või(n|d|b|me|s|te|vad|ksin|ksid|ks|ksime|ksite|mata|dakse|di|da|ma)`,
    `jääma: jää(n|d|b|me|te|vad|ksin|ksid|ks|ksime|ksite|mata|dakse|da|ma|di)
      jäi(me|te|n|d|)`,
    `müüsi: müü(n|d|b|s|me|te|vad|ksin|ksid|ks|ksime|ksite|mata|akse|di|a|ma)`,
    'luge: loe(b|n|d|me|te|vad|ks|ksin|ksid|ksime|ksite)',
    'põde: põe(n|b|d|me|te|vad|ksin|ks|ksid|ksime|ksite)',
    'ladu: lao(n|b|d|me|te|vad|ksin|ks|ksid|ksime|ksite)',
    'tegi: tee(ksin|ks|ksid|ksime|ksite|n|b|d|me|te|vad) tegema(ta|) teh(akse|ti|a)',
    'nägi: näe(n|b|d|me|te|vad|ksin|ks|ksid|ksime|ksite) nägema(ta|) näh(akse|ti|a)',
  ].flatMap((row) => {
    const [stem, forms] = row.split(': ')
    return wordsOf(forms!).flatMap((form) => {
      const [beginning, endings] = form.slice(0, -1).split('(')
      return endings!.split('|').map((ending) => [beginning! + ending, stem!] as const)
    })
  }),
)

/** Conditions on the text before an ending, and its replacement. */
interface EndingRule {
  readonly after?: RegExp
  readonly notAfter?: RegExp
  readonly by?: string
}

const longVowel = /(?:aa|ee|ii|oo|uu|ää|öö|üü|õõ)$/
const anyVowel = /[aeiouõäöü]$/
/** Vowels of unstressed syllables, which most endings follow. */
const plainVowel = /[aeiou']$/
const plainOrLong = new RegExp(`${plainVowel.source}|${longVowel.source}`)

const verbEndings = longestEnding(
  endingTable<EndingRule>(
    [
      `nuksin nuksime nuksid nuksite ksin ksid ksime ksite mata takse dakse taks daks sime
       site sin`,
      {},
    ],
    ['akse', { by: 'a' }],
    ['me da n b', { after: anyVowel }],
  ),
)

const agentEndings = longestEnding(
  endingTable<EndingRule>(
    ['lasse last lane lasi', { by: 'lase' }],
    ['misse mist mine misi', { by: 'mise' }],
    ['lisse list line lisi', { by: 'lise' }],
  ),
)

const caseEndings = longestEnding(
  endingTable<EndingRule>(
    ['sse st le lt ga ks ta s l', { after: plainOrLong }],
    ['t', { after: /.{4}$/s }],
  ),
)

const pluralEndings = longestEnding(
  endingTable<EndingRule>(
    ['ikkude ikke ike', { by: 'iku' }],
    ['sid', { notAfter: longVowel }],
    ['de d', { after: plainOrLong }],
  ),
)

const degreeEndings = longestEnding(
  endingTable<EndingRule>(['mai m', { after: plainVowel }], ['ma', {}]),
)

const oldPluralEndings = longestEnding(
  endingTable<EndingRule>(['i', { after: plainVowel }]),
)

const participleEndings = longestEnding(endingTable<EndingRule>(['nu tu du va', {}]))

type NounStep = (word: string, r1: number) => string

const nounSteps: readonly NounStep[] = [
  (word, r1) => cutAt(word, r1, agentEndings) ?? word,
  (word, r1) => cutAt(word, r1, caseEndings) ?? word,
  (word, r1) => pluralOfTe(word, r1) ?? cutAt(word, r1, pluralEndings) ?? word,
  (word, r1) => cutAt(word, r1, degreeEndings) ?? word,
  (word, r1) => cutAt(word, r1, oldPluralEndings) ?? word,
  (word, r1) => cutAt(word, r1, participleEndings) ?? word,
]

function regionAfter(word: string): number {
  const apostrophe = word.indexOf("'", 2)
  if (apostrophe !== -1) return apostrophe + 1
  const found = /[aeiouõäöü][^aeiouõäöü]/.exec(word)
  return found === null ? word.length : found.index + 2
}

/** Removes the longest ending; undefined if its conditions do not hold. */
function cutAt(word: string, r1: number, find: typeof verbEndings): string | undefined {
  const found = find(word, r1)
  if (found === undefined) return undefined
  const stem = word.slice(0, found.start)
  const { after, notAfter, by = '' } = found.action
  if (after?.test(stem) === false || notAfter?.test(stem) === true) return undefined
  return stem + by
}

/** Removes the emphatic "-gi" and "-ki", but not from short words such as "kingi". */
function withoutEmphasis(word: string, r1: number): string {
  const stem = word.slice(0, -2)
  if (stem.length < Math.max(4, r1)) return word
  if (word.endsWith('gi'))
    return /[cjlmnqrvwxaeiouõäöü]$/.test(stem) && !longVowel.test(stem) ? stem : word
  return word.endsWith('ki') && /[kptgbdshfšzž]$/.test(stem) ? stem : word
}

/** Replaces the genitive plural "-te" by the ending that it derives from. */
function pluralOfTe(word: string, r1: number): string | undefined {
  const stem = word.slice(0, -2)
  if (!word.endsWith('te') || stem.length < r1) return undefined
  if (stem.length < 4) return `${stem}t`
  if (/(?:mis|las|lis)$/.test(stem)) return `${stem}e`
  return stem.endsWith('t') ? word : stem
}

const undoubled = (word: string, r1: number): string =>
  word.length > r1 ? undoubleStops(word) : word

const undoubleStops: StemmerStep = (word) => word.replace(/([kpt])\1([aeiouõäöü])$/, '$1$2')
