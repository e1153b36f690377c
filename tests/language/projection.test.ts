import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { ApiError } from '../../src/errors/api-error.ts'
import { parseStored } from '../../src/json/parse.ts'
import { printJson } from '../../src/json/print.ts'
import type { JsonObject, Value } from '../../src/json/value.ts'
import { escapeSegment } from '../../src/language/values/path.ts'
import { parseProjection, type Projection } from '../../src/language/projection.ts'
import { atOnce } from '../../src/runtime/steps.ts'
import { documents, seed } from './documents.ts'

function apply(projection: Projection, document: JsonObject): JsonObject {
  const shown = projection.apply(document)
  return shown instanceof Map ? shown : atOnce(shown)
}

function projected(projection: string, document: string): string {
  const before = parseStored(document) as JsonObject
  const after = apply(parseProjection(parseStored(projection)), before)
  assert.equal(printJson(before), printJson(parseStored(document)), 'the input changed')
  return printJson(after)
}

function assertProjected(rows: readonly (readonly [string, string, string])[]): void {
  for (const [projection, document, expected] of rows)
    assert.equal(projected(projection, document), expected, `${projection} of ${document}`)
}

describe('a projection', () => {
  const document =
    '{"_id":1,"a":{"b":[1]},"$vector":[1,2],"$vectorize":"text","$lexical":"words"}'

  test('includes all except search fields when absent or empty', () => {
    const absent = parseProjection(undefined)
    assert.equal(
      printJson(apply(absent, parseStored(document) as JsonObject)),
      '{"_id":1,"a":{"b":[1]}}',
    )
    assertProjected([['{}', document, '{"_id":1,"a":{"b":[1]}}']])
  })

  test('keeps all other fields when it includes or excludes only _id or search fields', () => {
    assertProjected([
      ['{"_id":0}', document, '{"a":{"b":[1]}}'],
      ['{"_id":false,"$lexical":true}', document, '{"a":{"b":[1]},"$lexical":"words"}'],
      ['{"$vector":1}', document, '{"_id":1,"a":{"b":[1]},"$vector":[1,2]}'],
      ['{"$vectorize":2.5}', document, '{"_id":1,"a":{"b":[1]},"$vectorize":"text"}'],
      ['{"$vector":0}', document, '{"_id":1,"a":{"b":[1]}}'],
      ['{"$vector":1}', '{"_id":1}', '{"_id":1}'],
    ])
  })

  test('includes only _id when nothing else is included', () => {
    assertProjected([
      ['{"_id":1}', document, '{"_id":1}'],
      ['{"_id":true,"$vector":0}', document, '{"_id":1}'],
      ['{"_id":1,"$vector":1}', document, '{"_id":1,"$vector":[1,2]}'],
      [
        '{"$lexical":1,"_id":1,"$vectorize":1}',
        document,
        '{"_id":1,"$vectorize":"text","$lexical":"words"}',
      ],
      ['{"_id":1}', '{"a":1}', '{}'],
    ])
  })

  test('ignores _id: 1 when it excludes or slices other fields', () => {
    assertProjected([
      ['{"_id":1,"a":0}', '{"_id":1,"a":1,"b":2}', '{"_id":1,"b":2}'],
      ['{"a":false,"_id":true}', '{"_id":1,"a":1,"b":2}', '{"_id":1,"b":2}'],
      [
        '{"_id":1,"a":{"$slice":1}}',
        '{"_id":1,"a":[1,2],"b":2}',
        '{"_id":1,"a":[1],"b":2}',
      ],
      ['{"_id":1,"a":1}', '{"_id":1,"a":1,"b":2}', '{"_id":1,"a":1}'],
    ])
  })

  test('includes everything for * with 1, and nothing for * with 0', () => {
    for (const yes of ['1', 'true', '-3', '0.5'])
      assertProjected([[`{"*":${yes}}`, document, document]])
    for (const no of ['0', 'false', '0.0'])
      assertProjected([[`{"*":${no}}`, document, '{}']])
  })

  test('lists the fields that must be read', () => {
    const summary = (projection: string) => {
      const { whole, nothing, vector, vectorize, lexical } = parseProjection(
        parseStored(projection),
      )
      const parts = { whole, nothing, vector, vectorize, lexical }
      return Object.entries(parts)
        .filter(([, wanted]) => wanted)
        .map(([name]) => name)
        .join(' ')
    }
    assert.equal(parseProjection(undefined).whole, true)
    for (const [projection, expected] of [
      ['{}', 'whole'],
      ['{"_id":1}', ''],
      ['{"$vector":0,"$lexical":false}', 'whole'],
      ['{"_id":0}', ''],
      ['{"a":1}', ''],
      ['{"a":0}', ''],
      ['{"a":{"$slice":1}}', ''],
      ['{"$vector":1}', 'vector'],
      ['{"$vectorize":1,"a":0}', 'vectorize'],
      ['{"$lexical":1,"a":1}', 'lexical'],
      ['{"*":1}', 'vector vectorize lexical'],
      ['{"*":0}', 'nothing'],
    ] as const)
      assert.equal(summary(projection), expected, projection)
  })
})

describe('an including projection', () => {
  test('includes the named fields and _id, in the order of the document', () => {
    assertProjected([
      ['{"c":1,"a":true}', '{"_id":1,"a":1,"b":2,"c":3}', '{"_id":1,"a":1,"c":3}'],
      ['{"a":1,"_id":0}', '{"_id":1,"a":1,"b":2}', '{"a":1}'],
      ['{"a":1,"$vector":1}', '{"_id":1,"b":2,"$vector":[1]}', '{"_id":1,"$vector":[1]}'],
      ['{"a":1,"$vector":0}', '{"_id":1,"a":2,"$vector":[1]}', '{"_id":1,"a":2}'],
      ['{"none":1}', '{"_id":1,"a":1}', '{"_id":1}'],
      ['{"a":12345678901234567890}', '{"a":null,"b":2}', '{"a":null}'],
    ])
  })

  test('includes fields of nested objects, whichever way the path is written', () => {
    const document = '{"_id":1,"a":{"b":{"c":1,"d":2},"e":3},"f":4}'
    const expected = '{"_id":1,"a":{"b":{"c":1}}}'
    for (const projection of [
      '{"a.b.c":1}',
      '{"a":{"b":{"c":1}}}',
      '{"a.b":{"c":1}}',
      '{"a":{"b.c":1}}',
    ])
      assertProjected([[projection, document, expected]])
    assertProjected([
      ['{"a.x":1}', document, '{"_id":1,"a":{}}'],
      ['{"a.b.d":1,"a.e":1}', document, '{"_id":1,"a":{"b":{"d":2},"e":3}}'],
    ])
  })

  test('applies to the elements of arrays, and keeps values without fields', () => {
    assertProjected([
      [
        '{"a.x":1}',
        '{"a":[{"x":1,"y":2},3,null,[{"x":4,"y":5},"s"],{"y":6}],"b":0}',
        '{"a":[{"x":1},3,null,[{"x":4},"s"],{}]}',
      ],
      ['{"a.x":1}', '{"a":5}', '{"a":5}'],
      ['{"a.x":1}', '{"a":{"$date":5}}', '{"a":{"$date":5}}'],
      ['{"a.x.y":1}', '{"a":{"x":"s","z":1}}', '{"a":{"x":"s"}}'],
      ['{"a.0":1}', '{"a":[{"x":1},{"0":2}]}', '{"a":[{},{"0":2}]}'],
    ])
  })

  test('distinguishes a dot in a name from a dot in a path', () => {
    const document = '{"a.b":1,"a":{"b":2,"c&d":3},"e&f":4}'
    assertProjected([
      ['{"a&.b":1}', document, '{"a.b":1}'],
      ['{"a.b":1}', document, '{"a":{"b":2}}'],
      ['{"a":{"c&&d":1}}', document, '{"a":{"c&d":3}}'],
      ['{"a&.b":1,"a.b":1}', document, '{"a.b":1,"a":{"b":2}}'],
    ])
  })

  test('treats names of built-in properties like others', () => {
    const document = '{"__proto__":{"constructor":1},"toString":2,"10":3,"length":[4]}'
    assertProjected([
      ['{"__proto__":1}', document, '{"__proto__":{"constructor":1}}'],
      ['{"__proto__.constructor":1}', document, '{"__proto__":{"constructor":1}}'],
      ['{"toString":1,"10":1}', document, '{"toString":2,"10":3}'],
      ['{"constructor":1,"hasOwnProperty":1}', document, '{}'],
      ['{"length.length":1}', document, '{"length":[4]}'],
    ])
  })
})

describe('an excluding projection', () => {
  test('includes all except the named fields', () => {
    assertProjected([
      ['{"a":0}', '{"_id":1,"a":1,"b":2}', '{"_id":1,"b":2}'],
      ['{"a":false,"_id":0}', '{"_id":1,"a":1,"b":2}', '{"b":2}'],
      ['{"a":0,"_id":1}', '{"_id":1,"a":1,"b":2}', '{"_id":1,"b":2}'],
      ['{"a":0,"$vector":1}', '{"_id":1,"a":1,"$vector":[1]}', '{"_id":1,"$vector":[1]}'],
      ['{"none":0}', '{"_id":1,"a":1}', '{"_id":1,"a":1}'],
    ])
  })

  test('excludes fields of nested objects and of objects in arrays, and keeps objects that become empty', () => {
    assertProjected([
      ['{"a.b":0}', '{"a":{"b":1}}', '{"a":{}}'],
      ['{"a":{"b":0,"c":0}}', '{"a":{"b":1,"c":2,"d":3}}', '{"a":{"d":3}}'],
      ['{"a.x":0}', '{"a":[{"x":1,"y":2},3,[{"x":4}]]}', '{"a":[{"y":2},3,[{}]]}'],
      ['{"a.x":0}', '{"a":7}', '{"a":7}'],
      ['{"a.x":0}', '{"a":{"$uuid":"u"}}', '{"a":{"$uuid":"u"}}'],
      ['{"a.0":0}', '{"a":[1,2]}', '{"a":[1,2]}'],
    ])
  })
})

describe('a slice', () => {
  test('takes elements from the start, from the end or from the middle of an array', () => {
    const document = '{"a":[1,2,3,4,5]}'
    for (const [argument, expected] of [
      ['2', '[1,2]'],
      ['0', '[]'],
      ['9', '[1,2,3,4,5]'],
      ['-2', '[4,5]'],
      ['-9', '[1,2,3,4,5]'],
      ['1e300', '[1,2,3,4,5]'],
      ['[1,2]', '[2,3]'],
      ['[0,0]', '[]'],
      ['[9,1]', '[]'],
      ['[-2,1]', '[4]'],
      ['[-9,2]', '[1,2]'],
      ['[-2,9]', '[4,5]'],
    ] as const)
      assertProjected([[`{"a":{"$slice":${argument}}}`, document, `{"a":${expected}}`]])
  })

  test('keeps all other fields of the document, unless fields are included as well', () => {
    const document = '{"_id":1,"a":[1,2,3],"b":{"c":[4,5],"d":6},"e":7}'
    assertProjected([
      ['{"a":{"$slice":1}}', document, '{"_id":1,"a":[1],"b":{"c":[4,5],"d":6},"e":7}'],
      ['{"a":{"$slice":1},"b":0}', document, '{"_id":1,"a":[1],"e":7}'],
      ['{"a":{"$slice":1},"e":1}', document, '{"_id":1,"a":[1],"e":7}'],
      ['{"b.c":{"$slice":-1},"e":1}', document, '{"_id":1,"b":{"c":[5]},"e":7}'],
      ['{"b":{"c":{"$slice":1}},"a":0}', document, '{"_id":1,"b":{"c":[4],"d":6},"e":7}'],
    ])
  })

  test('applies to fields of objects in arrays, and keeps values other than arrays', () => {
    assertProjected([
      [
        '{"a.x":{"$slice":1}}',
        '{"a":[{"x":[1,2]},{"x":3},4]}',
        '{"a":[{"x":[1]},{"x":3},4]}',
      ],
      ['{"a":{"$slice":1}}', '{"a":{"b":1}}', '{"a":{"b":1}}'],
      ['{"a":{"$slice":1}}', '{"b":1}', '{"b":1}'],
    ])
  })
})

describe('a projection is rejected', () => {
  function refusal(projection: string): ApiError {
    try {
      parseProjection(parseStored(projection))
    } catch (error) {
      assert(error instanceof ApiError)
      assert.equal(error.scope, 'PROJECTION')
      return error
    }
    assert.fail(`${projection} was taken`)
  }

  test('when it is not an object', () => {
    for (const [projection, type] of [
      ['null', 'Null'],
      ['["a"]', 'Array'],
      ['"a"', 'String'],
      ['1', 'Number'],
      ['true', 'Boolean'],
    ] as const) {
      const error = refusal(projection)
      assert.equal(error.code, 'UNSUPPORTED_PROJECTION_DEFINITION')
      assert.match(error.message, new RegExp(type))
    }
  })

  for (const [reason, rows] of Object.entries({
    'when it mixes inclusion and exclusion': [
      ['{"a":1,"b":0}', '"a" is included and "b" is excluded'],
      ['{"b":0,"c":{"$slice":1},"a":{"x":1}}', '"a.x" is included and "b" is excluded'],
    ],
    'when paths overlap': [
      ['{"a":1,"a.b":1}', '"a"'],
      ['{"a.b":1,"a":1}', '"a.b"'],
      ['{"a.b":0,"a":{"b":0}}', '"a.b"'],
      ['{"a":{"$slice":1},"a.b":1}', '"a"'],
      ['{"a.b.c":1,"a":{"b":1}}', '"a.b.c"'],
    ],
    'when a path is malformed': [
      ['{"":1}', 'empty'],
      ['{"a..b":1}', '"a..b"'],
      ['{".a":1}', '".a"'],
      ['{"a.":1}', '"a."'],
      ['{"a":{"":1}}', '"a."'],
      ['{"a&b":1}', '"a&b"'],
      ['{"a":{"b&":0}}', '"a.b&"'],
    ],
    'when a name starts with $ and is no search field': [
      ['{"$similarity":1}', '"$similarity"'],
      ['{"$hybrid":1}', '"$hybrid"'],
      ['{"$vector.0":1}', '"$vector.0"'],
      ['{"$slice":1}', '"$slice"'],
      ['{"a.$date":1}', '"$date"'],
      ['{"a.$vector":1}', '"$vector"'],
    ],
    'when a value means neither inclusion nor exclusion': [
      ['{"a":"yes"}', '"yes"'],
      ['{"a":null}', 'null'],
      ['{"a":[1]}', '[1]'],
      ['{"a":{"b":"no"}}', '"a.b"'],
      ['{"a":{}}', '"a"'],
      ['{"_id":"x"}', '"_id"'],
      ['{"_id":{"$slice":1}}', '"_id"'],
      ['{"$vector":{"$slice":1}}', '"$vector"'],
      ['{"*":"all"}', '"all"'],
      ['{"*":{"a":1}}', '"*"'],
    ],
    'when * is not alone or not at the top': [
      ['{"*":1,"a":1}', '"*"'],
      ['{"_id":0,"*":1}', '"*"'],
      ['{"a":{"*":1}}', '"a.*"'],
      ['{"a.*":0}', '"a.*"'],
    ],
    'when a slice is malformed or another operator is used': [
      ['{"a":{"$slice":"1"}}', '$slice'],
      ['{"a":{"$slice":1.5}}', '$slice'],
      ['{"a":{"$slice":null}}', '$slice'],
      ['{"a":{"$slice":[]}}', '$slice'],
      ['{"a":{"$slice":[1]}}', '$slice'],
      ['{"a":{"$slice":[1,2,3]}}', '$slice'],
      ['{"a":{"$slice":[1,-1]}}', '$slice'],
      ['{"a":{"$slice":[0.5,1]}}', '$slice'],
      ['{"a":{"$slice":["1",1]}}', '$slice'],
      ['{"a":{"$slice":1,"b":1}}', '"b"'],
      ['{"a":{"$elemMatch":{"x":1}}}', '"$elemMatch"'],
      ['{"a":{"$date":1}}', '"$date"'],
    ],
  } satisfies Record<string, readonly (readonly [string, string])[]>))
    test(reason, () => {
      for (const [projection, mention] of rows) {
        const error = refusal(projection)
        assert.equal(error.code, 'UNSUPPORTED_PROJECTION_PARAM', projection)
        assert(error.message.includes(mention), `${projection}: ${error.message}`)
      }
    })
})

describe('projections of any document', () => {
  const choices = fc.tuple(documents, fc.infiniteStream(fc.boolean()))

  test('divide its fields into included and excluded ones', () => {
    fc.assert(
      fc.property(choices, ([document, coin]) => {
        const names = [...document.keys()].filter(
          (name) => !name.startsWith('$') && name !== '_id' && coin.next().value === true,
        )
        fc.pre(names.length > 0)
        const all = (choice: Value) =>
          new Map([
            ['_id', choice],
            ...names.map((name) => [escapeSegment(name), choice] as const),
          ])
        const before = printJson(document)
        const included = apply(parseProjection(all(1)), document)
        const excluded = apply(parseProjection(all(0)), document)
        const regular = [...document].filter(([name]) => !name.startsWith('$'))
        assert.equal(printJson(document), before)
        for (const [name, value] of regular) {
          assert.notEqual(included.has(name), excluded.has(name))
          assert.equal(included.get(name) ?? excluded.get(name) ?? null, value)
        }
        assert.equal(included.size + excluded.size, regular.length)
      }),
      { seed },
    )
  })

  test('keep the whole document when empty', () => {
    fc.assert(
      fc.property(documents, (document) => {
        const regular = new Map([...document].filter(([name]) => !name.startsWith('$')))
        assert.deepEqual(apply(parseProjection(new Map()), document), regular)
        const whole = parseProjection(new Map([['*', 1]]))
        assert.deepEqual(apply(whole, document), document)
      }),
      { seed },
    )
  })
})
