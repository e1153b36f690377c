/**
 * English inflections only, in the spirit of R. Krovetz, "Viewing morphology as an
 * inference process" (1993): the outcome is a word, not a stump.
 *
 * His stemmer asks a dictionary whether what it is about to make is a word, and undoes
 * derivations, too. This one is simpler. Having no dictionary, it undoes plurals, "-ed" and
 * "-ing", goes by spelling where an e may have been lost, and knows the commonest irregular
 * plurals.
 */
export function kStem(word: string): string {
  if (word.length < 4 || !/^[a-z]+$/.test(word) || unchanging.has(word)) return word
  return irregularPlurals.get(word) ?? presentTense(singular(word))
}

const unchanging = new Set(['news', 'series', 'species'])

const irregularPlurals = new Map([
  ['children', 'child'],
  ['feet', 'foot'],
  ['geese', 'goose'],
  ['knives', 'knife'],
  ['leaves', 'leaf'],
  ['lives', 'life'],
  ['men', 'man'],
  ['mice', 'mouse'],
  ['people', 'person'],
  ['shelves', 'shelf'],
  ['teeth', 'tooth'],
  ['thieves', 'thief'],
  ['wives', 'wife'],
  ['wolves', 'wolf'],
  ['women', 'woman'],
])

function singular(word: string): string {
  if (!word.endsWith('s') || /[sui]s$/.test(word)) return word
  if (word.endsWith('ies')) return withY(word)
  return word.slice(0, /(?:ss|x|zz|ch|sh|o)es$/.test(word) ? -2 : -1)
}

function presentTense(word: string): string {
  if (word.endsWith('ied')) return withY(word)
  const stem = /^(.*[aeiouy].*)(?:(?<!e)ed|ing)$/.exec(word)?.[1]
  if (stem === undefined || stem.length < 2) return word
  if (/.[aeiou]([^aeiouylsz])\1$/.test(stem)) return stem.slice(0, -1)
  return hasLostE(stem) ? `${stem}e` : stem
}

/** "ponies" and "tried" lost a y, "ties" and "tied" did not. */
function withY(word: string): string {
  return word.length > 4 ? `${word.slice(0, -3)}y` : word.slice(0, -1)
}

/** Whether a stem is spelled as only words with a final e are. */
function hasLostE(stem: string): boolean {
  return lostE.some((spelling) => spelling.test(stem))
}

const lostE = [
  // One syllable with one vowel: others would have doubled the consonant.
  /^[^aeiou]*[aeiou][^aeiouwxy]$/,
  /(?:bl|iz|[dlr]g|[cuv])$/,
  /(?:[^aeou]at|creat|[^aeo]ut|(?:inv|un|ign|exc)it|[mn]ot)$/,
  /(?:[aeo][au]s|[ao][iu]s|[^aeious]s)$/,
]
