/**
 * English inflections only, in the spirit of R. Krovetz, "Viewing morphology as an inference
 * process" (1993): the result is a word instead of a stem.
 *
 * Krovetz's stemmer validates results with a dictionary, and also removes derivations. This stemmer
 * has no dictionary: it removes plurals, "-ed" and "-ing", restores a lost e by spelling rules, and
 * knows the most common irregular plurals.
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

/**
 * Removes the ending of a word in "-ies" or "-ied". "ponies" and "tried" become "pony" and "try";
 * the short words "ties" and "tied" become "tie".
 */
function withY(word: string): string {
  return word.length > 4 ? `${word.slice(0, -3)}y` : word.slice(0, -1)
}

/** Whether the spelling of a stem shows that it has lost a final e. */
function hasLostE(stem: string): boolean {
  return lostE.some((spelling) => spelling.test(stem))
}

const lostE = [
  // A syllable with a single vowel, such as "hop" of "hoping": without a lost e, its consonant
  // would have been doubled, as in "hopping".
  /^[^aeiou]*[aeiou][^aeiouwxy]$/,
  /(?:bl|iz|[dlr]g|[cuv])$/,
  /(?:[^aeou]at|creat|[^aeo]ut|(?:inv|un|ign|exc)it|[mn]ot)$/,
  /(?:[aeo][au]s|[ao][iu]s|[^aeious]s)$/,
]
