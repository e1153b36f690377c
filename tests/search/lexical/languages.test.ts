/** The filters of single languages: words and their filtered forms. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { tokenFilters } from '../../../src/search/lexical/analyzers.ts'
import {
  findLanguageProblem,
  languageFilters,
} from '../../../src/search/lexical/languages/index.ts'
import { ownBudget } from '../../../src/caller/analysis-budget.ts'
import { atOnce } from '../../../src/runtime/steps.ts'
import type { Token, TokenFilter } from '../../../src/search/lexical/stage.ts'

const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31)

function filter(name: string, args: Readonly<Record<string, string>> = {}): TokenFilter {
  const made = languageFilters.get(name.toLowerCase())!(new Map(Object.entries(args)))
  return typeof made === 'function' ? made : atOnce(made)
}

function token(text: string, keyword = false): Token {
  return { text, step: 1, keyword, kind: 'word' }
}

function run(change: TokenFilter, tokens: readonly Token[]): readonly Token[] {
  return [...change(tokens, ownBudget())]
}

function changed(change: TokenFilter, word: string): string | undefined {
  return run(change, [token(word)])[0]?.text
}

/** Filtered forms, each with the words that become this form. */
type Outcomes = Readonly<Record<string, string>>

function assertOutcomes(change: TokenFilter, outcomes: Outcomes): void {
  for (const [outcome, words] of Object.entries(outcomes))
    for (const word of words.split(' ')) assert.equal(changed(change, word), outcome, word)
}

const stems: Readonly<Record<string, Outcomes>> = {
  porterStem: {
    connect: 'connect connected connecting connection connections',
    relat: 'relate relational',
    hop: 'hops hopping',
    hope: 'hoped hoping',
    poni: 'pony ponies',
    gener: 'general generalization generalizations',
    gazel: 'gazelle gazelles',
  },
  kStem: {
    pony: 'pony ponies',
    box: 'box boxes',
    run: 'runs running',
    hope: 'hopes hoped hoping',
    try: 'tries tried trying',
    create: 'creates created creating',
    add: 'adds added adding',
    visit: 'visits visited visiting',
    woman: 'woman women',
    bus: 'bus',
    news: 'news',
    need: 'need needed',
  },
  englishMinimalStem: {
    cat: 'cat cats',
    pony: 'ponies',
    horse: 'horses',
    bus: 'bus',
    boss: 'boss',
    running: 'running',
  },
  arabicStem: {
    حسن: 'الحسن والحسن بالحسن كالحسن فالحسن للحسن وحسن',
    كتب: 'كتبها كتبه',
    ساهد: 'ساهدون ساهدين ساهدات ساهدان',
    // In such a short word, the first letter may belong to the root instead of meaning "and", so
    // the stemmer keeps it.
    وحس: 'وحس',
  },
  bengaliStem: {
    কর: 'করছিলাম করিতে করলাম করবেন করছে করা',
    বই: 'বইগুলো বইগুলি বইটা বইটি',
    মানুষ: 'মানুষেরা মানুষদের মানুষকে',
  },
  brazilianStem: {
    inform: 'informação informações informacao informar informado',
    menin: 'menino meninos menina meninas',
    boat: 'boato boatos boata',
    tecnolog: 'tecnologia tecnologias',
    revolu: 'revolução revoluções',
  },
  bulgarianStem: {
    град: 'град градът градове градовете',
    книг: 'книга книги книгата книгите',
    жен: 'жена жената',
  },
  czechStem: {
    pán: 'pán pána pánovi páni pánové pány pánech',
    hrad: 'hrad hradu hrade hrady hradech',
    měst: 'město města městu městech',
  },
  finnishLightStem: {
    talo: 'talossa talosta talot taloissa',
    kirj: 'kirjat kirjassa kirjasta',
    auto: 'autossa autot',
  },
  frenchLightStem: {
    cheval: 'cheval chevaux',
    national: 'national nationale nationaux',
    administr: 'administrateur administratrice',
    amoureu: 'amoureux amoureuse',
    fini: 'finir finissement',
  },
  frenchMinimalStem: {
    cheval: 'cheval chevaux',
    baron: 'baron barons baronne',
    chant: 'chanter chantés',
    maison: 'maisons',
  },
  galicianStem: {
    libr: 'libro libros',
    cant: 'cantar cantando cantaba cantei cantaron',
    feliz: 'feliz felizmente',
    nen: 'neno nenos nenas',
    rapaz: 'rapaz rapaces',
  },
  galicianMinimalStem: {
    casa: 'casas',
    animal: 'animais',
    luz: 'luces',
    papel: 'papeis',
    canción: 'cancións',
    flor: 'flores',
  },
  germanStem: {
    hau: 'haus hauses häuser häusern',
    schon: 'schön schöne schönen',
    abgeb: 'abgeben abgegeben',
    lehreri: 'lehrerin lehrerinnen',
  },
  germanLightStem: {
    haus: 'haus hauses häuser häusern',
    kind: 'kind kinder kindern kindes',
    schon: 'schönen schönes schöner schönste',
  },
  germanMinimalStem: {
    buch: 'bücher',
    bild: 'bilder',
    frau: 'frauen',
    auto: 'autos auto',
    lehrer: 'lehrern',
  },
  greekStem: {
    ανθρωπ: 'άνθρωπος άνθρωποι ανθρώπων ανθρώπους',
    σχολει: 'σχολείο σχολεία σχολείου',
    γυναικ: 'γυναίκα γυναίκες γυναικών',
    // The word consists only of endings, so it is not changed.
    ίσα: 'ίσα',
  },
  hindiStem: {
    किताब: 'किताब किताबें किताबों',
    लड़क: 'लड़का लड़के लड़कों',
    पढ़: 'पढ़ना पढ़ता पढ़ते',
  },
  hungarianLightStem: {
    haz: 'ház házak házakat házban házból házhoz',
    kuty: 'kutya kutyák kutyákat kutyával',
    konyv: 'könyv könyvek könyveket könyvben',
  },
  indonesianStem: {
    makan: 'makan makanan dimakan makanlah',
    bangun: 'bangun membangun dibangun bangunan',
    buku: 'buku bukumu bukunya bukukah',
    ajar: 'ajar pelajar mengajar diajar',
  },
  italianLightStem: {
    ragazz: 'ragazzo ragazza ragazzi ragazze',
    librett: 'libretto libretti',
    propagand: 'propaganda propagande',
  },
  latvianStem: {
    tirg: 'tirgus tirgum tirgu tirgi tirgos',
    lāc: 'lācis lāča lācim lāču lāčus',
    maz: 'mazs maza mazais mazajai',
  },
  norwegianLightStem: {
    hemmelig: 'hemmelighet hemmeligheten hemmeligheter',
    hus: 'hus huset husene husets',
    fin: 'finere fineste',
  },
  norwegianMinimalStem: {
    hus: 'hus huset husene husets',
    bil: 'bil biler bilene bilens',
    gutt: 'gutt gutter gutten',
  },
  persianStem: {
    كتاب: 'كتابها كتابهايي كتابات',
    بزرگ: 'بزرگ بزرگتر بزرگترين',
    مرد: 'مردان',
  },
  portugueseStem: {
    menin: 'menino meninos menina meninas',
    quilometr: 'quilométricas quilométricos quilométrica',
    cant: 'cantar cantando cantavam',
    feliz: 'feliz felizmente',
  },
  portugueseLightStem: {
    evidenci: 'evidência evidências',
    questa: 'questão questões',
    doutor: 'doutor doutora doutores',
    animal: 'animal animais',
  },
  portugueseMinimalStem: {
    questão: 'questões',
    casa: 'casas',
    animal: 'animais',
    bom: 'bons',
    papel: 'papéis',
    lápis: 'lápis',
  },
  russianLightStem: {
    книг: 'книга книги книгу книгой книгам',
    нов: 'новый новая новое новых новому',
    слон: 'слон слона слонами',
  },
  soraniStem: {
    پیاو: 'پیاوێک پیاوەکە پیاوان پیاوەکان پیاوی',
    دەرگا: 'دەرگایەک دەرگاکە دەرگاکان',
    کتێب: 'کتێبێک کتێبەکانمان',
  },
  spanishLightStem: {
    chic: 'chico chicos chica chicas',
    luz: 'luz luces',
    torne: 'torneo torneos',
    cantant: 'cantante cantantes',
  },
  spanishMinimalStem: {
    chico: 'chico chicos',
    luz: 'luces',
    interes: 'intereses',
    actor: 'actores',
    casa: 'casas',
  },
  swedishLightStem: {
    flick: 'flicka flickor flickorna',
    hus: 'hus huset husen husens',
    jaktkarl: 'jaktkarl jaktkarlar jaktkarlarne',
  },
  swedishMinimalStem: {
    bil: 'bil bilar bilarna bilens',
    flick: 'flickor flickorna',
    hus: 'huset husen',
  },
}

const normalized: Readonly<Record<string, Outcomes>> = {
  arabicNormalization: {
    احمد: 'أحمد احمد',
    فاطمه: 'فاطمة',
    مستشفي: 'مستشفى',
    محمد: 'مُحَمَّد محـمـد',
  },
  bengaliNormalization: { সসি: 'শশী', পুজা: 'পূজা', ভাসা: 'ভাষা', বেগ: 'ব্যাগ' },
  germanNormalization: {
    konig: 'könig koenig',
    schaltflachen: 'schaltflächen schaltflaechen',
    weissbier: 'weißbier weissbier',
    // Here, "ue" is not a spelling of "ü", so the filter keeps it.
    quelle: 'quelle',
    abenteuer: 'abenteuer',
  },
  hindiNormalization: { हिंदि: 'हिन्दी हिंदी', अंगरेजि: 'अँगरेज़ी अंगरेजी' },
  indicNormalization: {
    '\u0911': '\u0905\u093e\u0945 \u0905\u0949',
    '\u0958': '\u0915\u093c',
    '\u09ce': '\u09a4\u09cd\u200d',
  },
  norwegianNormalization: { bøger: 'boeger böger bøger', åbenrå: 'aabenraa', kaos: 'kaos' },
  persianNormalization: { هاي: 'های', كشاندن: 'کشاندن' },
  scandinavianNormalization: {
    ræksmørgås: 'räksmörgås raeksmoergaos',
    Åse: 'AAse Aase',
    Ødegård: 'Ödegård',
  },
  serbianNormalization: {
    djordje: 'ђорђе đorđe djordje',
    cacak: 'чачак čačak',
    suma: 'шума',
  },
  soraniNormalization: { کتێب: 'كتێب', ڕە: 'ره' },
  teluguNormalization: { ఓరా: 'ఔరా', దుఖం: 'దుఃఖం' },
}

const snowballStems: Readonly<Record<string, Outcomes>> = {
  Arabic: { كتاب: 'كتاب الكتاب' },
  Armenian: { արծ: 'արծիվ արծիվներ', քաղ: 'քաղաք քաղաքներ քաղաքի' },
  Basque: { etxe: 'etxe etxeak', liburu: 'liburu liburuak', zaldi: 'zaldi zaldiak' },
  Catalan: { llengu: 'llengua llengües', gat: 'gat gats gata', nacion: 'nacions nacional' },
  Danish: {
    undersøg: 'undersøgelse undersøgelsen undersøgelser',
    hus: 'huset huse husene',
  },
  Dutch: { licham: 'lichaam lichamelijk lichamelijke', boek: 'boek boeken' },
  English: {
    run: 'running runs',
    abandon: 'abandoned abandonment',
    happi: 'happiness happy',
    die: 'dying',
    sky: 'sky skies',
  },
  Estonian: {
    raama: 'raamat raamatud raamatut raamatute raamatule',
    maja: 'maja majas majad',
    söö: 'sõin süüa söövad',
  },
  Finnish: { edeltäj: 'edeltäjiinsä edeltäjistään', kirj: 'kirja kirjat kirjassa' },
  French: { majestu: 'majestueux majestueuse majestueusement', nation: 'nation nations' },
  German: { haus: 'haus häuser', kind: 'kinder kindern' },
  German2: { haus: 'haus häuser haeuser', kuhn: 'kühn kuehn', quell: 'quelle' },
  Greek: { ανθρωπ: 'άνθρωπος ανθρώπων' },
  Hindi: { किताब: 'किताब किताबें' },
  Hungarian: { ház: 'ház házak házban', könyv: 'könyv könyvek könyvet' },
  Indonesian: { makan: 'makan makanan' },
  Irish: { síceapaite: 'síceapatacha', fearúl: 'fearúlacht', bádóir: 'bádóir' },
  Italian: { abbandon: 'abbandonata abbandonate abbandonato', nazion: 'nazione nazioni' },
  Lithuanian: { vaik: 'vaikas vaiko vaikai vaikų', nam: 'namas namai namų namuose' },
  Nepali: { केटा: 'केटा केटाहरू' },
  Norwegian: { bil: 'bil biler bilene', havnedistrikt: 'havnedistrikter havnedistrikt' },
  Porter: { happili: 'happily' },
  Portuguese: { quilométr: 'quilométricas quilométrica', menin: 'menino meninas' },
  // Letters with a comma below and letters with a cedilla below result in the same stem.
  Romanian: { absenţ: 'absență absenţă absenţe', naţiun: 'naţiune națiuni' },
  Russian: { важн: 'важный важная важного', книг: 'книга книги книгами' },
  Serbian: { kuć: 'kuća kuće kućama' },
  Spanish: { nacion: 'nación naciones', cant: 'cantar cantando' },
  Swedish: {
    jaktkarl: 'jaktkarl jaktkarlens jaktkarlarne',
    flick: 'flicka flickor flickorna',
  },
  Tamil: { புத்தகம்: 'புத்தகம் புத்தகங்கள்' },
  Turkish: {
    ağaç: 'ağaç ağacı',
    ev: 'ev evi evler evlerde',
    kitap: 'kitap kitabı kitaplar',
  },
}

describe('stemmers', () => {
  for (const [name, outcomes] of Object.entries(stems))
    test(`${name} maps the forms of a word to one stem`, () => {
      assertOutcomes(filter(name), outcomes)
    })

  test('leave a protected word unchanged', () => {
    for (const name of ['porterStem', 'germanStem', 'greekStem', 'snowballPorter'])
      assert.deepEqual(
        run(filter(name), [token('houses', true)]),
        [token('houses', true)],
        name,
      )
  })
})

describe('normalizations', () => {
  for (const [name, outcomes] of Object.entries(normalized))
    test(`${name} maps equivalent spellings to one form`, () => {
      assertOutcomes(filter(name), outcomes)
    })

  test('drop a token that becomes empty, and leave a position gap', () => {
    const tatweel = '\u0640'
    const words = ['كتاب', tatweel, 'قلم'].map((word) => token(word))
    const left = run(filter('arabicNormalization'), words)
    assert.deepEqual(left, [token('كتاب'), { ...token('قلم'), step: 2 }])
  })
})

describe('snowballPorter', () => {
  for (const [language, outcomes] of Object.entries(snowballStems))
    test(`maps the forms of a word to one stem with the stemmer ${language}`, () => {
      assert.equal(findLanguageProblem(language), undefined)
      assertOutcomes(filter('snowballPorter', { language }), outcomes)
    })

  test('uses English by default', () => {
    assert.equal(changed(filter('snowballPorter'), 'abandonment'), 'abandon')
  })

  test('leaves protected words unchanged, and marks them for later stemmers', () => {
    const change = filter('snowballPorter', { protected: 'houses, dogs' })
    assert.deepEqual(run(change, [token('houses'), token('cats')]), [
      token('houses', true),
      token('cat'),
    ])
  })

  test('rejects unknown languages and lists the known ones', () => {
    for (const language of ['Klingon', 'Kp', 'Lovins', 'english', 'toString', '']) {
      const problem = findLanguageProblem(language)
      assert.match(problem ?? '', /German2/)
      assert.ok(problem?.includes(`"${language}"`), problem)
      assert.throws(() => filter('snowballPorter', { language }), /there is no stemmer/)
    }
  })
})

describe('englishPossessive', () => {
  test("removes 's with any apostrophe, in any case", () => {
    const outcomes = { Stela: "Stela's Stela’s Stela＇S", "dogs'": "dogs'", boss: 'boss' }
    assertOutcomes(filter('englishPossessive'), outcomes)
  })
})

describe('the list of token filters', () => {
  const ofLanguages = tokenFilters
    .map(({ name }) => name)
    .filter((name) => /(?:Stem|Normalization|Possessive|Porter)$/.test(name))

  test('contains only implemented language filters', () => {
    const missing = ofLanguages.filter((name) => !languageFilters.has(name.toLowerCase()))
    assert.deepEqual(missing, [])
  })

  test('contains all implemented filters', () => {
    const known = new Set(ofLanguages.map((name) => name.toLowerCase()))
    assert.deepEqual(
      [...languageFilters.keys()].filter((name) => !known.has(name)),
      [],
    )
  })

  test('has test words in this file for every filter', () => {
    const tested = new Set([...Object.keys(stems), ...Object.keys(normalized)])
    const others = ['snowballPorter', 'englishPossessive']
    assert.deepEqual(
      ofLanguages.filter((name) => !tested.has(name) && !others.includes(name)),
      [],
    )
  })
})

describe(`any text, seed ${seed}`, () => {
  /** Random combinations of parts of the words above, many of which have endings. */
  const pieces = [...Object.values(stems), ...Object.values(snowballStems)]
    .flatMap((outcomes) => Object.values(outcomes))
    .flatMap((words) => words.split(' '))
  const likeWords = fc
    .array(fc.tuple(fc.constantFrom(...pieces), fc.nat(8), fc.nat(8)), { maxLength: 4 })
    .map((parts) => parts.map(([word, from, to]) => word.slice(from).slice(-to)).join(''))
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 30 }),
    fc.string({ maxLength: 30 }),
    likeWords,
  )
  const all = [
    ...Object.keys(stems).map((name) => [name, filter(name)] as const),
    ...Object.keys(snowballStems).map(
      (language) => [language, filter('snowballPorter', { language })] as const,
    ),
  ]

  test('is stemmed without an error', () => {
    fc.assert(
      fc.property(text, (word) => {
        fc.pre(word !== '')
        for (const [name, change] of all) {
          const stem = changed(change, word)
          assert.ok(stem !== undefined && stem !== '', `${name}: ${JSON.stringify(word)}`)
        }
      }),
      { seed, numRuns: 3000 },
    )
  })

  test('is normalized without an error', () => {
    fc.assert(
      fc.property(text, (word) => {
        for (const name of Object.keys(normalized)) run(filter(name), [token(word)])
      }),
      { seed, numRuns: 1000 },
    )
  })

  test('is unchanged when it is very long', () => {
    const long = 'running'.repeat(100_000)
    for (const [name, change] of all) assert.equal(changed(change, long), long, name)
    for (const name of Object.keys(normalized)) run(filter(name), [token(long)])
  })
})
