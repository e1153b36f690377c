/**
 * Hungarian, after J. Savoy's light stemmer: removes the ending of the case, then that of the
 * possessor, then that of the number.
 */
import { cut, inTurn, over, type StemmerStep } from './endings.ts'
import { rewriting } from './letters.ts'

/**
 * Applies the first rule whose `ending` matches a word with more than `over` letters: removes the
 * last `cut` letters.
 */
function cutWhere(
  rules: readonly (readonly [over: number, ending: RegExp, cut: number])[],
): StemmerStep {
  return (word) => {
    const rule = rules.find(
      ([letters, ending]) => word.length > letters && ending.test(word),
    )
    return rule === undefined ? word : word.slice(0, -rule[2])
  }
}

const caseEnding = cutWhere([
  [6, /kent$/, 4],
  [5, /(?:n[ae]k|v[ae]l|ert|rol|b[ae]n|bol|n[ae]l|h[oe]z|tol)$/, 3],
  [5, /([^aeiouy])\1[ae]l$/, 3],
  [4, /(?:[aeo]t|v[ae]|r[ae]|b[ae]|ul|ig)$/, 2],
  [4, /[^aeiouy][oe]n$/, 2],
  [4, /[tn]$/, 1],
  [4, /([^aeiouy])\1[ae]$/, 2],
])

const possessive = cutWhere([
  [6, /[^aeiouy](?:[ao]tok|etek)$/, 4],
  [6, /it[eo]k$/, 4],
  [5, /[^aeiouy](?:unk|tok|tek)$/, 3],
  [5, /[aeiouy]juk$/, 3],
  [5, /ink$/, 3],
  [4, /[^aeiouy](?:[aeo][md]|uk)$/, 2],
  [4, /[aeiouy](?:nk|j[ae])$/, 2],
  [4, /i[mdk]$/, 2],
  [3, /[^aeiouy][ae]$/, 1],
  [3, /[aeiouy][md]$/, 1],
  [3, /i$/, 1],
])

const plural = cut(over(4, 'ak ok ek'), over(3, 'k'))

export const hungarianLightStem: StemmerStep = inTurn(
  rewriting('á:a ëé:e í:i óőõö:o úűũûü:u'),
  caseEnding,
  possessive,
  plural,
  cut(over(3, 'a e i o')),
)
