/** Slavic languages, with tables of case endings. */
import { cut, firstOf, inTurn, onlyOver, over, type StemmerStep } from './endings.ts'
import { rewriting } from './letters.ts'

/** Stems Bulgarian, after J. Savoy, "Searching strategies for the Bulgarian language" (2007). */
export const bulgarianStem: StemmerStep = onlyOver(
  3,
  firstOf(
    cut(over(5, 'ища')),
    inTurn(
      cut(over(6, 'ият'), over(5, 'ът то те та ия'), over(4, 'ят')),
      bulgarianPlural(),
      onlyOver(3, (word) => word.replace(/я$/, '').replace(/[аое]$/, '')),
      cut(over(4, 'ен', 'н')),
      onlyOver(5, (word) => word.replace(/ъ(.)$/s, '$1')),
    ),
  ),
)

function bulgarianPlural(): StemmerStep {
  return firstOf(
    cut(
      over(6, 'овци', 'о'),
      over(6, 'ове'),
      over(6, 'еве', 'й'),
      over(5, 'ища та'),
      over(5, 'ци', 'к'),
      over(5, 'зи', 'г'),
    ),
    onlyOver(5, (word) => word.replace(/е(.)и$/s, 'я$1')),
    cut(over(4, 'си', 'х'), over(4, 'и')),
  )
}

/**
 * Stems Czech, after L. Dolamic and J. Savoy, "Indexing and stemming approaches for the Czech
 * language" (2009).
 */
export const czechStem: StemmerStep = inTurn(
  cut(
    over(7, 'atech'),
    over(6, 'ětem etem atům'),
    over(
      5,
      `ech ich ích ého ěmi emi ému ěte ete ěti eti ího iho ími ímu imu ách ata aty ých ama
       ami ové ovi ými`,
    ),
    over(4, 'em es ém ím ům at ám os us ým mi ou'),
    over(3, 'a e i o u ů y á é í ý ě'),
  ),
  cut(over(5, 'ov in ův')),
  czechConsonants,
)

function czechConsonants(word: string): string {
  if (/[čš]t$/.test(word)) return word.replace('čt', 'ck').replace(/št$/, 'sk')
  if (/[cčzž]$/.test(word)) return word.replace(/[cč]$/, 'k').replace(/[zž]$/, 'h')
  if (/e.$/s.test(word)) return word.slice(0, -2) + word.slice(-1)
  return word.length > 2 ? word.replace(/ů(.)$/s, 'o$1') : word
}

/**
 * Stems Russian, after L. Dolamic and J. Savoy, "Indexing and searching strategies for the Russian
 * language" (2009).
 */
export const russianLightStem: StemmerStep = inTurn(
  cut(
    over(6, 'иями оями'),
    over(5, 'иям иях оях ями оям оьв ами его ему ери ими ого ому ыми оев'),
    over(
      4,
      `ая яя ях юю ах ею их ия ию ьв ою ую ям ых ея ам ем ей ём ев ий им ое ой ом ов ые ый
       ым ми`,
    ),
    over(3, 'а е и о у й ы я ь'),
  ),
  cut(over(3, 'ь и'), over(3, 'нн', 'н')),
)

/** Converts Serbian from both alphabets to Latin letters without accents. */
export const serbianNormalization: StemmerStep = rewriting(
  'а:a б:b в:v г:g д:d ђđ:dj е:e жзž:z и:i ј:j к:k л:l љ:lj м:m н:n њ:nj о:o п:p р:r с:s ' +
    'т:t ћцчčć:c у:u ф:f х:h џ:dz шš:s',
)
