/**
 * Latvian, after K. Kreslins, "A stemming algorithm for Latvian" (1996), limited to nouns and
 * adjectives. An ending is removed only if the rest of the word contains a vowel.
 */
interface LatvianEnding {
  readonly text: string
  readonly vowels: number
  /** Whether the ending softens the preceding consonant, which is then restored. */
  readonly softens: boolean
}

function ending(text: string, vowels: number, softens = false): LatvianEnding {
  return { text, vowels, softens }
}

const endings: readonly LatvianEnding[] = [
  ...['ajiem', 'ajai'].map((text) => ending(text, 3)),
  ...['ajam', 'ajām', 'ajos', 'ajās'].map((text) => ending(text, 2)),
  ending('iem', 2, true),
  ...['ajā', 'ais', 'ai', 'ei'].map((text) => ending(text, 2)),
  ...['ām', 'am', 'ēm', 'īm', 'im', 'um'].map((text) => ending(text, 1)),
  ending('us', 1, true),
  ...['as', 'ās', 'es'].map((text) => ending(text, 1)),
  ending('os', 1, true),
  ...['ij', 'īs', 'ēs', 'is', 'ie'].map((text) => ending(text, 1)),
  ...['u', 'a', 'i'].map((text) => ending(text, 1, true)),
  ...['e', 'ā', 'ē', 'ī', 'ū', 'o'].map((text) => ending(text, 1)),
  ...['s', 'š'].map((text) => ending(text, 0)),
]

export function latvianStem(word: string): string {
  const vowelCount = word.match(/[aeiouāīēū]/g)?.length ?? 0
  const found = endings.find(
    ({ text, vowels }) =>
      vowelCount > vowels && word.length >= text.length + 3 && word.endsWith(text),
  )
  if (found === undefined) return word
  const stem = word.slice(0, -found.text.length)
  return found.softens ? hardened(stem, found.text.startsWith('u')) : stem
}

const hard = new Map([
  ['šņ', 'sn'],
  ['žņ', 'zn'],
  ['šļ', 'sl'],
  ['žļ', 'zl'],
  ['ļņ', 'ln'],
  ['ļļ', 'll'],
  ['č', 'c'],
  ['ļ', 'l'],
  ['ņ', 'n'],
])

function hardened(stem: string, beforeU: boolean): string {
  if (beforeU && stem.endsWith('kš')) return `${stem.slice(0, -1)}st`
  if (beforeU && stem.endsWith('ņņ')) return `${stem.slice(0, -2)}nn`
  if (/[pbmv]j$/.test(stem)) return stem.slice(0, -1)
  return stem.replace(/(?:[šž][ņļ]|ļ[ņļ]|[čļņ])$/, (soft) => hard.get(soft)!)
}
