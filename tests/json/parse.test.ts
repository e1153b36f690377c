import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { equalValues } from '../../src/json/equal.ts'
import { readNumeral } from '../../src/json/decimal.ts'
import {
  JsonProblem,
  parseAsWritten,
  parseJson,
  parseStored,
} from '../../src/json/parse.ts'
import { printJson } from '../../src/json/print.ts'
import type { Value } from '../../src/json/value.ts'
import { fromPlain, values } from './values.ts'

const limits = { depthMax: 500, numeralLengthMax: 100 }
const parse = (text: string): Value => parseJson(text, limits)

function problemOf(text: string): JsonProblem {
  try {
    parse(text)
  } catch (error) {
    assert(error instanceof JsonProblem, String(error))
    return error
  }
  assert.fail(`read without a problem: ${text.slice(0, 80)}`)
}

describe('parseJson', () => {
  test('agrees with JSON.parse on values that both can represent', () => {
    const spacing = fc.constantFrom(undefined, 1, '\t')
    fc.assert(
      fc.property(fc.json({ noUnicodeString: false }), spacing, (json, space) => {
        const plain: unknown = JSON.parse(json)
        const text = JSON.stringify(plain, undefined, space)
        assert.deepStrictEqual(parse(text), fromPlain(plain))
      }),
    )
  })

  test('agrees with JSON.parse on which texts are JSON', () => {
    // Builds texts from tokens of the grammar, so that many texts are almost valid JSON.
    const tokens = fc.constantFrom(
      ...['{', '}', '[', ']', ',', ':', '"', '"a"', '\\', '\\u00', '\\n', '\n', ' ', '\t'],
      ...[
        '0',
        '1',
        '-',
        '+',
        '.',
        '5',
        'e',
        'E',
        'true',
        'null',
        'false',
        'nul',
        '\0',
        'é',
      ],
    )
    fc.assert(
      fc.property(fc.array(tokens, { maxLength: 9 }), (parts) => {
        const text = parts.join('')
        assert.equal(accepts(parse, text), accepts(JSON.parse, text), text)
      }),
      { numRuns: 5000 },
    )
  })

  test('agrees with JSON.parse on valid texts with one changed character', () => {
    fc.assert(
      fc.property(
        values,
        fc.nat(),
        fc.constantFrom('', '"', '\\', ',', ':', '0', '.', 'e', ']', '}', '\n', 'x'),
        (value, position, replacement) => {
          const text = printJson(value)
          const at = position % text.length
          const changed = text.slice(0, at) + replacement + text.slice(at + 1)
          // Unlike parseJson, JSON.parse accepts duplicate keys and exponents out of range.
          if (accepts(parse, changed)) assert(accepts(JSON.parse, changed), changed)
          else if (accepts(JSON.parse, changed))
            assert.match(problemOf(changed).message, /has the key .* twice|out of range/)
        },
      ),
      { numRuns: 1000 },
    )
  })

  test('rejects what RFC 8259 rejects', () => {
    const refused = [
      ...[
        '',
        ' ',
        '\ufeff1',
        '{',
        '[',
        '}',
        ']',
        '"',
        '"a',
        ',',
        ':',
        'x',
        '\u00a01',
        '1 2',
      ],
      ...['[1', '[1,', '[1,]', '[,1]', '[1 2]', '[1}', '{]', '[]]', '{}{}'],
      ...['{"a"', '{"a":', '{"a":1', '{"a":1,', '{"a":1,}', '{,}', '{a:1}', "{'a':1}"],
      ...['{"a" 1}', '{"a"::1}', '{1:2}', '{"a":}', '{null:1}', '{"a":1 "b":2}'],
      ...['+1', '.5', '5.', '-', '-.5', '01', '-01', '00', '1e', '1e+', '1.e1', '1.2.3'],
      ...['0x10', '1_000', 'NaN', 'Infinity', '-Infinity', '١', '1n', '--1', '1-', '1e1.5'],
      ...['True', 'TRUE', 'tru', 'truex', 'nul', 'undefined', 'nulll', 'false1'],
      ...["'a'", '"\\x41"', '"\\u12"', '"\\u12g4"', '"\\u 123"', '"\\', '"\\"', '"\\a"'],
      ...['"\n"', '"\t"', '"\0"', '"a\u001fb"', '"\\n\n"', '// c\n1', '/* c */1', '1;'],
    ]
    for (const text of refused) {
      assert.equal(problemOf(text).kind, 'syntax', text)
      assert.equal(accepts(JSON.parse, text), false, text)
    }
  })

  test('reports the error and its position', () => {
    for (const [text, message] of [
      ['{"a":1,"a":2}', 'an object has the key "a" twice, at offset 7'],
      ['[1,]', 'expected a value but found "]", at offset 3'],
      ['{"a":1', 'expected "," or "}" but the text ends, at offset 6'],
      ['{"a" 1}', 'expected ":" after the key but found "1", at offset 5'],
      ['[] x', 'expected the end of the text but found "x", at offset 3'],
      ['"a\nb"', 'a control character in a string must be written \\n, at offset 2'],
      ['"\\q"', 'a backslash must start a JSON escape such as \\n or \\u0041, at offset 1'],
      ['-x', 'expected a digit but found "x", at offset 1'],
      ['[🙂]', 'expected a value but found "🙂", at offset 1'],
    ] as const)
      assert.equal(problemOf(text).message, message)
  })

  test('rejects a duplicate key, at any depth and in any spelling', () => {
    assert.match(problemOf('[{"x":{"b":1,"c":2,"b":1}}]').message, /the key "b" twice/)
    assert.match(problemOf('{"a":1,"\\u0061":2}').message, /the key "a" twice/)
    assert.match(problemOf('{"":1,"":1}').message, /the key "" twice/)
    assert.match(
      problemOf('{"__proto__":1,"__proto__":1}').message,
      /the key "__proto__" twice/,
    )
    assert.deepEqual([...(parse('{"a":1,"A":2}') as Map<string, Value>).keys()], ['a', 'A'])
  })

  test('keeps the order of keys and gives no key a special meaning', () => {
    const text = '{"b":1,"10":2,"2":3,"__proto__":{"constructor":4},"toString":5,"":6}'
    const object = parse(text) as Map<string, Value>
    assert.deepEqual([...object.keys()], ['b', '10', '2', '__proto__', 'toString', ''])
    assert.equal(printJson(object), text)
  })

  test('skips white space of any length, and finds errors after it', () => {
    for (const length of [63, 64, 65, 1_000]) {
      const space = ' \n\t\r'.repeat(length).slice(0, length)
      const text = ['', '{', '"a"', ':', '[', '1', ',', '2', ']', '}', ''].join(space)
      assert.equal(printJson(parse(text)), '{"a":[1,2]}')
      assert.equal(problemOf(`[1${space}2]`).offset, length + 2)
      // JSON does not allow a no-break space as white space.
      assert.equal(problemOf(`[1${space}\u00a0]`).offset, length + 2)
      assert.equal(problemOf(space).offset, length)
    }
  })

  test('reads every escape', () => {
    assert.equal(parse('"\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9x"'), '"\\/\b\f\n\r\tAéx')
    assert.equal(parse('"\\ud83d\\ude42"'), '🙂')
  })

  test('agrees with JSON.parse on strings of any length, and on errors in them', () => {
    const parts = ['x', 'é', '日本', '\\n', '\\u00e9', '\\"', '\\\\']
    const mistakes = ['', '', '\n', '\\', '\\q', '\\u12', '"']
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...parts), { minLength: 1, maxLength: 6 }),
        fc.nat(150),
        fc.constantFrom(...mistakes),
        fc.nat(150),
        (unit, before, mistake, after) => {
          const inside = unit.join('').repeat(before) + mistake + 'y'.repeat(after)
          const text = `["${inside}"]`
          assert.equal(accepts(parse, text), accepts(JSON.parse, text), text)
          if (accepts(parse, text)) assert.deepEqual(parse(text), JSON.parse(text))
        },
      ),
      { numRuns: 2000 },
    )
  })

  test('reads no character beyond the end of a text', ({ mock }) => {
    // A single read beyond the end of a text makes V8 use slower code for every later character.
    const spied = mock.method(String.prototype, 'charCodeAt').mock
    const whole = `{"a":[1,-2.5e3,"x\\n\\u00e9",true],"b":"${'y'.repeat(130)}\\t"} `
    for (let length = 0; length <= whole.length; length++)
      accepts(parse, whole.slice(0, length))
    for (const text of ['1', '-', '1.', '1e', '1e5', 'tru', '"\\', '"\\u00', '[1'])
      accepts(parse, text)
    const { calls } = spied
    mock.restoreAll()
    const behind = calls.filter(
      ({ this: text, arguments: [at] }) => at >= String(text).length,
    )
    assert.deepEqual(behind, [])
    assert(calls.length > 1000)
  })

  test('keeps lone surrogates, escaped and raw', () => {
    assert.equal(parse('"\\ud800"'), '\ud800')
    assert.equal(parse('"\\udc00\\ud800x"'), '\udc00\ud800x')
    assert.equal(parse('"\udfff"'), '\udfff')
  })

  test('accepts nesting up to the maximum depth', () => {
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
    assert.equal(printJson(parse(nested(500))), nested(500))
    const problem = problemOf(nested(501))
    assert.equal(problem.kind, 'depth')
    assert.equal(problem.depthMax, 500)
    assert.match(problem.message, /more than 500 levels deep, at offset 500$/)
    assert.equal(problemOf('{"a":'.repeat(10_000)).kind, 'depth')
    assert.equal(problemOf('['.repeat(5_000_000)).kind, 'depth')
    assert.equal(parseJson('1', { ...limits, depthMax: 0 }), 1)
  })

  test('keeps numbers beyond the precision of a double', () => {
    assert.deepEqual(parse('[1e400,0.1,9007199254740993]'), [
      { decimal: '1e+400' },
      0.1,
      { decimal: '9007199254740993' },
    ])
  })

  test('reads every numeral like readNumeral, in any context', () => {
    const digits = fc.stringMatching(
      /^(0|[1-9][0-9]{0,20})(\.[0-9]{1,24})?(e[+-]?[0-9]{1,3})?$/,
    )
    const doubles = fc.double({ noNaN: true, noDefaultInfinity: true })
    const singles = fc.float({ noNaN: true, noDefaultInfinity: true })
    // Numerals near the printed form of a double: its last digit is changed, or one digit is added.
    const near = fc
      .tuple(fc.oneof(doubles, fc.double({ min: 0, max: 1, noNaN: true })), fc.nat(9))
      .filter(([double]) => !String(double).includes('e'))
      .map(([double, digit]) => [String(double), digit] as const)
      .chain(([text, digit]) =>
        fc.constantFrom(text, text.slice(0, -1) + String(digit), text + String(digit)),
      )
      .filter((text) => /^-?(0|[1-9][0-9]*)(\.[0-9]+)?$/.test(text))
    const numerals = fc.oneof(digits, doubles.map(String), singles.map(String), near)
    fc.assert(
      fc.property(fc.array(numerals, { minLength: 1, maxLength: 20 }), (texts) => {
        const expected = texts.map(readNumeral)
        assert.deepStrictEqual(parseStored(`[${texts.join(',')}]`), expected)
        assert.deepStrictEqual(parseStored(`[${texts.join(' , ')}, "x"]`), [
          ...expected,
          'x',
        ])
      }),
      { numRuns: 2000 },
    )
  })

  test('rejects numerals that are too long, and states their length', () => {
    assert.equal(printJson(parse('1'.repeat(100))), '1'.repeat(100))
    for (const text of ['1'.repeat(101), `-${'1'.repeat(100)}`, `0.${'0'.repeat(99)}`]) {
      const problem = problemOf(text)
      assert.equal(problem.kind, 'numeral')
      assert.equal(problem.numeralLength, 101)
      assert.match(problem.message, /101 characters; the maximum is 100/)
    }
  })

  test('rejects numerals whose exponent is out of range', () => {
    const problem = problemOf('[1e99999999999]')
    assert.equal(problem.kind, 'numeral')
    assert.equal(problem.numeralLength, 13)
    assert.match(problem.message, /1e99999999999 is out of range.*at offset 1$/)
  })
})

describe('printJson', () => {
  test('is the inverse of parseJson and parseStored, including the order of keys', () => {
    fc.assert(
      fc.property(values, (value) => {
        const text = printJson(value)
        assert(equalValues(parse(text), value))
        assert.equal(printJson(parseStored(text)), text)
      }),
    )
  })

  test('writes well-formed text that JSON.parse can read', () => {
    fc.assert(
      fc.property(values, (value) => {
        const text = printJson(value)
        assert(text.isWellFormed())
        JSON.parse(text)
      }),
    )
  })

  test('escapes required characters, in short and in long strings', () => {
    assert.equal(printJson('a"\\\n\u0001\ud800'), '"a\\"\\\\\\n\\u0001\\ud800"')
    assert.equal(printJson('🙂é\u007f'), '"🙂é\u007f"')
    for (const pad of ['', 'x'.repeat(100)])
      assert.equal(parse(printJson(`${pad}"\ud800🙂`)), `${pad}"\ud800🙂`)
  })

  test('writes numbers in JSON notation', () => {
    assert.equal(
      printJson([-0, 1e21, 1e-7, { decimal: '1e+400' }]),
      '[0,1e+21,1e-7,1e+400]',
    )
  })
})

describe('parseAsWritten', () => {
  test('keeps the spelling of every number', () => {
    for (const text of [
      '{"a":1.0,"b":[1,-0.0,1E5,1e+21,0.10]}',
      '[12345678901234567890.50,1e999]',
      '"1.0"',
    ])
      assert.equal(printJson(parseAsWritten(text)), text)
    assert.throws(() => parseAsWritten('[1.]'), JsonProblem)
  })
})

function accepts(read: (text: string) => unknown, text: string): boolean {
  try {
    read(text)
    return true
  } catch {
    return false
  }
}
