import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { ownCaller } from '../../../src/caller/caller.ts'
import { AnalysisBudget } from '../../../src/caller/analysis-budget.ts'
import { fixedLimits } from '../../../src/limits.ts'
import { analyzerFor, termsWithin } from '../../../src/search/lexical/analyzer.ts'
import { builtInAnalyzers } from '../../../src/search/lexical/analyzers.ts'
import { termsOf } from './analyze.ts'

const sizeMax = 8_192

function sizeOf(terms: readonly string[]): number {
  return terms.reduce((size, term) => size + Buffer.byteLength(term), 0)
}

/** Texts with characters that analyzers treat specially. */
const texts = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string(),
      fc.constantFrom(
        ...["can't ", 'İ', 'ΣΑΣ ', '東京', 'ひら', 'カナ', '한국', 'ไทย', '_'],
      ),
      fc.constantFrom(...['👍🏽', '\u200d', '\u0301', '\ud800', '3.14', 'x'.repeat(300)]),
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(''))

describe('built-in analyzers', () => {
  test('split texts as their names indicate', () => {
    const text = "The 2 QUICK-brown foxes can't jump"
    for (const [name, terms] of [
      ['standard', ['the', '2', 'quick', 'brown', 'foxes', "can't", 'jump']],
      ['Standard', ['the', '2', 'quick', 'brown', 'foxes', "can't", 'jump']],
      ['simple', ['the', 'quick', 'brown', 'foxes', 'can', 't', 'jump']],
      ['whitespace', ['The', '2', 'QUICK-brown', 'foxes', "can't", 'jump']],
      ['stop', ['quick', 'brown', 'foxes', 'can', 't', 'jump']],
      ['lowercase', [text.toLowerCase()]],
      ['keyword', [text]],
      ['cjk', ['2', 'quick', 'brown', 'foxes', "can't", 'jump']],
      ['english', ['2', 'quick', 'brown', 'fox', "can't", 'jump']],
    ] as const)
      assert.deepEqual(termsOf(name, text), terms, name)
    assert.deepEqual(termsOf('cjk', 'ＡＢＣ 東京都、大阪 the'), [
      'abc',
      '東京',
      '京都',
      '大阪',
    ])
    assert.deepEqual(termsOf('thai', 'แสดงงาน Good'), ['แสดง', 'งาน', 'good'])
  })

  test('produce terms that are deterministic and never empty', () => {
    fc.assert(
      fc.property(fc.constantFrom(...builtInAnalyzers), texts, (name, text) => {
        const terms = analyzerFor(name).terms(text)
        assert.ok(!terms.includes(''))
        assert.deepEqual(analyzerFor(name).terms(text), terms)
      }),
      { numRuns: 300 },
    )
  })
})

describe('custom analyzers', () => {
  test('run char filters, tokenizer and filters in the order of their definition', () => {
    const recipe = {
      filters: [{ name: 'LOWERCASE' }, { name: 'stop' }, { name: 'porterStem' }],
      tokenizer: { name: 'Letter', args: null },
      charFilters: [
        { name: 'htmlstrip' },
        { name: 'mapping', args: { mapping: '"&" => " and "' } },
      ],
    }
    assert.deepEqual(termsOf(recipe, '<b>Cats</b>&amp;<i>The Running DOGS</i>'), [
      ...['cat', 'run', 'dog'],
    ])
    const filters = [{ name: 'stop' }, { name: 'lowercase' }]
    assert.deepEqual(termsOf({ tokenizer: { name: 'letter' }, filters }, 'The the'), [
      'the',
    ])
  })

  test('keep the whole text as one token without a tokenizer', () => {
    assert.deepEqual(termsOf({ filters: [{ name: 'lowercase' }] }, 'New York'), [
      'new york',
    ])
    const recipe = { tokenizer: null, filters: null, charFilters: [{ name: 'persian' }] }
    assert.deepEqual(termsOf(recipe, 'New York'), ['New York'])
  })

  test('return the same terms as the fast path of the standard analyzer', () => {
    // The trim filter changes no term, but it prevents the fast path.
    const filters = [{ name: 'lowercase' }, { name: 'trim' }]
    const long = analyzerFor({ tokenizer: { name: 'standard' }, filters })
    fc.assert(
      fc.property(texts, (text) => {
        assert.deepEqual(analyzerFor('standard').terms(text), long.terms(text))
      }),
      { numRuns: 500 },
    )
  })

  test('that only lowercase leave their own terms unchanged when they analyze them again', () => {
    const lower = analyzerFor('lowercase')
    fc.assert(
      fc.property(texts, (text) => {
        const once = lower.terms(text)
        assert.deepEqual(
          once.flatMap((term) => lower.terms(term)),
          once,
        )
      }),
    )
  })
})

describe('limits of an analysis', () => {
  test('stop the standard analyzer when the terms exceed the maximum size', () => {
    const text = 'word '.repeat(800_000)
    const terms = analyzerFor('standard').terms(text, { sizeMax })
    assert.equal(terms.length, Math.floor(sizeMax / 4) + 1)
    assert.ok(sizeOf(terms) > sizeMax)
    const few = analyzerFor('standard').terms('word', { sizeMax })
    assert.deepEqual(few, ['word'])
  })

  /**
   * Length of long texts in characters. With quadratic cost, their analysis would not end in a
   * reasonable time.
   */
  const length = 1_000_000
  const long = (piece: string) => piece.repeat(length / piece.length)
  const component = (name: string, args = {}) => ({ name, args })

  for (const [what, recipe, text] of [
    [
      'grams of a whole text',
      { tokenizer: component('nGram', { minGramSize: '1', maxGramSize: '50' }) },
      long('abcde'),
    ],
    [
      'grams of tokens',
      { filters: [component('nGram', { minGramSize: '1', maxGramSize: '255' })] },
      long('abcde'),
    ],
    [
      'bigrams of Chinese',
      { tokenizer: component('standard'), filters: [component('cjkBigram')] },
      long('漢'),
    ],
    [
      'shingles',
      {
        tokenizer: component('whitespace'),
        filters: [component('shingle', { maxShingleSize: '32' })],
      },
      long('abc '),
    ],
    [
      'synonyms',
      {
        tokenizer: component('whitespace'),
        filters: [component('synonym', { synonyms: Array.from('abcdefgh').join(',') })],
      },
      'a '.repeat(100_000),
    ],
    ['paths', { tokenizer: component('pathHierarchy') }, long('a/')],
    [
      'reversed paths',
      { tokenizer: component('pathHierarchy', { reverse: 'true' }) },
      long('a/'),
    ],
    ['single letters', { tokenizer: component('letter') }, long('a ')],
    ['words of the classic tokenizer', { tokenizer: component('classic') }, long('a-')],
    [
      'words of the uax29UrlEmail tokenizer',
      { tokenizer: component('uax29UrlEmail') },
      long('a!a@'),
    ],
    ['words of the Thai tokenizer', { tokenizer: component('thai') }, long('a ')],
  ] as const)
    test(`end an analysis into ${what} when the terms exceed the maximum size`, () => {
      const budget = new AnalysisBudget(ownCaller())
      const before = budget.left
      const terms = analyzerFor(recipe).terms(text, { sizeMax, budget })
      assert.ok(sizeOf(terms) > sizeMax)
      assert.ok(sizeOf(terms.slice(0, -1)) <= sizeMax)
      assert.ok(before - budget.left < fixedLimits.analysisTextStepsMax)
      assert.ok(termsWithin(analyzerFor(recipe), 'abcdef', { sizeMax }) !== undefined)
    })

  for (const [what, recipe, text] of [
    [
      'mappings that multiply the text',
      {
        charFilters: Array.from({ length: 9 }, () =>
          component('mapping', { mapping: `a => ${'a'.repeat(100)}` }),
        ),
      },
      'a',
    ],
    [
      'replacements that multiply the text',
      {
        filters: Array.from({ length: 9 }, () =>
          component('patternReplace', { pattern: 'a', replacement: 'a'.repeat(100) }),
        ),
      },
      'a',
    ],
    [
      'grams of grams that are all dropped',
      {
        filters: [
          ...Array.from({ length: 9 }, () =>
            component('nGram', { minGramSize: '1', maxGramSize: '255' }),
          ),
          component('length', { min: '500', max: '500' }),
        ],
      },
      'abc '.repeat(100),
    ],
    [
      'many synonyms of every word',
      {
        tokenizer: component('whitespace'),
        filters: [
          component('synonym', {
            synonyms: Array.from({ length: 40_000 }, (_, i) => `s${i}`).join(','),
          }),
          component('keepWord', { words: 'none' }),
        ],
      },
      's1 '.repeat(2_000),
    ],
    [
      'a mapping that almost matches everywhere',
      { charFilters: [component('mapping', { mapping: `${'a'.repeat(254)}b => c` })] },
      long('a'),
    ],
    [
      'words that are split and then dropped',
      {
        filters: [
          component('wordDelimiterGraph'),
          component('length', { min: '9', max: '9' }),
        ],
      },
      long('a-'),
    ],
    [
      'a million characters of stop words with many stemmers',
      {
        tokenizer: component('whitespace'),
        filters: [
          ...Array.from({ length: 20 }, () => component('porterStem')),
          component('keepWord', { words: 'none' }),
        ],
      },
      long('the '),
    ],
  ] as const)
    test(`reject ${what}`, () => {
      const budget = new AnalysisBudget(ownCaller())
      assert.throws(() => analyzerFor(recipe).terms(text, { sizeMax, budget }), {
        code: 'LEXICAL_CONTENT_TOO_LONG',
        message: /too many steps.*Shorten the text/,
      })
    })

  for (const [what, recipe, text] of [
    ['unclosed tags', { charFilters: [component('htmlStrip')] }, long('<a "')],
    ['unclosed comments', { charFilters: [component('htmlStrip')] }, long('<!--')],
    [
      'unclosed scripts',
      { charFilters: [component('htmlStrip')] },
      long('</script<script>'),
    ],
    ['a text of underscores', { tokenizer: component('standard') }, long('_')],
    ['a text of accents', { tokenizer: component('standard') }, long(':\u0301')],
    ['a text of exclamation marks', { tokenizer: component('uax29UrlEmail') }, long('!')],
    ['a long word', { tokenizer: component('classic') }, long('ж')],
    ['a long number', { tokenizer: component('classic') }, long('1')],
    [
      'a text of spaces',
      { tokenizer: component('pattern', { pattern: '\\s+' }) },
      long(' '),
    ],
  ] as const)
    test(`are not reached by ${what}`, () => {
      assert.ok(termsOf(recipe, text).length <= 1)
    })

  test('reject a text on which a pattern takes too many steps', () => {
    const recipe = { tokenizer: component('pattern', { pattern: '(?>(a+)+b)' }) }
    assert.throws(() => termsOf(recipe, 'a'.repeat(60)), {
      code: 'LEXICAL_CONTENT_TOO_LONG',
      message: /pattern/,
    })
  })

  test('apply to all texts of a request together', () => {
    const budget = new AnalysisBudget(ownCaller(), 350, 850)
    const analyzer = analyzerFor('standard')
    const analyze = () => analyzer.terms('x'.repeat(100), { budget })
    // Each call takes 100 steps, one per character. The fourth exceeds the limit of 350 for a text,
    // and the ninth that of 850 for a request.
    analyze()
    analyze()
    analyze()
    assert.throws(analyze, { code: 'LEXICAL_CONTENT_TOO_LONG' })
    budget.nextText()
    for (let i = 0; i < 3; i++) analyze()
    budget.nextText()
    assert.throws(() => [analyze(), analyze(), analyze()], {
      code: 'LEXICAL_CONTENT_TOO_LONG',
    })
  })

  test('include the deadline of the caller, for every kind of analysis', () => {
    let looks = 0
    const late = () => {
      if (++looks === 3) throw new Error('too late')
    }
    const budget = new AnalysisBudget({ check: late, pause: () => undefined }, 1e9, 1e9)
    for (const recipe of [
      'standard',
      { tokenizer: component('pattern', { pattern: 'b' }) },
    ]) {
      looks = 0
      assert.throws(() => analyzerFor(recipe).terms(long('_'), { budget }), /too late/)
    }
  })

  test('charge Thai texts in proportion to their length, before they are segmented', () => {
    const spent = (length: number) => {
      const budget = new AnalysisBudget(ownCaller(), 1e9, 1e9)
      const before = budget.left
      const recipe = {
        tokenizer: component('thai'),
        filters: [component('keepWord', { words: 'none' })],
      }
      analyzerFor(recipe).terms('กขคง'.repeat(length / 4), { budget })
      return before - budget.left
    }
    const [short, longer] = [spent(20_000), spent(200_000)]
    assert.ok(longer > 9 * short && longer < 11 * short, `${short} and ${longer}`)
    assert.ok(short > 8 * 20_000)
    // In half-width katakana, finding the first word takes as long as finding all words.
    const budget = new AnalysisBudget(ownCaller())
    const katakana = analyzerFor('thai')
    assert.throws(() => katakana.terms('ﾊﾟ'.repeat(500_000), { budget }), {
      code: 'LEXICAL_CONTENT_TOO_LONG',
    })
  })

  test('do not change the words of Thai texts that are segmented in parts', () => {
    const phrase = 'การที่ได้ต้องแสดงว่างานดี'
    const thai = analyzerFor({ tokenizer: component('thai') })
    const words = thai.terms(phrase)
    for (const separator of ['', ' ']) {
      const text = Array<string>(300).fill(phrase).join(separator)
      assert.deepEqual(thai.terms(text), Array<readonly string[]>(300).fill(words).flat())
    }
  })

  for (const [what, recipe, text] of [
    [
      'a pattern with a class of many characters',
      {
        tokenizer: component('pattern', {
          pattern: `[${Array.from({ length: 4_000 }, (_, n) => String.fromCharCode(0x100 + 2 * n)).join('')}]`,
        }),
      },
      'ж'.repeat(20_000),
    ],
    [
      'grams that are longer than most tokens',
      {
        filters: [
          component('nGram', { minGramSize: '255', maxGramSize: '255' }),
          component('keepWord', { words: 'none' }),
        ],
      },
      long('ab'),
    ],
    [
      'long words with a stemmer',
      {
        tokenizer: component('whitespace'),
        filters: [component('porterStem'), component('keepWord', { words: 'none' })],
      },
      long(`${'a'.repeat(199)} `),
    ],
    [
      'a word of a million characters in the classic tokenizer',
      { tokenizer: component('classic', { maxTokenLength: '1048576' }) },
      long('ж'),
    ],
  ] as const)
    test(`reject ${what}`, () => {
      const budget = new AnalysisBudget(ownCaller())
      assert.throws(() => analyzerFor(recipe).terms(text, { sizeMax, budget }), {
        code: 'LEXICAL_CONTENT_TOO_LONG',
      })
    })

  test('allow other requests to run between texts', async () => {
    let turns = 0
    const pause = () => {
      turns++
      return undefined
    }
    const budget = new AnalysisBudget({ check: () => undefined, pause })
    await budget.nextText()
    await budget.nextText()
    assert.equal(turns, 2)
  })
})
