import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { filters, termsOf, type Args } from './analyze.ts'

/** The terms of a text after several filters, one after another. */
function chained(text: string, ...row: readonly (readonly [string, Args])[]) {
  return termsOf(
    {
      tokenizer: { name: 'whitespace' },
      filters: row.map(([name, args]) => ({ name, args })),
    },
    text,
  )
}

filters('lowercase', 'changes letters to lower case', [
  [{}, '', []],
  [{}, 'The ÉTÉ ΣΑΣ İstanbul', ['the', 'été', 'σας', 'istanbul']],
])

filters('uppercase', 'changes letters to upper case', [
  [{}, 'the été straße', ['THE', 'ÉTÉ', 'STRASSE']],
])

filters('asciiFolding', 'replaces characters by their ASCII equivalents if they exist', [
  [{}, 'café Straße Ærø Łódź naïve', ['cafe', 'Strasse', 'AEro', 'Lodz', 'naive']],
  [{}, 'ﬁn ① ａｂｃ “x” 1–2 Ｔ½', ['fin', '1', 'abc', '"x"', '1-2', 'T½']],
  [{}, 'жук 東京 אב e\u0301', ['жук', '東京', 'אב', 'e\u0301']],
  [{}, 'Ǿ ƒ þ đ ı ŒUVRE', ['O', 'f', 'th', 'd', 'i', 'OEUVRE']],
  [{ preserveOriginal: 'true' }, 'café bar', ['cafe', 'café', 'bar']],
])

test('filter asciiFolding keeps ASCII unchanged', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[!-~]+$/), (text) => {
      assert.deepEqual(chained(text, ['asciiFolding', {}]), [text])
    }),
  )
})

filters('stop', 'drops stop words', [
  [{}, 'the cat is The best', ['cat', 'The', 'best']],
  [{ ignoreCase: 'true' }, 'the cat is The best', ['cat', 'best']],
  [{ words: 'cat, dog' }, 'the cat Dog dog', ['the', 'Dog']],
  [{ words: 'a\\,b,c' }, 'a,b a b c', ['a', 'b']],
  [{ words: 'a b | letters\nc', format: 'snowball' }, 'a b c d', ['d']],
  [{ words: 'a b', format: 'wordset' }, 'a b', ['a', 'b']],
  [{ words: '' }, 'the cat', ['the', 'cat']],
])

test('filter keywordMarker protects words from stemmers', () => {
  const texts = (args: Args) =>
    chained('running Running jumping', ['keywordMarker', args], ['porterStem', {}])
  assert.deepEqual(texts({ protected: 'running' }), ['running', 'Run', 'jump'])
  assert.deepEqual(texts({ protected: 'running', ignoreCase: 'true' }), [
    ...['running', 'Running', 'jump'],
  ])
  assert.deepEqual(texts({ pattern: 'j.*' }), ['run', 'Run', 'jumping'])
  assert.deepEqual(texts({ pattern: 'jump' }), ['run', 'Run', 'jump'])
  assert.deepEqual(texts({}), ['run', 'Run', 'jump'])
})

test('filter stemmerOverride takes precedence over stemmers', () => {
  const texts = (args: Args) =>
    chained('running Mice mice cats', ['stemmerOverride', args], ['porterStem', {}])
  const dictionary = 'mice\tmouse,running => running'
  assert.deepEqual(texts({ dictionary }), ['running', 'Mice', 'mouse', 'cat'])
  assert.deepEqual(texts({ dictionary, ignoreCase: 'true' }), [
    ...['running', 'mouse', 'mouse', 'cat'],
  ])
  assert.deepEqual(texts({}), ['run', 'Mice', 'mice', 'cat'])
})

for (const name of ['synonym', 'synonymGraph'])
  filters(name, 'replaces words by their synonyms, or adds the synonyms', [
    [{ synonyms: 'as => like' }, 'as you as', ['like', 'you', 'like']],
    [{ synonyms: 'a, b => c' }, 'a b c d', ['c', 'c', 'c', 'd']],
    [{ synonyms: 'tv, television' }, 'my tv', ['my', 'tv', 'television']],
    [{ synonyms: 'tv, television', expand: 'false' }, 'television', ['tv']],
    [{ synonyms: 'a => b, c => d' }, 'a c', ['b', 'd']],
    [{ synonyms: 'a, b => c, d => e' }, 'a b d', ['c', 'c', 'e']],
    [{ synonyms: 'a => b, c' }, 'a', ['b', 'c']],
    [{ synonyms: 'a\\,b => c\\,d, e\\,f' }, 'a b e', ['c', 'd', 'c', 'd', 'e', 'f']],
    [{ synonyms: 'a, b\nc => d\n# c, e' }, 'a c', ['a', 'b', 'd']],
    [{ synonyms: 'new york => nyc' }, 'in new york now new', ['in', 'nyc', 'now', 'new']],
    [{ synonyms: 'ny, new york' }, 'ny !', ['ny', 'new', 'york', '!']],
    [{ synonyms: 'ny, new york' }, 'new york !', ['new', 'ny', 'york', '!']],
    [{ synonyms: 'a b => x, a b c => y' }, 'a b c a b d', ['y', 'x', 'd']],
    [{ synonyms: 'TV => Television' }, 'tv TV', ['tv', 'Television']],
    [{ synonyms: 'TV => Television', ignoreCase: 'true' }, 'tv', ['television']],
    [{ synonyms: 'a => b\na => c\na => b', format: 'solr' }, 'a', ['b', 'c']],
    [{ synonyms: '' }, 'a', ['a']],
    [{ synonyms: 'a => b' }, '', []],
  ])

filters('nGram', 'returns the substrings of each token within a range of lengths', [
  [{ minGramSize: '1', maxGramSize: '2' }, 'ab c', ['a', 'ab', 'b', 'c']],
  [{ minGramSize: '2', maxGramSize: '3' }, 'abcd x', ['ab', 'abc', 'bc', 'bcd', 'cd']],
  [
    { minGramSize: '2', maxGramSize: '2', preserveOriginal: 'true' },
    'abc ab x',
    [...['ab', 'bc', 'abc', 'ab', 'x']],
  ],
  [{ minGramSize: '1', maxGramSize: '1' }, '\u{1d400}b', ['\u{1d400}', 'b']],
])

filters('edgeNGram', 'returns the prefixes of each token within a range of lengths', [
  [{ minGramSize: '1', maxGramSize: '3' }, 'abcd x', ['a', 'ab', 'abc', 'x']],
  [{ minGramSize: '2', maxGramSize: '3' }, 'a abc', ['ab', 'abc']],
  [
    { minGramSize: '2', maxGramSize: '3', preserveOriginal: 'true' },
    'a abcd',
    [...['a', 'ab', 'abc', 'abcd']],
  ],
])

filters('shingle', 'joins adjacent tokens', [
  [{}, '', []],
  [{}, 'a', ['a']],
  [{}, 'a b c', ['a', 'a b', 'b', 'b c', 'c']],
  [{ outputUnigrams: 'false' }, 'a b c', ['a b', 'b c']],
  [{ outputUnigrams: 'false' }, 'a', []],
  [{ outputUnigrams: 'false', outputUnigramsIfNoShingles: 'true' }, 'a', ['a']],
  [{ outputUnigrams: 'false', outputUnigramsIfNoShingles: 'true' }, 'a b', ['a b']],
  [
    { minShingleSize: '2', maxShingleSize: '3' },
    'a b c',
    [...['a', 'a b', 'a b c', 'b', 'b c', 'c']],
  ],
  [
    { minShingleSize: '3', maxShingleSize: '3', tokenSeparator: '+' },
    'a b c',
    [...['a', 'a+b+c', 'b', 'c']],
  ],
  [{ tokenSeparator: '' }, 'a b', ['a', 'ab', 'b']],
])

test('filter shingle inserts fillers at the positions of stop words', () => {
  const text = 'please divide the sentence'
  assert.deepEqual(chained(text, ['stop', {}], ['shingle', { outputUnigrams: 'false' }]), [
    ...['please divide', 'divide _', '_ sentence'],
  ])
  assert.deepEqual(chained(text, ['stop', {}], ['shingle', { fillerToken: '' }]), [
    ...['please', 'please divide', 'divide', 'divide ', ' sentence', 'sentence'],
  ])
  assert.deepEqual(
    chained('a the the the b', ['stop', { words: 'the' }], ['shingle', {}]),
    ['a', 'a _', '_ b', 'b'],
  )
})

filters('length', 'keeps tokens within a range of lengths', [
  [{ min: '2', max: '3' }, 'a ab abc abcd', ['ab', 'abc']],
  [{ min: '0', max: '0' }, 'a', []],
])

filters('limitTokenCount', 'keeps the first tokens', [
  [{ maxTokenCount: '2' }, 'a b c', ['a', 'b']],
  [{ maxTokenCount: '2', consumeAllTokens: 'true' }, 'a', ['a']],
])

filters('truncate', 'truncates long tokens', [
  [{}, 'abc abcdefg', ['abc', 'abcde']],
  [{ prefixLength: '2' }, 'abc a\u{1d400} \u{1d400}b', ['ab', 'a', '\u{1d400}']],
])

test('filter trim removes surrounding spaces, and drops tokens that consist of spaces', () => {
  const args = { pattern: ',' }
  assert.deepEqual(
    termsOf(
      { tokenizer: { name: 'pattern', args }, filters: [{ name: 'trim' }] },
      ' a , b,  ',
    ),
    ['a', 'b'],
  )
})

filters('reverseString', 'reverses the characters of each token', [
  [{}, 'abc \u{1d400}b', ['cba', 'b\u{1d400}']],
])

test('filter removeDuplicates drops only equal texts at the same position', () => {
  const synonyms = { synonyms: 'cat, Cat' }
  const row = [
    ['synonym', synonyms],
    ['lowercase', {}],
  ] as const
  assert.deepEqual(chained('cat cat', ...row), ['cat', 'cat', 'cat', 'cat'])
  assert.deepEqual(chained('cat cat', ...row, ['removeDuplicates', {}]), ['cat', 'cat'])
})

filters('elision', 'removes leading articles', [
  [
    {},
    "l'avion L’été qu'il aujourd'hui l' 'x",
    ['avion', 'été', 'il', "aujourd'hui", "'x"],
  ],
  [{ articles: 'dell, un' }, "dell'arte l'arte Un'ora", ['arte', "l'arte", "Un'ora"]],
  [{ articles: 'un', ignoreCase: 'true' }, "Un'ora", ['ora']],
])

filters('decimalDigit', 'replaces the digits of all scripts by 0 to 9', [
  [{}, '١٢٣ ४२ １０ 𝟗𝟖 7', ['123', '42', '10', '98', '7']],
])

test('filter cjkBigram forms pairs of adjacent characters', () => {
  const terms = (text: string, args: Args = {}) =>
    termsOf(
      { tokenizer: { name: 'standard' }, filters: [{ name: 'cjkBigram', args }] },
      text,
    )
  assert.deepEqual(terms(''), [])
  assert.deepEqual(terms('一二三'), ['一二', '二三'])
  assert.deepEqual(terms('一 二三'), ['一', '二三'])
  assert.deepEqual(terms('世界，你好 abc'), ['世界', '你好', 'abc'])
  assert.deepEqual(terms('多くの学生が'), ['多く', 'くの', 'の学', '学生', '生が'])
  assert.deepEqual(terms('カタカナ'), ['カタ', 'タカ', 'カナ'])
  assert.deepEqual(terms('한국어'), ['한국', '국어'])
  assert.deepEqual(terms('한국어', { hangul: 'false' }), ['한국어'])
  assert.deepEqual(terms('一二', { outputUnigrams: 'true' }), ['一', '一二', '二'])
  assert.deepEqual(terms('一二ひら', { hiragana: 'false' }), ['一二', 'ひ', 'ら'])
  assert.deepEqual(terms('カナ一', { katakana: 'false', han: 'false' }), ['カナ', '一'])
  assert.deepEqual(terms('𠀀𠀁'), ['𠀀𠀁'])
})

filters('cjkWidth', 'replaces characters by those of normal width', [
  [{}, 'Ｔｅｓｔ ｶﾞｷﾞ ｱ カﾞ', ['Test', 'ガギ', 'ア', 'ガ']],
])

filters('keepWord', 'keeps only the given words', [
  [{ words: 'cat, dog' }, 'a cat Dog', ['cat']],
  [{ words: 'cat, dog', ignoreCase: 'true' }, 'a cat Dog', ['cat', 'Dog']],
  [{}, 'a cat', ['a', 'cat']],
])

filters('commonGrams', 'adds pairs of adjacent tokens of which one is a common word', [
  [{}, 'the quick brown', ['the', 'the_quick', 'quick', 'brown']],
  [{ words: 'of' }, 'out of the', ['out', 'out_of', 'of', 'of_the', 'the']],
  [{ words: 'of', ignoreCase: 'true' }, 'OF x', ['OF', 'OF_x', 'x']],
  [{ words: 'of b', format: 'snowball' }, 'a b', ['a', 'a_b', 'b']],
])

filters('patternReplace', 'replaces matches in each token', [
  [{ pattern: '[0-9]' }, 'a1b2 3', ['ab']],
  [{ pattern: '[0-9]', replacement: '#', replace: 'first' }, 'a1b2', ['a#b2']],
  [{ pattern: '(\\w)(\\w)', replacement: '$2$1' }, 'abcd', ['badc']],
  [{ pattern: '(?<x>b)', replacement: '<${x}\\$>' }, 'abc', ['a<b$>c']],
  [{ pattern: '(x)?b', replacement: '[$1]' }, 'ab', ['a[]']],
  [{ pattern: '', replacement: '-' }, 'ab', ['-a-b-']],
])

filters('wordDelimiterGraph', 'splits tokens into parts', [
  [{}, '', []],
  [{}, 'Wi-Fi PowerShot SD500', ['Wi', 'Fi', 'Power', 'Shot', 'SD', '500']],
  [{}, "O'Neil's hello---there --", ['O', 'Neil', 'hello', 'there']],
  [{}, 'word ABCDef straßenBahn 東京', ['word', 'ABCDef', 'straßen', 'Bahn', '東京']],
  [{ stemEnglishPossessive: '0' }, "Neil's", ['Neil', 's']],
  [
    { splitOnCaseChange: '0', splitOnNumerics: '0' },
    'PowerShot SD500-x',
    [...['PowerShot', 'SD500', 'x']],
  ],
  [{ generateWordParts: '0' }, 'a-1 word', ['1', 'word']],
  [{ generateNumberParts: '0' }, 'a-1', ['a']],
  [{ catenateWords: '1' }, 'wi-fi-4-max', ['wifi', 'wi', 'fi', '4', 'max']],
  [{ catenateNumbers: '1' }, '555-1234-x', ['5551234', '555', '1234', 'x']],
  [{ catenateAll: '1' }, 'wi-fi-4', ['wifi4', 'wi', 'fi', '4']],
  [
    { generateWordParts: '0', generateNumberParts: '0', catenateAll: '1' },
    'a-1 b!',
    [...['a1', 'b']],
  ],
  [{ preserveOriginal: '1' }, 'wi-fi --', ['wi-fi', 'wi', 'fi', '--']],
  [
    { preserveOriginal: '1', catenateAll: '1' },
    'PowerShot',
    ['PowerShot', 'Power', 'Shot'],
  ],
  [{ protected: 'wi-fi' }, 'wi-fi lo-fi', ['wi-fi', 'lo', 'fi']],
  [{ types: '- => ALPHA' }, 'wi-fi', ['wi-fi']],
  [{ types: '% => DIGIT,\\u0024 => DIGIT' }, '5%-$10', ['5%', '$10']],
])

test('filter wordDelimiterGraph can keep protected words unchanged', () => {
  const row = (ignoreKeywords: string) =>
    chained(
      'wi-fi lo-fi',
      ['keywordMarker', { protected: 'wi-fi' }],
      ['wordDelimiterGraph', { ignoreKeywords }],
    )
  assert.deepEqual(row('1'), ['wi-fi', 'lo', 'fi'])
  assert.deepEqual(row('0'), ['wi', 'fi', 'lo', 'fi'])
})
