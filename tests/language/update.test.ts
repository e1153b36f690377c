import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { ApiError } from '../../src/errors/api-error.ts'
import { equalValues } from '../../src/json/equal.ts'
import { parseStored } from '../../src/json/parse.ts'
import { printJson } from '../../src/json/print.ts'
import type { JsonObject, Value } from '../../src/json/value.ts'
import { defaultLimits } from '../../src/limits.ts'
import { parseUpdate } from '../../src/language/updates/parse-update.ts'
import { escapeSegment } from '../../src/language/values/path.ts'
import { applyUpdate } from '../../src/language/updates/update.ts'
import { atOnce } from '../../src/runtime/steps.ts'
import { documents, names, seed, values } from './documents.ts'

const context = { inserting: false, nowMs: 1_700_000_000_000, limits: defaultLimits }

const same = 'same'

function updated(update: string, document: string, inserting = false): string {
  const before = parseStored(document) as JsonObject
  const plan = parseUpdate(parseStored(update))
  const { document: after, changed } = atOnce(
    applyUpdate(plan, before, { ...context, inserting }),
  )
  assert.equal(printJson(before), printJson(parseStored(document)), 'the input changed')
  if (changed) return printJson(after)
  assert.equal(after, before, 'an unchanged document is the very same one')
  return same
}

/**
 * Asserts the result of each row. A row has a document, the argument of the operator, and the
 * updated document.
 */
function assertUpdated(
  operator: string,
  rows: readonly (readonly [string, string, string])[],
) {
  for (const [document, argument, expected] of rows) {
    const what = `${operator} ${argument} on ${document}`
    assert.equal(updated(`{"${operator}":${argument}}`, document), expected, what)
  }
}

function refusal(run: () => unknown, what: string): ApiError {
  try {
    run()
  } catch (error) {
    assert(error instanceof ApiError, what)
    return error
  }
  assert.fail(`${what} was taken`)
}

/**
 * Asserts that each row is rejected. A row has a document, the argument of the operator, and a
 * part of the error message.
 */
function assertRefused(
  operator: string,
  code: string,
  rows: readonly (readonly [string, string, string])[],
) {
  for (const [document, argument, mention] of rows) {
    const what = `${operator} ${argument} on ${document}`
    const error = refusal(() => updated(`{"${operator}":${argument}}`, document), what)
    assert.equal(error.code, code, `${what}: ${error.message}`)
    assert(error.message.includes(mention), `${what}: ${error.message}`)
  }
}

const path = 'UNSUPPORTED_UPDATE_OPERATION_PATH'
const target = 'UNSUPPORTED_UPDATE_OPERATION_TARGET'
const tooMuch = 'SHRED_DOC_LIMIT_VIOLATION'

describe('$set', () => {
  test('replaces a field, or adds it at the end', () => {
    assertUpdated('$set', [
      ['{"_id":1,"a":1,"b":2}', '{"a":[3]}', '{"_id":1,"a":[3],"b":2}'],
      ['{"_id":1,"a":1}', '{"b":{"c":2}}', '{"_id":1,"a":1,"b":{"c":2}}'],
      ['{"a":1}', '{"a":null,"b":null}', '{"a":null,"b":null}'],
      ['{"a":{"b":1,"c":2}}', '{"a.b":3}', '{"a":{"b":3,"c":2}}'],
      ['{"a":{"$date":1}}', '{"a":{"$date":2}}', '{"a":{"$date":2}}'],
      ['{"a":[1,2]}', '{"a.1":3}', '{"a":[1,3]}'],
      ['{"a":[{"b":1}]}', '{"a.0.b":2,"a.0.c":3}', '{"a":[{"b":2,"c":3}]}'],
      ['{"a":{"b":1,"c":2}}', '{"a":{"c":2,"b":1}}', '{"a":{"c":2,"b":1}}'],
    ])
  })

  test('adds fields in alphabetical order', () => {
    assertUpdated('$set', [['{}', '{"c":1,"a":2,"b":3}', '{"a":2,"b":3,"c":1}']])
  })

  test('changes nothing when the value is equal', () => {
    assertUpdated('$set', [
      ['{"a":1}', '{"a":1.0}', same],
      ['{"a":1e400}', '{"a":10e399}', same],
      ['{"a":{"b":[1,{"c":null}]}}', '{"a":{"b":[1,{"c":null}]}}', same],
      ['{"a":[1,2]}', '{"a.1":2}', same],
      ['{"a":1}', '{}', same],
    ])
  })

  test('creates missing objects of a path, even for numeric names', () => {
    assertUpdated('$set', [
      ['{}', '{"a.b.c":1}', '{"a":{"b":{"c":1}}}'],
      ['{"a":{}}', '{"a.0.1":1}', '{"a":{"0":{"1":1}}}'],
      ['{"a":{"0":1}}', '{"a.0":2}', '{"a":{"0":2}}'],
      ['{}', '{"a&.b.c&&d":1}', '{"a.b":{"c&d":1}}'],
      ['{"a.b":1,"a":{"b":2}}', '{"a.b":3}', '{"a.b":1,"a":{"b":3}}'],
    ])
  })

  test('extends an array with null', () => {
    assertUpdated('$set', [
      ['{"a":[]}', '{"a.0":1}', '{"a":[1]}'],
      ['{"a":[1]}', '{"a.3":2}', '{"a":[1,null,null,2]}'],
      ['{"a":[1]}', '{"a.2.b":2}', '{"a":[1,null,{"b":2}]}'],
      ['{"a":[1]}', '{"a.1.0.x":2}', '{"a":[1,{"0":{"x":2}}]}'],
      ['{"a":[]}', '{"a.1":1,"a.2":2,"a.0":0}', '{"a":[0,1,2]}'],
    ])
  })

  test('rejects paths through values that cannot have fields', () => {
    assertRefused('$set', path, [
      ['{"a":1}', '{"a.b":1}', '"a" is a Number'],
      ['{"a":null}', '{"a.b":1}', '"a" is Null'],
      ['{"a":"s"}', '{"a.0":1}', '"a.0"'],
      ['{"a":[1]}', '{"a.b":1}', '"a" is an Array'],
      ['{"a":[1]}', '{"a.-1":1}', '"-1"'],
      ['{"a":[1]}', '{"a.01":1}', '"01"'],
      ['{"a":[null]}', '{"a.0.b":1}', '"a.0" is Null'],
      ['{"a":{"$date":1}}', '{"a.b":1}', '$date'],
      ['{"x":{"a.b":true}}', '{"x.a&.b.c":1}', '"x.a&.b" is a Boolean'],
    ])
  })

  test('rejects extending an array beyond the limit', () => {
    assertRefused('$set', tooMuch, [
      ['{"a":[]}', '{"a.1000":1}', '1000'],
      ['{"a":[]}', '{"a.999999999":1}', '999999999'],
      ['{"a":[]}', '{"a.99999999999999999999":1}', '99999999999999999999'],
      ['{"b":{"a":[]}}', '{"b.a.5000.c":1}', '"b.a"'],
    ])
    assert.match(updated('{"$set":{"a.999":1}}', '{"a":[]}'), /null,1\]\}$/)
    const long = `{"a":[${Array(1500).fill(0).join()}]}`
    assert.match(updated('{"$set":{"a.1200":1}}', long), /,1,/)
    assert.match(updated('{"$set":{"a.1500":1}}', long), /0,1\]\}$/)
  })

  test('rejects nesting deeper than documents allow', () => {
    const deep = (count: number) => Array(count).fill('a').join('.')
    assertRefused('$set', tooMuch, [
      ['{}', `{"${deep(17)}":1}`, '17'],
      ['{"a":{}}', `{"${deep(20_000)}":1}`, '20000'],
    ])
    // An update whose paths exceed the total limit is rejected before each path is checked.
    assertRefused('$set', 'UNSUPPORTED_UPDATE_OPERATION_PARAM', [
      ['{}', `{"${deep(200_000)}":1}`, 'more than 10000 paths'],
    ])
    assert.notEqual(updated(`{"$set":{"${deep(16)}":1}}`, '{}'), same)
  })

  test('accepts field names that are built-in properties in JavaScript', () => {
    assertUpdated('$set', [
      [
        '{}',
        '{"__proto__.x":1,"constructor":2,"toString":3}',
        '{"__proto__":{"x":1},"constructor":2,"toString":3}',
      ],
      ['{"__proto__":{"x":1}}', '{"__proto__.x":2}', '{"__proto__":{"x":2}}'],
      ['{"a":{}}', '{"a.hasOwnProperty":1}', '{"a":{"hasOwnProperty":1}}'],
    ])
    assertRefused('$set', path, [
      ['{"a":[]}', '{"a.length":1}', '"length"'],
      ['{"a":"s"}', '{"a.length":1}', '"length"'],
    ])
  })

  test('removes $vectorize when it sets $vector, and keeps $vector when it sets $vectorize', () => {
    assertUpdated('$set', [
      ['{"$vector":[1],"$vectorize":"t"}', '{"$vector":[2]}', '{"$vector":[2]}'],
      ['{"$vector":[1],"$vectorize":"t"}', '{"$vector":[1]}', '{"$vector":[1]}'],
      ['{"$vector":[1]}', '{"$vector":[1]}', same],
      [
        '{"$vector":[1],"$vectorize":"t"}',
        '{"$vectorize":"u"}',
        '{"$vector":[1],"$vectorize":"u"}',
      ],
      ['{"$vector":[1],"$vectorize":"t"}', '{"$vectorize":"t"}', same],
      ['{"_id":1}', '{"$lexical":"words"}', '{"_id":1,"$lexical":"words"}'],
    ])
  })
})

describe('$setOnInsert', () => {
  test('does nothing to an existing document', () => {
    assertUpdated('$setOnInsert', [
      ['{"_id":1,"a":1}', '{"a":2,"b":3}', same],
      ['{"_id":1}', '{"_id":2}', same],
      ['{"a":1}', '{"a.b":1}', same],
    ])
  })

  test('sets fields of a new document, whether or not they exist, with _id first', () => {
    for (const [document, argument, expected] of [
      ['{"a":1}', '{"a":2,"b.c":3}', '{"a":2,"b":{"c":3}}'],
      ['{"a":1}', '{"_id":"x","b":2}', '{"_id":"x","a":1,"b":2}'],
      ['{"_id":1,"a":1}', '{"_id":2}', '{"_id":2,"a":1}'],
      ['{"a":{}}', '{"a._id":2}', '{"a":{"_id":2}}'],
      ['{"a":1}', '{"a":1}', same],
    ] as const)
      assert.equal(updated(`{"$setOnInsert":${argument}}`, document, true), expected)
  })
})

describe('$unset', () => {
  test('removes fields, and replaces array elements by null', () => {
    assertUpdated('$unset', [
      ['{"a":1,"b":2}', '{"a":""}', '{"b":2}'],
      ['{"a":{"b":1}}', '{"a.b":1}', '{"a":{}}'],
      ['{"a":[1,2,3]}', '{"a.1":""}', '{"a":[1,null,3]}'],
      ['{"a":[{"b":1}]}', '{"a.0.b":""}', '{"a":[{}]}'],
      ['{"__proto__":1,"toString":2}', '{"__proto__":"","toString":""}', '{}'],
      ['{"a":null}', '{"a":""}', '{}'],
    ])
  })

  test('changes nothing when the field is missing', () => {
    assertUpdated('$unset', [
      ['{"a":1}', '{"b":""}', same],
      ['{"a":1}', '{"a.b":""}', same],
      ['{"a":null}', '{"a.b.c":""}', same],
      ['{"a":[1,null]}', '{"a.1":""}', same],
      ['{"a":[1]}', '{"a.5":""}', same],
      ['{"a":[1]}', '{"a.b":""}', same],
      ['{"a":[1]}', '{"a.99999999999":"","a.length":""}', same],
      ['{"a":{"$date":1}}', '{"a.b":""}', same],
      ['{"a":1}', '{"__proto__":"","constructor":""}', same],
    ])
  })

  test('removes both $vector and $vectorize when it names either', () => {
    const document = '{"_id":1,"$vector":[1],"$vectorize":"t","$lexical":"w"}'
    assertUpdated('$unset', [
      [document, '{"$vector":""}', '{"_id":1,"$lexical":"w"}'],
      [document, '{"$vectorize":""}', '{"_id":1,"$lexical":"w"}'],
      [document, '{"$lexical":""}', '{"_id":1,"$vector":[1],"$vectorize":"t"}'],
      ['{"_id":1,"$vector":[1]}', '{"$vectorize":""}', '{"_id":1}'],
      ['{"_id":1}', '{"$vector":""}', same],
    ])
  })
})

describe('$inc and $mul', () => {
  test('calculate exactly', () => {
    assertUpdated('$inc', [
      ['{"a":1}', '{"a":2}', '{"a":3}'],
      ['{"a":0.1}', '{"a":0.2}', '{"a":0.3}'],
      ['{"a":9007199254740992}', '{"a":1}', '{"a":9007199254740993}'],
      ['{"a":{"b":[1,2]}}', '{"a.b.1":-5}', '{"a":{"b":[1,-3]}}'],
    ])
    assertUpdated('$mul', [
      ['{"a":3}', '{"a":-2}', '{"a":-6}'],
      ['{"a":1.1}', '{"a":1.1}', '{"a":1.21}'],
      ['{"a":12345678901234567890}', '{"a":10}', '{"a":123456789012345678900}'],
      ['{"a":5}', '{"a":0}', '{"a":0}'],
    ])
  })

  test('start at zero when the field is missing', () => {
    assertUpdated('$inc', [
      ['{}', '{"a":2}', '{"a":2}'],
      ['{}', '{"a":0}', '{"a":0}'],
      ['{}', '{"a.b":2}', '{"a":{"b":2}}'],
      ['{"a":[]}', '{"a.1":2}', '{"a":[null,2]}'],
    ])
    assertUpdated('$mul', [
      ['{}', '{"a":2}', '{"a":0}'],
      ['{}', '{"a.b":2}', '{"a":{"b":0}}'],
    ])
  })

  test('change nothing when the number stays equal', () => {
    assertUpdated('$inc', [['{"a":5}', '{"a":0}', same]])
    assertUpdated('$mul', [
      ['{"a":5}', '{"a":1}', same],
      ['{"a":0}', '{"a":7}', same],
    ])
  })

  test('reject non-numeric values', () => {
    for (const operator of ['$inc', '$mul']) {
      assertRefused(operator, target, [
        ['{"a":"1"}', '{"a":1}', 'a String there'],
        ['{"a":null}', '{"a":1}', 'has Null there'],
        ['{"a":{"b":[true]}}', '{"a.b.0":1}', '"a.b.0"'],
        ['{"a":{"$date":1}}', '{"a":1}', 'Object'],
      ])
      assertRefused(operator, path, [['{"a":1}', '{"a.b":1}', '"a.b"']])
    }
  })

  test('reject a result with too many digits', () => {
    assertRefused('$inc', tooMuch, [['{"a":{"b":1e120}}', '{"a.b":1}', '"a.b"']])
    assertRefused('$mul', tooMuch, [
      [`{"a":${'7'.repeat(60)}}`, `{"a":${'7'.repeat(60)}}`, 'maximum is 100'],
    ])
  })
})

describe('$min and $max', () => {
  const ascending = [
    'null',
    '-1e400',
    '-1',
    '0',
    '0.5',
    '9007199254740993',
    '""',
    '"A"',
    '"a"',
    '"aa"',
    '{}',
    '{"$date":-5}',
    '{"$date":900}',
    '{"$date":1000}',
    '{"a":1}',
    '{"a":1,"b":0}',
    '{"a":2}',
    '{"b":0}',
    '[]',
    '[null]',
    '[1]',
    '[1,0]',
    '[2]',
    '[[]]',
    'false',
    'true',
  ]

  test('follow one order of all values', () => {
    for (const [i, a] of ascending.entries())
      for (const [j, b] of ascending.entries()) {
        const document = `{"x":${a}}`
        assertUpdated(
          '$min',
          [[document, `{"x":${b}}`, j < i ? `{"x":${b}}` : same]].map(canonical),
        )
        assertUpdated(
          '$max',
          [[document, `{"x":${b}}`, j > i ? `{"x":${b}}` : same]].map(canonical),
        )
      }
  })

  // An updated document contains numerals in canonical form, which may differ from the written
  // form.
  function canonical([document, argument, result]: string[]) {
    const printed = result === same ? same : printJson(parseStored(result!))
    return [document!, argument!, printed] as const
  }

  test('compare strings by code units', () => {
    assertUpdated('$max', [
      ['{"a":"\\uffff"}', '{"a":"\\ud83d\\ude00"}', same],
      ['{"a":"a"}', '{"a":"B"}', same],
    ])
  })

  test('set missing fields', () => {
    for (const operator of ['$min', '$max']) {
      assertUpdated(operator, [
        ['{}', '{"a":5}', '{"a":5}'],
        ['{}', '{"a.b":null}', '{"a":{"b":null}}'],
        ['{"a":[1]}', '{"a.2":5}', '{"a":[1,null,5]}'],
        ['{"a":[1]}', '{"a.0":1.0}', same],
      ])
      assertRefused(operator, path, [['{"a":true}', '{"a.b":1}', '"a" is a Boolean']])
    }
  })
})

describe('$rename', () => {
  test('moves a value and overwrites the target', () => {
    assertUpdated('$rename', [
      ['{"a":1,"b":2}', '{"a":"c"}', '{"b":2,"c":1}'],
      ['{"a":1,"b":2}', '{"a":"b"}', '{"b":1}'],
      ['{"a":1,"b":1}', '{"a":"b"}', '{"b":1}'],
      ['{"a":{"b":1}}', '{"a.b":"c.d"}', '{"a":{},"c":{"d":1}}'],
      ['{"a":null}', '{"a":"b"}', '{"b":null}'],
      ['{"a":[{"b":1}]}', '{"a.0.b":"a.0.c"}', '{"a":[{"c":1}]}'],
      ['{"a":1,"b":2}', '{"a":"x","b":"y"}', '{"x":1,"y":2}'],
      ['{"a":1}', '{"a":"__proto__"}', '{"__proto__":1}'],
      ['{"a.b":1}', '{"a&.b":"a.b"}', '{"a":{"b":1}}'],
    ])
  })

  test('changes nothing when the source is absent', () => {
    assertUpdated('$rename', [
      ['{"a":1}', '{"b":"c"}', same],
      ['{"a":1}', '{"a.b":"c"}', same],
      ['{"a":[1]}', '{"a.4":"c"}', same],
      ['{"a":1}', '{"toString":"c"}', same],
    ])
  })

  test('rejects elements of arrays, identical paths and fields of scalars', () => {
    assertRefused('$rename', path, [
      ['{"a":[1]}', '{"a.0":"b"}', '"a.0" is an element'],
      ['{"a":[1],"b":2}', '{"b":"a.0"}', '"a.0" is an element'],
      ['{"a":[1],"b":2}', '{"b":"a.7"}', '"a.7" is an element'],
      ['{"a":1}', '{"a":"a"}', 'same'],
      ['{"a":1,"b":2}', '{"a":"b.c"}', '"b" is a Number'],
    ])
  })
})

describe('$currentDate', () => {
  test('sets the time of the command', () => {
    const now = `{"$date":${context.nowMs}}`
    assertUpdated('$currentDate', [
      ['{}', '{"a":true}', `{"a":${now}}`],
      ['{"a":"x"}', '{"a":{"$type":"date"}}', `{"a":${now}}`],
      ['{"a":[{}]}', '{"a.0.b":true,"c":true}', `{"a":[{"b":${now}}],"c":${now}}`],
    ])
    assertRefused('$currentDate', path, [['{"a":1}', '{"a.b":true}', '"a.b"']])
  })
})

describe('$push', () => {
  test('appends a value of any kind', () => {
    assertUpdated('$push', [
      ['{"a":[1]}', '{"a":2}', '{"a":[1,2]}'],
      ['{"a":[1]}', '{"a":[2,3]}', '{"a":[1,[2,3]]}'],
      ['{"a":[1]}', '{"a":{"b":1}}', '{"a":[1,{"b":1}]}'],
      ['{"a":[]}', '{"a":{"$date":5}}', '{"a":[{"$date":5}]}'],
      ['{"a":[]}', '{"a":{}}', '{"a":[{}]}'],
      ['{"a":[1]}', '{"a":1}', '{"a":[1,1]}'],
      ['{"a":[[1]]}', '{"a.0":2}', '{"a":[[1,2]]}'],
    ])
  })

  test('creates a missing array', () => {
    assertUpdated('$push', [
      ['{}', '{"a":1}', '{"a":[1]}'],
      ['{}', '{"a.b":null}', '{"a":{"b":[null]}}'],
      ['{"a":[]}', '{"a.1":1}', '{"a":[null,[1]]}'],
      ['{}', '{"a":{"$each":[]}}', '{"a":[]}'],
    ])
  })

  test('inserts several values at a position', () => {
    for (const [position, expected] of [
      ['0', '[8,9,1,2,3]'],
      ['1', '[1,8,9,2,3]'],
      ['3', '[1,2,3,8,9]'],
      ['99', '[1,2,3,8,9]'],
      ['-1', '[1,2,8,9,3]'],
      ['-3', '[8,9,1,2,3]'],
      ['-99', '[8,9,1,2,3]'],
    ] as const)
      assertUpdated('$push', [
        [
          '{"a":[1,2,3]}',
          `{"a":{"$each":[8,9],"$position":${position}}}`,
          `{"a":${expected}}`,
        ],
      ])
    assertUpdated('$push', [
      ['{"a":[1]}', '{"a":{"$each":[2,[3]]}}', '{"a":[1,2,[3]]}'],
      ['{}', '{"a":{"$position":5,"$each":[1]}}', '{"a":[1]}'],
    ])
  })

  test('counts as a change even when nothing is pushed', () => {
    assertUpdated('$push', [['{"a":[1]}', '{"a":{"$each":[]}}', '{"a":[1]}']])
  })

  test('accepts more values than a function call accepts arguments', () => {
    const many = Array(300_000).fill(1).join()
    assert.equal(
      updated(`{"$push":{"a":{"$each":[${many}],"$position":1}}}`, '{"a":[0,2]}').length,
      many.length + '{"a":[0,,2]}'.length,
    )
  })
})

describe('$pop', () => {
  test('removes the last or the first element', () => {
    assertUpdated('$pop', [
      ['{"a":[1,2,3]}', '{"a":1}', '{"a":[1,2]}'],
      ['{"a":[1,2,3]}', '{"a":-1}', '{"a":[2,3]}'],
      ['{"a":{"b":[1]}}', '{"a.b":1}', '{"a":{"b":[]}}'],
      ['{"a":[[1]]}', '{"a.0":-1}', '{"a":[[]]}'],
    ])
  })

  test('changes nothing when the array is empty or missing', () => {
    assertUpdated('$pop', [
      ['{"a":[]}', '{"a":1}', same],
      ['{}', '{"a":1}', same],
      ['{"a":1}', '{"a.b":-1}', same],
    ])
  })
})

describe('$addToSet', () => {
  test('appends missing values, each one once', () => {
    assertUpdated('$addToSet', [
      ['{"a":[1]}', '{"a":2}', '{"a":[1,2]}'],
      ['{}', '{"a":1}', '{"a":[1]}'],
      ['{}', '{"a.b":{"$each":[]}}', '{"a":{"b":[]}}'],
      ['{"a":[1]}', '{"a":{"$each":[2,1,2,3]}}', '{"a":[1,2,3]}'],
      ['{"a":[1]}', '{"a":"1"}', '{"a":[1,"1"]}'],
      ['{"a":[1,1]}', '{"a":2}', '{"a":[1,1,2]}'],
      [
        '{"a":[{"x":1,"y":2}]}',
        '{"a":{"y":2,"x":1}}',
        '{"a":[{"x":1,"y":2},{"y":2,"x":1}]}',
      ],
      ['{"a":[]}', '{"a":{"$uuid":"u"}}', '{"a":[{"$uuid":"u"}]}'],
    ])
  })

  test('changes nothing when all values exist', () => {
    assertUpdated('$addToSet', [
      ['{"a":[1,{"x":[null]}]}', '{"a":{"$each":[1.0,{"x":[null]}]}}', same],
      ['{"a":[1e400]}', '{"a":10e399}', same],
      ['{"a":[]}', '{"a":{"$each":[]}}', same],
    ])
  })

  test('accepts many values at once', () => {
    const many = Array.from({ length: 100_000 }, (_, i) => i)
    const result = updated(`{"$addToSet":{"a":{"$each":[${many.join()}]}}}`, '{"a":[5]}')
    assert.equal(
      (parseStored(result) as Map<string, Value[]>).get('a')!.length,
      many.length,
    )
  })
})

test('$push, $pop and $addToSet reject non-array values', () => {
  for (const operator of ['$push', '$pop', '$addToSet'])
    assertRefused(operator, target, [
      ['{"a":1}', '{"a":1}', 'a Number there'],
      ['{"a":null}', '{"a":1}', 'has Null there'],
      ['{"a":{"b":{"0":1}}}', '{"a.b":1}', '"a.b"'],
    ])
  for (const operator of ['$push', '$addToSet'])
    assertRefused(operator, path, [['{"a":1}', '{"a.b":1}', '"a" is a Number']])
})

describe('an update with several operators', () => {
  test('runs its operators in a fixed order, whatever their order in the text', () => {
    const update =
      '{"$unset":{"u":""},"$set":{"s":1},"$rename":{"r":"q"},"$push":{"p":1},' +
      '"$mul":{"m":1},"$inc":{"i":1},"$addToSet":{"t":1},"$min":{"n":1},"$max":{"x":1},' +
      '"$setOnInsert":{"o":1},"$pop":{"l":1}}'
    assert.equal(
      updated(update, '{"u":0,"r":0,"l":[1]}', true),
      '{"l":[],"t":[1],"i":1,"x":1,"n":1,"m":0,"p":[1],"q":0,"s":1,"o":1}',
    )
  })

  test('may change adjacent paths', () => {
    assert.equal(
      updated(
        '{"$set":{"a.b":1,"a.c.d":2},"$unset":{"a.e":""},"$inc":{"x.0":1,"x.1":1}}',
        '{"a":{"e":0},"x":[0,0]}',
      ),
      '{"a":{"b":1,"c":{"d":2}},"x":[1,1]}',
    )
  })

  test('accepts many paths at once', () => {
    const paths = Array.from({ length: 10_000 }, (_, i) => `"f${i}":1`).join()
    const result = updated(`{"$set":{${paths}}}`, '{"_id":1}')
    assert.equal((parseStored(result) as JsonObject).size, 10_001)
  })

  test('changes nothing when it is empty', () => {
    assert.equal(updated('{}', '{"a":1}'), same)
  })
})

describe('an update is rejected before it is applied', () => {
  const rejections: Record<string, readonly (readonly [string, string, string])[]> = {
    'when it is not an object of objects': [
      ['null', 'UNSUPPORTED_UPDATE_DATA_TYPE', 'Null'],
      ['[{"$set":{"a":1}}]', 'UNSUPPORTED_UPDATE_DATA_TYPE', 'Array'],
      ['{"$set":1}', 'UNSUPPORTED_UPDATE_DATA_TYPE', '$set'],
      ['{"$unset":["a"]}', 'UNSUPPORTED_UPDATE_DATA_TYPE', 'Array'],
      ['{"$push":null}', 'UNSUPPORTED_UPDATE_DATA_TYPE', 'Null'],
    ],
    'when an operator is unknown': [
      ['{"a":1}', 'UNSUPPORTED_UPDATE_OPERATION', '"a"'],
      ['{"set":{"a":1}}', 'UNSUPPORTED_UPDATE_OPERATION', '"set"'],
      ['{"$set":{"a":1},"$bit":{"a":1}}', 'UNSUPPORTED_UPDATE_OPERATION', '"$bit"'],
      ['{"toString":{}}', 'UNSUPPORTED_UPDATE_OPERATION', '"toString"'],
    ],
    'when an argument is invalid for its operator': [
      ['{"$inc":{"a":"1"}}', 'UNSUPPORTED_UPDATE_OPERATION_PARAM', '"1"'],
      ['{"$mul":{"a":null}}', 'UNSUPPORTED_UPDATE_OPERATION_PARAM', 'null'],
      ['{"$pop":{"a":2}}', 'UNSUPPORTED_UPDATE_OPERATION_PARAM', '2'],
      ['{"$pop":{"a":"1"}}', 'UNSUPPORTED_UPDATE_OPERATION_PARAM', '"1"'],
      ['{"$rename":{"a":1}}', 'UNSUPPORTED_UPDATE_OPERATION_PARAM', '"a"'],
      ['{"$currentDate":{"a":false}}', 'UNSUPPORTED_UPDATE_OPERATION_PARAM', 'false'],
      [
        '{"$currentDate":{"a":{"$type":"timestamp"}}}',
        'UNSUPPORTED_UPDATE_OPERATION_PARAM',
        'timestamp',
      ],
      ['{"$push":{"a":{"$each":1}}}', 'UNSUPPORTED_UPDATE_OPERATION_PARAM', '$each'],
      ['{"$addToSet":{"a":{"$each":{}}}}', 'UNSUPPORTED_UPDATE_OPERATION_PARAM', '$each'],
      ['{"$push":{"a":{"$position":1}}}', 'UNSUPPORTED_UPDATE_OPERATION_PARAM', '$each'],
      [
        '{"$push":{"a":{"$each":[1],"$position":1.5}}}',
        'UNSUPPORTED_UPDATE_OPERATION_PARAM',
        '1.5',
      ],
      [
        '{"$push":{"a":{"$each":[1],"$position":null}}}',
        'UNSUPPORTED_UPDATE_OPERATION_PARAM',
        '$position',
      ],
    ],
    'when a modifier is unknown': [
      [
        '{"$push":{"a":{"$each":[1],"$slice":1}}}',
        'UNSUPPORTED_UPDATE_OPERATION_MODIFIER',
        '"$slice"',
      ],
      ['{"$push":{"a":{"$sort":1}}}', 'UNSUPPORTED_UPDATE_OPERATION_MODIFIER', '"$sort"'],
      [
        '{"$push":{"a":{"$each":[1],"b":1}}}',
        'UNSUPPORTED_UPDATE_OPERATION_MODIFIER',
        '"b"',
      ],
      [
        '{"$addToSet":{"a":{"$each":[1],"$position":0}}}',
        'UNSUPPORTED_UPDATE_OPERATION_MODIFIER',
        '"$position"',
      ],
    ],
    'when a path is malformed': [
      ['{"$set":{"":1}}', path, 'empty'],
      ['{"$set":{"a..b":1}}', path, '"a..b"'],
      ['{"$unset":{"a.":1}}', path, '"a."'],
      ['{"$inc":{"a&b":1}}', path, '"a&b"'],
      ['{"$rename":{"a":"b&"}}', path, '"b&"'],
      ['{"$rename":{"a":""}}', path, 'empty'],
    ],
    'when a field would be called *': [
      ['{"$unset":{"*":""}}', 'SHRED_BAD_FIELD_NAME', '"*"'],
      ['{"$set":{"a.*":1}}', 'SHRED_BAD_FIELD_NAME', '"*" under "a"'],
      ['{"$rename":{"*":"a"}}', 'SHRED_BAD_FIELD_NAME', '"*"'],
      ['{"$rename":{"a":"b.*.c"}}', 'SHRED_BAD_FIELD_NAME', '"*" under "b"'],
      ['{"$pull":{"*":1}}', 'SHRED_BAD_FIELD_NAME', '"*"'],
    ],
    'when it would change _id': [
      ['{"$set":{"_id":1}}', 'UNSUPPORTED_UPDATE_OPERATOR_FOR_DOC_ID', '$set'],
      ['{"$unset":{"_id":1}}', 'UNSUPPORTED_UPDATE_OPERATOR_FOR_DOC_ID', '$unset'],
      ['{"$inc":{"_id":1}}', 'UNSUPPORTED_UPDATE_OPERATOR_FOR_DOC_ID', '$inc'],
      ['{"$rename":{"_id":"a"}}', 'UNSUPPORTED_UPDATE_OPERATOR_FOR_DOC_ID', '$rename'],
      ['{"$rename":{"a":"_id"}}', 'UNSUPPORTED_UPDATE_OPERATOR_FOR_DOC_ID', '$rename'],
      ['{"$set":{"_id.a":1}}', 'UNSUPPORTED_UPDATE_OPERATOR_FOR_DOC_ID', '$set'],
      ['{"$setOnInsert":{"_id.a":1}}', path, '_id'],
    ],
    'when it changes a search field except by $set or $unset of the whole field': [
      ['{"$inc":{"$vector":1}}', 'UNSUPPORTED_UPDATE_OPERATOR_FOR_VECTOR', '$inc'],
      ['{"$push":{"$vector":1}}', 'UNSUPPORTED_UPDATE_OPERATOR_FOR_VECTOR', '$push'],
      ['{"$rename":{"a":"$vector"}}', 'UNSUPPORTED_UPDATE_OPERATOR_FOR_VECTOR', '$rename'],
      ['{"$min":{"$vectorize":""}}', 'UNSUPPORTED_UPDATE_OPERATOR_FOR_VECTORIZE', '$min'],
      [
        '{"$currentDate":{"$lexical":true}}',
        'UNSUPPORTED_UPDATE_OPERATOR_FOR_LEXICAL',
        '$currentDate',
      ],
      ['{"$set":{"$vector.0":1}}', path, '"$vector.0"'],
      ['{"$unset":{"$lexical.a":1}}', path, '"$lexical.a"'],
    ],
    'when it names both $vector and $vectorize': [
      [
        '{"$set":{"$vector":[1],"$vectorize":"t"}}',
        'INVALID_USAGE_OF_VECTORIZE',
        '$set has',
      ],
      [
        '{"$unset":{"$vectorize":"","$vector":""}}',
        'INVALID_USAGE_OF_VECTORIZE',
        '$unset has',
      ],
      [
        '{"$set":{"$vector":[1]},"$unset":{"$vectorize":""}}',
        'INVALID_USAGE_OF_VECTORIZE',
        '$set together with $unset',
      ],
    ],
    'when another name starts with $': [
      ['{"$set":{"$hybrid":"t"}}', 'SHRED_BAD_FIELD_NAME', '"$hybrid"'],
      ['{"$inc":{"$hybrid":1}}', 'SHRED_BAD_FIELD_NAME', '"$hybrid"'],
      ['{"$push":{"$hybrid":1}}', 'SHRED_BAD_FIELD_NAME', '"$hybrid"'],
      ['{"$set":{"$x":1}}', 'SHRED_BAD_FIELD_NAME', '"$x"'],
      ['{"$rename":{"a":"$x"}}', 'SHRED_BAD_FIELD_NAME', '"$x"'],
      ['{"$set":{"a.$date":1}}', 'SHRED_BAD_FIELD_NAME', '"$date" under "a"'],
      ['{"$inc":{"$x":1}}', 'UNSUPPORTED_UPDATE_OPERATION_MODIFIER', '"$x"'],
      ['{"$mul":{"$x":1}}', 'UNSUPPORTED_UPDATE_OPERATION_MODIFIER', '"$x"'],
      ['{"$push":{"$each":[1]}}', 'UNSUPPORTED_UPDATE_OPERATION_PARAM', '"$each"'],
      ['{"$addToSet":{"$x":1}}', 'UNSUPPORTED_UPDATE_OPERATION_PARAM', '"$x"'],
    ],
    'when paths overlap, in one operator or in several': [
      [
        '{"$set":{"a":1},"$inc":{"a":1}}',
        'UNSUPPORTED_UPDATE_OPERATION_PARAM',
        '$inc of "a"',
      ],
      ['{"$set":{"a":1,"a.b":1}}', 'UNSUPPORTED_UPDATE_OPERATION_PARAM', '"a.b"'],
      [
        '{"$set":{"a":1,"x.y.z":1},"$push":{"x":1}}',
        'UNSUPPORTED_UPDATE_OPERATION_PARAM',
        '"x.y.z"',
      ],
      ['{"$set":{"b.0":1},"$pop":{"b":1}}', 'UNSUPPORTED_UPDATE_OPERATION_PARAM', '"b.0"'],
      ['{"$rename":{"a":"b"},"$set":{"b":1}}', 'UNSUPPORTED_UPDATE_OPERATION_PARAM', '"b"'],
      ['{"$rename":{"a":"b","c":"b"}}', 'UNSUPPORTED_UPDATE_OPERATION_PARAM', '"b"'],
      ['{"$rename":{"a":"a.b"}}', 'UNSUPPORTED_UPDATE_OPERATION_PARAM', '"a.b"'],
      ['{"$rename":{"a.b":"a"}}', 'UNSUPPORTED_UPDATE_OPERATION_PARAM', '"a.b"'],
    ],
  }
  for (const [reason, rows] of Object.entries(rejections))
    test(reason, () => {
      for (const [update, code, mention] of rows) {
        const error = refusal(() => parseUpdate(parseStored(update)), update)
        assert.equal(error.code, code, `${update}: ${error.message}`)
        assert(error.message.includes(mention), `${update}: ${error.message}`)
      }
    })
})

describe('any update', () => {
  const paths = fc
    .array(names, { minLength: 1, maxLength: 3 })
    .map((segments) => segments.map(escapeSegment).join('.'))

  const operations = fc.oneof(
    fc.tuple(fc.constantFrom('$set', '$unset', '$min', '$max'), paths, values),
    fc.tuple(fc.constant('$addToSet'), paths, fc.array(values).map(each)),
    fc.tuple(fc.constant('$push'), paths, fc.array(values, { minLength: 1 }).map(each)),
    fc.tuple(fc.constant('$pull'), paths, values),
    fc.tuple(fc.constant('$pullAll'), paths, fc.array(values)),
    fc.tuple(fc.constantFrom('$inc', '$mul', '$pop'), paths, fc.constantFrom(1, -1)),
    fc.tuple(fc.constant('$rename'), paths, paths),
    fc.tuple(fc.constant('$currentDate'), paths, fc.constant(true)),
  )

  function each(list: Value[]): Value {
    return new Map([['$each', list]])
  }

  function updateOf(list: readonly (readonly [string, string, Value])[]): JsonObject {
    const update: JsonObject = new Map()
    for (const [operator, path, argument] of list) {
      const paths = (update.get(operator) ?? new Map<string, Value>()) as JsonObject
      update.set(operator, paths.set(path, argument))
    }
    return update
  }

  /** The result of the update, or undefined if the update is rejected. */
  function tryUpdate(update: JsonObject, document: JsonObject) {
    try {
      return atOnce(applyUpdate(parseUpdate(update), document, context))
    } catch (error) {
      assert(error instanceof ApiError, String(error))
      return undefined
    }
  }

  test('leaves the given document and the update unchanged, whether or not it is rejected', () => {
    fc.assert(
      fc.property(documents, fc.array(operations, { maxLength: 4 }), (document, list) => {
        const update = updateOf(list)
        const before = [printJson(document), printJson(update)]
        tryUpdate(update, document)
        assert.deepEqual([printJson(document), printJson(update)], before)
      }),
      { seed, numRuns: 2000 },
    )
  })

  test('reports a change exactly if it changed the document or contains $push', () => {
    fc.assert(
      fc.property(documents, fc.array(operations, { maxLength: 3 }), (document, list) => {
        const result = tryUpdate(updateOf(list), document)
        fc.pre(result !== undefined)
        const pushes = list.some(([operator]) => operator === '$push')
        assert.equal(result.changed, pushes || !equalValues(document, result.document))
        if (!result.changed) assert.equal(result.document, document)
      }),
      { seed, numRuns: 2000 },
    )
  })

  test('with operators that set, remove or compare changes nothing the second time', () => {
    const names = ['$set', '$unset', '$min', '$max', '$addToSet', '$pull', '$pullAll']
    const once = operations.filter(([operator]) => names.includes(operator))
    fc.assert(
      fc.property(documents, fc.array(once, { maxLength: 3 }), (document, list) => {
        const update = updateOf(list)
        const first = tryUpdate(update, document)
        fc.pre(first !== undefined)
        assert.equal(tryUpdate(update, first.document)?.changed, false)
      }),
      { seed, numRuns: 2000 },
    )
  })

  test('by $inc, applied n times, adds up exactly', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n }),
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 0, max: 12 }),
        (step, times, scale) => {
          const numeral = `${step}e-${scale}`
          const plan = parseUpdate(parseStored(`{"$inc":{"a.b":${numeral}}}`))
          let document: JsonObject = new Map()
          for (let i = 0; i < times; i++)
            document = atOnce(applyUpdate(plan, document, context)).document
          const sum = parseStored(`{"a":{"b":${step * BigInt(times)}e-${scale}}}`)
          assert.equal(printJson(document), printJson(sum))
        },
      ),
      { seed },
    )
  })

  test('by $min and $max gives the least and the greatest value, in any order of calls', () => {
    const calls = fc.array(values, { minLength: 1, maxLength: 6 })
    const final = (operator: string, list: readonly Value[]) => {
      let document: JsonObject = new Map()
      for (const value of list)
        document = tryUpdate(updateOf([[operator, 'x', value]]), document)!.document
      return document.get('x')!
    }
    fc.assert(
      fc.property(fc.constantFrom('$min', '$max'), calls, (operator, list) => {
        assert(equalValues(final(operator, list), final(operator, list.toReversed())))
      }),
      { seed, numRuns: 500 },
    )
  })
})
