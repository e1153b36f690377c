/**
 * English after M. F. Porter, "An algorithm for suffix stripping" (1980). The measure of a stem is
 * the number of transitions from a run of vowels to a run of consonants: 0 in "tree", 1 in
 * "trouble", 2 in "troubles". Most endings are removed only if the measure of the stem is large
 * enough.
 */
import { endingTable, longestEnding } from './endings.ts'

export function porterStem(word: string): string {
  if (word.length < 3) return word
  // A y at the start or after a vowel is a consonant, and is marked by upper case.
  const marked = word.replace(/^y|(?<=[aeiou])y/g, 'Y')
  return tidied(derivations(finalY(pastTense(plural(marked))))).replaceAll('Y', 'y')
}

function plural(word: string): string {
  if (word.endsWith('sses') || word.endsWith('ies')) return word.slice(0, -2)
  return word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word
}

function pastTense(word: string): string {
  if (word.endsWith('eed')) return measure(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word
  const stem = /^(.*[aeiouy].*)(?:ed|ing)$/s.exec(word)?.[1]
  if (stem === undefined) return word
  if (/(?:at|bl|iz)$/.test(stem)) return `${stem}e`
  if (/([^aeiouylsz])\1$/.test(stem)) return stem.slice(0, -1)
  return measure(stem) === 1 && endsShort(stem) ? `${stem}e` : stem
}

function finalY(word: string): string {
  return /[aeiouy].*[yY]$/s.test(word) ? `${word.slice(0, -1)}i` : word
}

function derivations(word: string): string {
  return cutDerived(replaceDerived(replaceDerived(word, doubleSuffixes), longSuffixes))
}

const doubleSuffixes = longestEnding(
  endingTable(
    ['ational ation ator', 'ate'],
    ['tional', 'tion'],
    ['enci', 'ence'],
    ['anci', 'ance'],
    ['izer ization', 'ize'],
    ['abli', 'able'],
    ['alli alism aliti', 'al'],
    ['entli', 'ent'],
    ['eli', 'e'],
    ['ousli ousness', 'ous'],
    ['iveness iviti', 'ive'],
    ['fulness', 'ful'],
    ['biliti', 'ble'],
  ),
)

const longSuffixes = longestEnding(
  endingTable(['icate iciti ical', 'ic'], ['ative ful ness', ''], ['alize', 'al']),
)

const plainSuffixes = longestEnding(
  endingTable([
    `al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize`,
    '',
  ]),
)

function replaceDerived(word: string, find: typeof longSuffixes): string {
  const found = find(word)
  if (found === undefined) return word
  const stem = word.slice(0, found.start)
  return measure(stem) > 0 ? stem + found.action : word
}

function cutDerived(word: string): string {
  const found = plainSuffixes(word)
  if (found === undefined) return word
  const stem = word.slice(0, found.start)
  if (word.endsWith('ion') && !/[st]$/.test(stem)) return word
  return measure(stem) > 1 ? stem : word
}

function tidied(word: string): string {
  const plain = withoutFinalE(word)
  return plain.endsWith('ll') && measure(plain) > 1 ? plain.slice(0, -1) : plain
}

function withoutFinalE(word: string): string {
  if (!word.endsWith('e')) return word
  const stem = word.slice(0, -1)
  const size = measure(stem)
  return size > 1 || (size === 1 && !endsShort(stem)) ? stem : word
}

function measure(stem: string): number {
  return stem.match(/[aeiouy][^aeiouy]/g)?.length ?? 0
}

/**
 * Whether the stem ends in consonant, vowel, consonant, like "hop", so that it may have lost an e.
 */
function endsShort(stem: string): boolean {
  return /[^aeiouy][aeiouy][^aeiouywxY]$/.test(stem)
}
