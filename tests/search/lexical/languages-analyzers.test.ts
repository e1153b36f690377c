/** The analyzers of single languages, and their stop words. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ownBudget } from '../../../src/caller/analysis-budget.ts'
import { builtInAnalyzers } from '../../../src/search/lexical/analyzers.ts'
import { languageRecipes, stopWords } from '../../../src/search/lexical/languages/index.ts'
import type { Token } from '../../../src/search/lexical/stage.ts'
import { standardTokenizer } from '../../../src/search/lexical/tokenizers/standard.ts'

function analyze(language: string, text: string): readonly Token[] {
  const { charFilters = [], filters } = languageRecipes.get(language)!
  const steps = ownBudget()
  const filtered = charFilters.reduce((changed, filter) => filter(changed, steps), text)
  const made = filters.reduce(
    (tokens, filter) => filter(tokens, steps),
    standardTokenizer(filtered, steps),
  )
  return [...made]
}

function terms(language: string, text: string): string {
  return analyze(language, text)
    .map((token) => token.text)
    .join(' ')
}

const sentences: readonly (readonly [language: string, text: string, terms: string])[] = [
  ['arabic', 'قرأ الطالب الكتاب في المكتبة ١٢', 'قرا طالب كتاب مكتب 12'],
  ['armenian', 'Ես կարդում եմ քաղաքի և քաղաքներ', 'կարդ քաղ քաղ'],
  ['basque', 'Etxeak eta zaldiak dira', 'etxe zaldi'],
  ['bengali', 'আমি বইগুলো এবং কলম ১২', 'বই কলম 12'],
  ['brazilian', 'As informações sobre os meninos não são rápidas', 'inform menin rap'],
  ['bulgarian', 'Градовете и книгите са на жената', 'град книг жен'],
  ['catalan', "L'home parla de les llengües d'Europa", 'hom par llengu europ'],
  ['czech', 'Hrady a města jsou v Čechách', 'hrad měst čech'],
  ['danish', 'Husene og bilerne er på øen', 'hus bil øen'],
  ['dutch', 'De kinderen en het kind op de fiets', 'kinder kinder fiets'],
  ['english', "The runner's dogs were running into the houses", 'runner dog were run hous'],
  ['estonian', 'Raamatud ja majad on linnas', 'raama maja linna'],
  ['finnish', 'Kirjat ovat talossa ja autossa', 'kirj talo auto'],
  ['french', "L'eau des chevaux n'est pas nationale", 'eau cheval national'],
  ['galician', 'Os libros e os nenos', 'libr nen'],
  ['german', 'Die schönen Häuser und die Straßen der Könige', 'schon haus strass konig'],
  ['greek', 'Οι ΆΝΘΡΩΠΟΙ και τα σχολεία της πόλης', 'ανθρωπ σχολει πολ'],
  ['hindi', 'हिन्दी की किताबें और लड़के १२', 'हिंद किताब लडक 12'],
  ['hungarian', 'A házak és a könyvek az asztalon vannak', 'ház könyv asztal'],
  ['indonesian', 'Buku-bukunya dimakan oleh pelajar', 'buku buku makan ajar'],
  ['irish', "an t-athair agus nAthair le m'iníon", 'athair athair iníon'],
  [
    'italian',
    "L'acqua dei ragazzi e delle ragazze nell'isola",
    'acqua ragazz ragazz isola',
  ],
  ['latvian', 'Lāči un tirgus ir pie mazās upes', 'lāc tirg maz upe'],
  ['lithuanian', 'Vaikai ir namai yra mieste', 'vaik nam miest'],
  ['norwegian', 'Husene og bilene er på havnedistriktene', 'hus bil havnedistrikt'],
  ['persian', 'کتاب‌های بزرگترین مردان در ۱۲', 'كتاب بزرگ مرد 12'],
  ['portuguese', 'As questões dos animais não são finais', 'questa animal final'],
  ['romanian', 'Națiunile și naţiunea sunt absențe', 'naţiun naţiun absenţ'],
  ['russian', 'Новые книги и важные люди не в городе', 'нов книг важн люд город'],
  ['sorani', 'پیاوەکان و كتێبەکە لە دەرگاکان ١٢', 'پیاو کتێب دەرگا 12'],
  ['spanish', 'Los chicos y las luces de los torneos', 'chic luz torne'],
  ['swedish', 'Flickorna och bilarna är i husen', 'flick bil hus'],
  ['turkish', "Ankara'daki EVLERDE ve IŞIK kitaplar", 'ankar ev ışık kitap'],
]

describe('the analyzer', () => {
  for (const [language, text, expected] of sentences)
    test(`for ${language} returns the stems of the significant words`, () => {
      assert.equal(terms(language, text), expected)
    })

  test('for English leaves a position gap at each stop word', () => {
    const steps = analyze('english', 'house of the cats').map(({ step }) => step)
    assert.deepEqual(steps, [1, 3])
  })

  test('for each language is built in under the name of the language', () => {
    // These built-in analyzers, "cjk" and "thai" are not in `languageRecipes`.
    const others = ['standard', 'simple', 'whitespace', 'stop', 'lowercase', 'keyword']
    const languages = builtInAnalyzers.filter(
      (name) => ![...others, 'cjk', 'thai'].includes(name),
    )
    assert.deepEqual([...languageRecipes.keys()].toSorted(), languages.toSorted())
    assert.deepEqual(
      sentences.map(([language]) => language),
      languages,
    )
  })
})

describe('stop words', () => {
  test('for English are those documented by the API', () => {
    assert.deepEqual(
      [...stopWords('English')!],
      (
        'a an and are as at be but by for if in into is it no not of on or such that the ' +
        'their then there these they this to was will with'
      ).split(' '),
    )
  })

  test('exist for every language with an analyzer, and for Thai', () => {
    for (const language of [...languageRecipes.keys(), 'thai'])
      assert.ok((stopWords(language)?.size ?? 0) > 30, language)
    assert.equal(stopWords('Klingon'), undefined)
    assert.equal(stopWords('toString'), undefined)
  })

  test('are in lower case', () => {
    for (const language of [...languageRecipes.keys(), 'thai'])
      for (const word of stopWords(language)!)
        assert.equal(word, word.toLowerCase(), `${language}: ${word}`)
  })

  test('are removed by the analyzer of their language', () => {
    for (const [language, recipe] of languageRecipes) {
      // Skips languages in which earlier filters, such as elision, may change stop words before
      // their removal.
      if (recipe.charFilters !== undefined || language === 'irish') continue
      for (const word of stopWords(language)!)
        assert.equal(terms(language, word), '', `${language}: ${word}`)
    }
  })
})
