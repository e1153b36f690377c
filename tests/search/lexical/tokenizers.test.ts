import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { termsOf, tokenizes } from './analyze.ts'

const x = (count: number) => 'x'.repeat(count)

tokenizes('standard', 'returns words of letters and digits, and drops other characters', [
  [{}, '', []],
  [{}, ' \t\n', []],
  [{}, '... -- !?', []],
  [{}, 'The quick (brown) fox!', ['The', 'quick', 'brown', 'fox']],
  [{}, "can't 3.14 a_b 1,000.5 U.S.A.", ["can't", '3.14', 'a_b', '1,000.5', 'U.S.A']],
  [
    {},
    'wi-fi a:b 12:30 a/b x+y c# user@example.com',
    [...['wi', 'fi', 'a:b', '12', '30', 'a', 'b', 'x', 'y', 'c', 'user', 'example.com']],
  ],
  [{}, "'quoted' end. a.1 1.a ,5,", ['quoted', 'end', 'a', '1', '1', 'a', '5']],
  [{}, '__ _a_ a__b _', ['_a_', 'a__b']],
  [{}, 'R2D2 500mg', ['R2D2', '500mg']],
])

tokenizes('standard', 'does not separate accents from their letters', [
  [{}, 'e\u0301t\u00e9 na\u00efve', ['e\u0301t\u00e9', 'na\u00efve']],
  [{}, '\u0301 a\u200db', ['a\u200db']],
  [{}, 'co\u00adop', ['co\u00adop']],
])

tokenizes('standard', 'splits scripts that are written without spaces', [
  [{}, '我是中国人', ['我', '是', '中', '国', '人']],
  [{}, 'ひらがな', ['ひ', 'ら', 'が', 'な']],
  [{}, 'カタカナ テスト', ['カタカナ', 'テスト']],
  [{}, '東京タワーです', ['東', '京', 'タワー', 'で', 'す']],
  [{}, '안녕하세요 세계', ['안녕하세요', '세계']],
  [{}, 'ภาษาไทย abc', ['ภาษาไทย', 'abc']],
  [{}, '\u{20000}\u{20001}', ['\u{20000}', '\u{20001}']],
  [{}, 'مرحبا بالعالم', ['مرحبا', 'بالعالم']],
  [{}, 'צה"ל ש\' "א"', ['צה"ל', "ש'", 'א']],
  [{}, '\u{1d400}\u{1d401} x', ['\u{1d400}\u{1d401}', 'x']],
])

tokenizes('standard', 'does not split emojis', [
  [{}, 'I ❤️ 👍🏽!', ['I', '❤️', '👍🏽']],
  [{}, '👨‍👩‍👧👍', ['👨‍👩‍👧', '👍']],
  [{}, '🇩🇪🇫🇷 🇩', ['🇩🇪', '🇫🇷']],
  [{}, '1️⃣ #️⃣ # *', ['1️⃣', '#️⃣']],
  [{}, '© ™ ®', []],
])

tokenizes('standard', 'splits long words', [
  [{}, x(600), [x(255), x(255), x(90)]],
  [{ maxTokenLength: '3' }, 'abcdefgh ij', ['abc', 'def', 'gh', 'ij']],
  [{ maxTokenLength: '2' }, 'a.b.c', ['a', 'b', 'c']],
  [{ maxTokenLength: '1' }, '\u{1d400}\u{1d401}', ['\u{1d400}', '\u{1d401}']],
])

test('tokenizer standard splits no surrogate pair and drops no letter', () => {
  const words = fc.array(fc.constantFrom('a', 'é', '\u{1d400}', '漢', ' ', '.', "'", '👍'))
  fc.assert(
    fc.property(words, fc.integer({ min: 1, max: 4 }), (chars, max) => {
      const args = { maxTokenLength: String(max) }
      const terms = termsOf({ tokenizer: { name: 'standard', args } }, chars.join(''))
      for (const term of terms) assert.ok(term.isWellFormed())
      const letters = (text: string) => text.replace(/[ .']/g, '')
      assert.equal(letters(terms.join('')), letters(chars.join('')))
    }),
  )
})

/**
 * The word segmentation of Node. Unlike the tokenizer, it splits at ":" and segments Chinese, so
 * the texts contain neither ":" nor Chinese characters.
 */
const segmenter = new Intl.Segmenter('en', { granularity: 'word' })

test('tokenizer standard splits European texts like Intl.Segmenter', () => {
  const char = fc.constantFrom(...Array.from(`abZéßжΩ059'.,;_-!? "\u2019\u0301\u00ad\n()/`))
  fc.assert(
    fc.property(fc.array(char, { maxLength: 20 }), (chars) => {
      const text = chars.join('')
      const expected = [...segmenter.segment(text)]
        .filter(({ segment }) => /[\p{L}\p{N}]/u.test(segment))
        .map(({ segment }) => segment)
      assert.deepEqual(termsOf({ tokenizer: { name: 'standard' } }, text), expected)
    }),
  )
})

tokenizes('keyword', 'returns the text as one token', [
  [{}, '', []],
  [{}, ' New York, NY ', [' New York, NY ']],
  [{}, x(5000), [x(5000)]],
  [{ maxTokenLen: '10' }, x(20), [x(20)]],
])

tokenizes('letter', 'returns each sequence of letters', [
  [{}, '', []],
  [{}, "can't 3.14 R2D2 été", ['can', 't', 'R', 'D', 'été']],
  [{}, x(300), [x(255), x(45)]],
  [{ maxTokenLen: '2' }, 'abcde', ['ab', 'cd', 'e']],
  [{}, '漢字 \u{1d400}', ['漢字', '\u{1d400}']],
])

tokenizes('whitespace', 'splits only at white space', [
  [{}, "  can't  stop, won't\tstop\n", ["can't", 'stop,', "won't", 'stop']],
  [{}, 'a\u00a0b\u2003c', ['a\u00a0b', 'c']],
  [{ rule: 'unicode' }, 'a\u00a0b\u2003c', ['a', 'b', 'c']],
  [{ rule: 'JAVA' }, 'a\u00a0b', ['a\u00a0b']],
  [{ maxTokenLen: '4' }, 'abc\u{1d400}d', ['abc', '\u{1d400}d']],
])

tokenizes(
  'classic',
  'does not split acronyms, names of companies, addresses and part numbers',
  [
    [{}, '', []],
    [{}, '?!', []],
    [{}, "O'Reilly's U.S.A. AT&T", ["O'Reilly's", 'U.S.A.', 'AT&T']],
    [{}, 'Mail john.doe@example.com now', ['Mail', 'john.doe@example.com', 'now']],
    [{}, 'see www.example.com.', ['see', 'www.example.com']],
    [
      {},
      'wi-fi XL-500 127.0.0.1 2024-05-01',
      [...['wi', 'fi', 'XL-500', '127.0.0.1', '2024-05-01']],
    ],
    [{}, '東京 abc', ['東', '京', 'abc']],
    [{}, `a ${x(256)} b`, ['a', 'b']],
    [{ maxTokenLength: '300' }, x(256), [x(256)]],
  ],
)

tokenizes('uax29UrlEmail', 'does not split URLs and e-mail addresses', [
  [{}, '', []],
  [{}, "can't 3.14", ["can't", '3.14']],
  [
    {},
    'Mail john.doe+x@mail.example.com, please',
    [...['Mail', 'john.doe+x@mail.example.com', 'please']],
  ],
  [
    {},
    '(see https://example.com:8080/a/b?c=d#e).',
    ['see', 'https://example.com:8080/a/b?c=d#e'],
  ],
  [{}, 'my-site.com/about and wi-fi', ['my-site.com/about', 'and', 'wi', 'fi']],
  [{}, 'a@b x@', ['a', 'b', 'x']],
  [
    {},
    'file:///etc/hosts http:// 127.0.0.1:80/x',
    [...['file:///etc/hosts', 'http', '127.0.0.1:80/x']],
  ],
  [{}, '日本 http://例え', ['日', '本', 'http', '例', 'え']],
  [{ maxTokenLength: '10' }, 'https://example.com', ['https://ex', 'ample.com']],
])

tokenizes('nGram', 'returns all substrings within a range of lengths', [
  [{}, '', []],
  [{}, 'ab', []],
  [{}, 'abcd', ['abc', 'abcd', 'bcd']],
  [{ minGramSize: '1', maxGramSize: '2' }, 'abc', ['a', 'ab', 'b', 'bc', 'c']],
  [{ minGramSize: '2', maxGramSize: '2' }, 'a\u{1d400}b', ['a\u{1d400}', '\u{1d400}b']],
])

tokenizes('edgeNGram', 'returns the prefixes within a range of lengths', [
  [{}, '', []],
  [{}, 'abc', ['a']],
  [{ minGramSize: '2', maxGramSize: '3' }, 'abcd', ['ab', 'abc']],
  [{ minGramSize: '2', maxGramSize: '3' }, '\u{1d400}bc', ['\u{1d400}b', '\u{1d400}bc']],
])

tokenizes('pathHierarchy', 'returns a path and the paths of its parents', [
  [{}, '', []],
  [{}, '/a/b/c', ['/a', '/a/b', '/a/b/c']],
  [{}, 'a/b/', ['a', 'a/b', 'a/b/']],
  [{ delimiter: '\\', replace: '/' }, 'c:\\a\\b', ['c:', 'c:/a', 'c:/a/b']],
  [{ skip: '1' }, '/a/b/c', ['/b', '/b/c']],
  [{ skip: '1' }, 'a/b/c', ['/b', '/b/c']],
  [{ skip: '9' }, 'a/b/c', []],
  [
    { reverse: 'true', delimiter: '.' },
    'www.site.co.uk',
    [...['www.site.co.uk', 'site.co.uk', 'co.uk', 'uk']],
  ],
  [{ reverse: 'true' }, '/a/b/', ['/a/b/', 'a/b/', 'b/']],
  [{ reverse: 'true', skip: '1' }, 'a/b/c', ['a/b/', 'b/']],
  [{ reverse: 'true', skip: '9' }, 'a/b/c', []],
])

tokenizes('pattern', 'splits at the matches of the pattern, or returns one of its groups', [
  [{ pattern: ',' }, '', []],
  [{ pattern: ',' }, ',a,,b c,', ['a', 'b c']],
  [{ pattern: '\\s*;\\s*' }, 'a ; b;c', ['a', 'b', 'c']],
  [{ pattern: '' }, 'abc', ['a', 'b', 'c']],
  [{ pattern: "'([^']+)'", group: '0' }, "a 'b' 'c d'", ["'b'", "'c d'"]],
  [{ pattern: "'([^']+)'", group: '1' }, "a 'b' 'c d'", ['b', 'c d']],
  [{ pattern: '(a)|b', group: '1' }, 'abab', ['a', 'a']],
])

tokenizes('simplePattern', 'returns the longest matches of the pattern', [
  [{ pattern: '[0-9]{3}' }, '', []],
  [{ pattern: '[0-9]{3}' }, 'fd-786-335-514-x', ['786', '335', '514']],
  [{ pattern: 'a|ab|abc' }, 'abcab', ['abc', 'ab']],
  [{ pattern: 'x*' }, 'xxyx', ['xx', 'x']],
  [{ pattern: '"a.b"+' }, 'a.ba.b aXb', ['a.ba.b']],
  [{ pattern: '^$' }, 'a^$b', ['^$']],
])

tokenizes('simplePatternSplit', 'splits at the longest matches of the pattern', [
  [{ pattern: '[ \\t]+' }, '', []],
  [{ pattern: '[ \\t]+' }, '  a  b c ', ['a', 'b', 'c']],
  [{ pattern: '--|-' }, 'a--b-c', ['a', 'b', 'c']],
])

tokenizes('thai', 'splits words that are written without spaces', [
  [{}, '', []],
  [
    {},
    'การที่ได้ต้องแสดงว่างานดี',
    ['การ', 'ที่', 'ได้', 'ต้อง', 'แสดง', 'ว่า', 'งาน', 'ดี'],
  ],
  [{}, 'ABC, 123!', ['ABC', '123']],
])
