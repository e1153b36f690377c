/** German: three stemmers of different strength, and spelling without umlauts. */
import { cut, inTurn, onlyOver, over, type StemmerStep } from './endings.ts'
import { rewriting } from './letters.ts'

/** Letters that an inflectional s or st can follow. */
const beforeS = ['b', 'd', 'f', 'g', 'h', 'k', 'l', 'm', 'n', 't']

/**
 * Light stemmer of German, after J. Savoy, "Light stemming approaches for the French, Portuguese,
 * German and Hungarian languages" (2006).
 */
export const germanLightStem: StemmerStep = inTurn(
  rewriting('äàáâ:a öòóô:o ïìíî:i üùúû:u'),
  cut(
    over(5, 'ern'),
    over(4, 'em en er es'),
    over(3, 'e'),
    ...beforeS.map((letter) => over(3, `${letter}s`, letter)),
  ),
  cut(
    over(5, 'est'),
    over(4, 'er en'),
    ...beforeS.map((letter) => over(4, `${letter}st`, letter)),
  ),
)

/** Removes plurals only, after the paper cited for germanLightStem. */
export const germanMinimalStem: StemmerStep = onlyOver(
  4,
  inTurn(
    rewriting('ä:a ö:o ü:u'),
    cut(over(6, 'nen'), over(5, 'en se es er'), over(4, 'n e s r')),
  ),
)

/**
 * Removes inflections repeatedly, after J. Caumanns, "A fast and simple stemming algorithm for
 * German words" (1999). Sounds of several letters are replaced by one sign, so that they are never
 * split.
 */
export function germanStem(word: string): string {
  if (!/^\p{L}+$/u.test(word)) return word
  const plain = withoutUmlauts(word)
  const short = plain.replace(
    /sch|ch|ei|ie|ig|st|(\p{L})\1/gu,
    (sound, doubled: string | undefined) =>
      doubled === undefined ? signs.get(sound)! : doubled + again,
  )
  const stem = strip(short, plain.length - short.length)
  const spelled = stem
    .replace(/z$/, 'x')
    .replace(/[$§%&#!]/g, (sign) => sounds.get(sign)!)
    .replace(/(.)\*/gsu, '$1$1')
  // Verbs with a particle: "abgegeben" is stemmed like "abgeben".
  return spelled.length > 4 ? spelled.replace('gege', 'ge') : spelled
}

const withoutUmlauts = rewriting('ä:a ö:o ü:u ß:ss')
const again = '*'
const signs = new Map([
  ['sch', '$'],
  ['ch', '§'],
  ['ei', '%'],
  ['ie', '&'],
  ['ig', '#'],
  ['st', '!'],
])
const sounds = new Map([...signs].map(([sound, sign]) => [sign, sound]))

function strip(word: string, hidden: number): string {
  let stem = word
  for (;;) {
    const ending = endingOf(stem, stem.length + hidden)
    if (ending === 0) break
    stem = stem.slice(0, -ending)
  }
  // Feminine nouns of professions and places: "Lehrerinnen".
  return /.erin\*$/s.test(stem) ? strip(stem.slice(0, -1), hidden) : stem
}

/** Number of letters to remove; 0 if the stem has no further ending. */
function endingOf(stem: string, letters: number): number {
  if (stem.length <= 3) return 0
  if (letters > 5 && stem.endsWith('nd')) return 2
  if (letters > 4 && /e[mr]$/.test(stem)) return 2
  return /[esnt]$/.test(stem) ? 1 : 0
}

/**
 * Unifies spellings with umlauts or ß and their replacements on other keyboards: "ä" and "ae"
 * become "a".
 */
export function germanNormalization(word: string): string {
  return word.replace(
    /ae|oe|(?<![aeiouyqäöü])ue|[äöüß]/g,
    (letters) => umlauts.get(letters) ?? letters.slice(0, 1),
  )
}

const umlauts = new Map([
  ['ä', 'a'],
  ['ö', 'o'],
  ['ü', 'u'],
  ['ß', 'ss'],
])
