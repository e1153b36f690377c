/**
 * French after J. Savoy, "A stemming procedure and stopword list for general French
 * corpora" (1999).
 */
import { cut, firstOf, inTurn, over, type StemmerStep } from './endings.ts'
import { rewriting, undouble } from './letters.ts'

/** Articles and pronouns that lose their vowel before another vowel. */
export const frenchArticles: ReadonlySet<string> = new Set([
  ...['l', 'm', 't', 'qu', 'n', 's', 'j', 'd', 'c'],
  ...['jusqu', 'quoiqu', 'lorsqu', 'puisqu'],
])

export function frenchLightStem(word: string): string {
  return tidied(derivation(plural(word)))
}

const plural: StemmerStep = inTurn(
  (word) => (word.length > 5 ? word.replace(/(?<!e)aux$/s, 'al') : word),
  cut(over(3, 'x')),
  cut(over(3, 's')),
)

const firstDerivation = cut(
  over(9, 'issement', 'ir'),
  over(8, 'issant', 'ir'),
  over(7, 'ivement', 'if'),
  over(6, 'ement', 'e'),
  over(11, 'ficatrice', 'fier'),
  over(10, 'ficateur', 'fier'),
  over(9, 'catrice', 'quer'),
  over(8, 'cateur', 'quer'),
  over(8, 'atrice', 'er'),
  over(7, 'ateur', 'er'),
  over(7, 'trice', 'ter'),
  over(6, 'trice', 'teur'),
  over(5, 'ième'),
  over(7, 'teuse', 'ter'),
  over(6, 'teur', 'ter'),
  over(5, 'euse', 'eu'),
  over(8, 'ère', 'er'),
  over(7, 'ive', 'if'),
  over(4, 'folle', 'fou'),
  over(4, 'molle', 'mou'),
  over(9, 'nnelle nnel', 'n'),
)

const laterDerivation: StemmerStep = inTurn(
  cut(over(4, 'ète', 'et')),
  cut(over(8, 'ique')),
  cut(
    over(8, 'esse', 'e'),
    over(7, 'inage', 'in'),
    over(12, 'ualisation', 'uel'),
    over(9, 'isation isateur'),
    over(8, 'ation ition'),
  ),
)

const derivation = firstOf(firstDerivation, laterDerivation)

const withoutAccents = rewriting('àáâ:a ô:o èéê:e ùû:u î:i ç:c')

const cutIe = cut(over(4, 'ie'))

function tidied(word: string): string {
  if (word.length <= 4) return word
  const plain = cutIe(undouble(withoutAccents(word)))
  return plain.length > 4
    ? plain
        .replace(/r$/, '')
        .replace(/e{1,2}$/, '')
        .replace(/(\p{L})\1$/u, '$1')
    : plain
}

/** Removes plurals and the most common endings of gender and verbs. */
export function frenchMinimalStem(word: string): string {
  if (word.length < 6) return word
  if (word.endsWith('x')) return word.replace(/aux$/, 'alx').slice(0, -1)
  return word
    .replace(/s$/, '')
    .replace(/r$/, '')
    .replace(/e$/, '')
    .replace(/é$/, '')
    .replace(/(\p{L})\1$/u, '$1')
}
