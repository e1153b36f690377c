/**
 * English after M. F. Porter's second algorithm, "English" in Snowball, and smaller filters for
 * English.
 */
import { mapTexts } from '../filters/basic.ts'
import { endingTable, longestEnding, wordsOf } from './endings.ts'
import { afterSyllable } from './regions.ts'

/** Removes the possessive: "Stela's" becomes "Stela". */
export const englishPossessive = mapTexts((text) => text.replace(/['’＇][sS]$/, ''))

/** Removes plurals only, after D. Harman, "How effective is suffixing?" (1991). */
export function englishMinimalStem(word: string): string {
  if (word.length < 3 || !word.endsWith('s') || /[us]s$/.test(word)) return word
  if (/[^ae]ies$/.test(word)) return `${word.slice(0, -3)}y`
  return /[aeio]es$/.test(word) ? word : word.slice(0, -1)
}

export function englishStem(word: string): string {
  const known = irregular.get(word)
  if (known !== undefined) return known
  if (word.length < 3) return word
  // A y at the start or after a vowel is a consonant, and is marked by upper case.
  const marked = word.replace(/^'/, '').replace(/^y|(?<=[aeiouy])y/g, 'Y')
  const r1 = regionAfter(marked)
  const r2 = afterSyllable(marked, vowels, r1)
  const singular = plural(marked.replace(/'(?:s'?)?$/, ''))
  if (unchanging.has(singular)) return singular
  const plain = derived(finalY(pastTense(singular, r1)), r1, r2)
  return tidied(cutDerived(plain, r2), r1, r2).replaceAll('Y', 'y')
}

const vowels = 'aeiouy'

const irregular = new Map([
  ['skis', 'ski'],
  ['skies', 'sky'],
  ['idly', 'idl'],
  ['gently', 'gentl'],
  ['ugly', 'ugli'],
  ['early', 'earli'],
  ['only', 'onli'],
  ['singly', 'singl'],
  ...wordsOf('sky news howe atlas cosmos bias andes').map((word) => [word, word] as const),
])

const unchanging = new Set(
  wordsOf('inning outing canning herring earring evening proceed exceed succeed'),
)

/**
 * Prefixes after which R1 (regions.ts) begins. By the general rule, related words would get
 * different stems.
 */
const beginnings = /^(?:gener|commun|arsen|past|univers|later|emerg|organ|inter)/

function regionAfter(word: string): number {
  return beginnings.exec(word)?.[0].length ?? afterSyllable(word, vowels)
}

function plural(word: string): string {
  if (word.endsWith('sses')) return word.slice(0, -2)
  if (/ie[ds]$/.test(word)) return word.slice(0, word.length > 4 ? -2 : -1)
  // The vowel must not directly precede the s: "gas" and "this" are not plurals.
  return /[aeiouy].+(?<![us])s$/s.test(word) ? word.slice(0, -1) : word
}

function pastTense(word: string, r1: number): string {
  const ending = /(?:eed|ed|ing)(?:ly)?$/.exec(word)?.[0]
  if (ending === undefined) return word
  const stem = word.slice(0, -ending.length)
  if (ending.startsWith('eed')) return stem.length >= r1 ? `${stem}ee` : word
  if (!/[aeiouy]/.test(stem)) return word
  if (ending === 'ing' && /^[^aeiouyY]y$/.test(stem)) return `${stem.slice(0, -1)}ie`
  if (/(?:at|bl|iz)$/.test(stem)) return `${stem}e`
  if (/(?<!^[aeo])(bb|dd|ff|gg|mm|nn|pp|rr|tt)$/.test(stem)) return stem.slice(0, -1)
  return stem.length === r1 && endsShort(stem) ? `${stem}e` : stem
}

function finalY(word: string): string {
  return /.[^aeiouy][yY]$/s.test(word) ? `${word.slice(0, -1)}i` : word
}

const derivations = longestEnding(
  endingTable(
    ['tional', 'tion'],
    ['enci', 'ence'],
    ['anci', 'ance'],
    ['abli', 'able'],
    ['entli', 'ent'],
    ['izer ization', 'ize'],
    ['ational ation ator', 'ate'],
    ['alism aliti alli', 'al'],
    ['fulness fulli', 'ful'],
    ['ousli ousness', 'ous'],
    ['iveness iviti', 'ive'],
    ['biliti bli', 'ble'],
    ['ogist ogi', 'og'],
    ['lessli', 'less'],
    ['li', ''],
  ),
)

const moreDerivations = longestEnding(
  endingTable(
    ['tional', 'tion'],
    ['ational', 'ate'],
    ['alize', 'al'],
    ['icate iciti ical', 'ic'],
    ['ful ness ative', ''],
  ),
)

const plainSuffixes = longestEnding(
  endingTable([
    'al ance ence er ic able ible ant ement ment ent ism ate iti ous ive ize ion',
    '',
  ]),
)

function derived(word: string, r1: number, r2: number): string {
  const first = replaced(word, derivations, r1, (stem, ending) => {
    if (ending === 'ogi') return stem.endsWith('l')
    return ending !== 'li' || /[cdeghkmnrt]$/.test(stem)
  })
  return replaced(
    first,
    moreDerivations,
    r1,
    (stem, ending) => ending !== 'ative' || stem.length >= r2,
  )
}

function cutDerived(word: string, r2: number): string {
  return replaced(
    word,
    plainSuffixes,
    r2,
    (stem, ending) => ending !== 'ion' || /[st]$/.test(stem),
  )
}

function replaced(
  word: string,
  find: typeof derivations,
  region: number,
  mayFollow: (stem: string, ending: string) => boolean,
): string {
  const found = find(word)
  if (found === undefined || found.start < region) return word
  const stem = word.slice(0, found.start)
  return mayFollow(stem, word.slice(found.start)) ? stem + found.action : word
}

function tidied(word: string, r1: number, r2: number): string {
  const stem = word.slice(0, -1)
  if (word.endsWith('e'))
    return stem.length >= r2 || (stem.length >= r1 && !endsShort(stem)) ? stem : word
  return word.endsWith('ll') && stem.length >= r2 ? stem : word
}

/** Whether the stem ends like "hop" or "at", or is "past", so that it may have lost an e. */
function endsShort(stem: string): boolean {
  return /[^aeiouy][aeiouy][^aeiouywxY]$|^[aeiouy][^aeiouy]$|^past$/.test(stem)
}
