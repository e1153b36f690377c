/** Northern Europe: light stemmers after J. Savoy, and unified spellings of å, æ and ø. */
import { cut, inTurn, onlyOver, over, type StemmerStep } from './endings.ts'
import { rewriting } from './letters.ts'

const genitive = cut(over(4, 's'))

/** Stems Bokmål; Nynorsk, the other written standard, has its own endings. */
export const norwegianLightStem: StemmerStep = inTurn(
  genitive,
  cut(
    over(7, 'heter heten'),
    over(5, 'dom het'),
    over(7, 'elser elsen'),
    over(6, 'ende else este eren'),
    over(5, 'ere est ene'),
    over(4, 'er en et st te'),
    over(3, 'a e n'),
  ),
)

export const norwegianMinimalStem: StemmerStep = inTurn(
  genitive,
  cut(over(5, 'ene'), over(4, 'er en et'), over(3, 'a e')),
)

export const swedishLightStem: StemmerStep = inTurn(
  genitive,
  cut(
    over(7, 'elser heten'),
    over(6, 'arne erna ande else aste orna aren'),
    over(5, 'are ast het'),
    over(4, 'ar er or en at te et'),
    over(3, 't a e n'),
  ),
)

export const swedishMinimalStem: StemmerStep = inTurn(
  genitive,
  cut(
    over(6, 'arne erna arna orna aren'),
    over(5, 'are'),
    over(4, 'ar at er et or en'),
    over(3, 'a e n'),
  ),
)

export const finnishLightStem: StemmerStep = onlyOver(
  3,
  inTurn(
    rewriting('äå:a ö:o'),
    (word) => finnishParticles(word),
    cut(over(5, 'lla tse sti ni'), over(5, 'aa', 'a')),
    cut(
      over(8, 'nnen', 's'),
      over(8, 'ntena', 's'),
      over(8, 'tten eiden'),
      over(6, 'neen niin seen teen inen'),
      over(6, 'han hen hin hon hun hyn'),
      over(6, 'den ksen', 's'),
      over(6, 'ssa sta lla lta tta ksi lle'),
      over(5, 'na ne nei'),
      over(4, 'ja ta a'),
      over(4, 'an en in on un yn n'),
    ),
    cut(over(5, 'hde', 'ksi')),
    cut(over(4, 'ei at'), over(3, 't s j e a i')),
    cut(over(8, 'e o u')),
    cut(over(4, 'i')),
    onlyOver(4, (word) => word.replace(/([kpt])\1+/g, '$1')),
  ),
)

/**
 * Removes "-kin" and "-ko", which can follow any word and can be repeated. Then removes endings of
 * long adjectives.
 */
function finnishParticles(word: string): string {
  const shorter = cutParticle(word)
  return shorter === word ? cutLongAdjective(word) : finnishParticles(shorter)
}

const cutParticle = cut(over(8, 'kin ko'))
const cutLongAdjective = cut(over(11, 'dellinen dellisuus'))

/**
 * Unifies Scandinavian spellings: "ä", "ae" and "æ" are one letter, and so are "ö", "oe" and "ø",
 * and "aa" and "å".
 */
export const scandinavianNormalization: StemmerStep = normalizing(/a[aoe]|o[oe]|[äö]/gi)

/** Unifies spellings by the Norwegian rules, which keep "ao" and "oo". */
export const norwegianNormalization: StemmerStep = normalizing(/a[ae]|oe|[äö]/gi)

function normalizing(letters: RegExp): StemmerStep {
  return (word) =>
    word.replace(letters, (found) => {
      const letter = oneLetter.get(found.toLowerCase())!
      return found.startsWith(found.slice(0, 1).toLowerCase())
        ? letter
        : letter.toUpperCase()
    })
}

const oneLetter = new Map([
  ['aa', 'å'],
  ['ao', 'å'],
  ['ae', 'æ'],
  ['ä', 'æ'],
  ['oe', 'ø'],
  ['oo', 'ø'],
  ['ö', 'ø'],
])
