import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type {
  ColumnType,
  ElementType,
  UserTypes,
} from '../../../src/language/columns/column-type.ts'
import {
  BadValue,
  isShownAsStored,
  readElement,
  readValue,
  shownForm,
} from '../../../src/language/columns/values.ts'
import { parseStored } from '../../../src/json/parse.ts'
import { printJson } from '../../../src/json/print.ts'
import type { Value } from '../../../src/json/value.ts'
import { seed } from '../documents.ts'
import { samples, writable } from './samples.ts'

console.log(`SEED=${seed}`)

const types: UserTypes = [
  {
    name: 'address',
    fields: [
      { name: 'city', type: 'text' },
      { name: 'number', type: 'int' },
    ],
  },
  {
    name: 'place',
    fields: [
      { name: 'town', type: 'text' },
      { name: 'size', type: 'varint' },
    ],
  },
]

const address = { type: 'userDefined', udtName: 'address' } as const
const place = { type: 'userDefined', udtName: 'place' } as const

const list = (valueType: ElementType): ColumnType => ({ type: 'list', valueType })
const set = (valueType: ElementType): ColumnType => ({ type: 'set', valueType })
const map = (
  keyType: (ColumnType & { type: 'map' })['keyType'],
  valueType: ElementType,
): ColumnType => ({ type: 'map', keyType, valueType })

function read(type: ColumnType, json: string): Value | undefined | BadValue {
  return readValue(type, parseStored(json), types)
}

/** The stored form of a collection as JSON text, or "nothing" if it is not stored. */
function kept(type: ColumnType, json: string): string {
  const stored = read(type, json)
  if (stored instanceof BadValue) assert.fail(`refuses ${json}: ${stored.problem}`)
  return stored === undefined ? 'nothing' : printJson(stored)
}

function problemOf(type: ColumnType, json: string): string {
  const stored = read(type, json)
  if (!(stored instanceof BadValue)) assert.fail(`takes ${json}`)
  return stored.problem
}

describe('lists', () => {
  test('keep order and duplicates', () => {
    assert.equal(kept(list('int'), '[2,1,2.0]'), '[2,1,2]')
    assert.equal(kept(list('timestamp'), '[{"$date":0}]'), '["1970-01-01T00:00:00Z"]')
  })

  test('have elements of the declared type, and no nulls', () => {
    assert.equal(
      problemOf(list('int'), '[1,"2"]'),
      'has the element "2" at position 1, which is of type String, but an int must be a whole number ' +
        'from -2147483648 to 2147483647',
    )
    assert.match(problemOf(list('int'), '[null]'), /^has the element null at position 0/)
    assert.match(problemOf(list('int'), '[[1]]'), /^has the element \[1\] at position 0/)
    assert.equal(
      problemOf(list('int'), '{}'),
      'is of type Object, but a list must be an array',
    )
  })
})

describe('sets', () => {
  test('are sorted by the order of the type, without duplicates', () => {
    assert.equal(kept(set('int'), '[1,2,-42]'), '[-42,1,2]')
    assert.equal(kept(set('int'), '[10,9,1e1,9.0]'), '[9,10]')
    assert.equal(kept(set('text'), '["b","a","B","b"]'), '["B","a","b"]')
    assert.equal(
      kept(set('double'), '["NaN",1,"-Infinity","Infinity","NaN",0]'),
      '["-Infinity",0,1,"Infinity","NaN"]',
    )
    assert.equal(
      kept(set('date'), '["+10000-01-01","2024-01-01","-0001-01-01"]'),
      '["-0001-01-01","2024-01-01","+10000-01-01"]',
    )
    assert.equal(
      kept(set('time'), '["12:30:00","12:30","12:29:59.5"]'),
      '["12:29:59.500","12:30"]',
    )
    assert.equal(
      kept(set('inet'), '["10.0.0.1","9.1","9.0.0.1"]'),
      '["9.0.0.1","10.0.0.1"]',
    )
    assert.equal(kept(set('duration'), '["60s","1m","PT60S"]'), '["PT1M"]')
    assert.equal(kept(set('boolean'), '[true,false,true]'), '[false,true]')
  })

  test('with user-defined values are sorted by the fields of the values in order, null first', () => {
    assert.equal(
      kept(
        set(address),
        '[{"city":"b"},{"city":"a","number":10},{"number":7},{"number":9,"city":"a"},{},{"city":"b"}]',
      ),
      '[{},{"number":7},{"city":"a","number":9},{"city":"a","number":10},{"city":"b"}]',
    )
  })

  test('have elements of the declared type, and no nulls', () => {
    assert.match(problemOf(set('int'), '[1,null]'), /^has the element null at position 1/)
    assert.equal(
      problemOf(set('int'), '1'),
      'is of type Number, but a set must be an array',
    )
  })
})

describe('maps', () => {
  test('with text keys are objects, whichever form was written', () => {
    assert.equal(kept(map('text', 'int'), '{"b":1,"a":2.0,"10":3}'), '{"10":3,"a":2,"b":1}')
    assert.equal(kept(map('ascii', 'int'), '[["b",1],["a",2]]'), '{"a":2,"b":1}')
    assert.equal(kept(map('text', 'int'), '{"__proto__":1}'), '{"__proto__":1}')
  })

  test('with other keys are pairs, in the order of the keys', () => {
    assert.equal(kept(map('int', 'text'), '[[10,"a"],[9,"b"]]'), '[[9,"b"],[10,"a"]]')
    assert.equal(
      kept(map('inet', 'int'), '{"10.1":1,"9.1":2}'),
      '[["9.0.0.1",2],["10.0.0.1",1]]',
    )
    assert.equal(kept(map('date', 'int'), '{"2024-01-01":1}'), '[["2024-01-01",1]]')
    assert.equal(kept(map('time', 'int'), '{"12:30:00":1}'), '[["12:30",1]]')
    assert.equal(
      kept(map('timestamp', 'int'), '[[{"$date":0},1]]'),
      '[["1970-01-01T00:00:00Z",1]]',
    )
    assert.equal(
      kept(map('blob', 'boolean'), '[[{"$binary":"AQ=="},true]]'),
      '[[{"$binary":"AQ=="},true]]',
    )
  })

  test('with keys that are written as strings can be objects', () => {
    for (const keyType of ['uuid', 'date', 'time', 'timestamp', 'inet'] as const)
      assert.match(
        problemOf(map(keyType, 'int'), '{"x!":1}'),
        new RegExp(`^has the key "x!", which is not valid: an? ${keyType} must be`),
      )
  })

  test('with keys of other types are written as pairs', () => {
    for (const keyType of [
      'int',
      'double',
      'boolean',
      'blob',
      'decimal',
      'varint',
    ] as const)
      assert.equal(
        problemOf(map(keyType, 'int'), '{"1":1}'),
        `is of type Object, but a map with keys of type ${keyType} must be an array of pairs ` +
          '[key, value]',
      )
  })

  test('have each key once', () => {
    assert.equal(problemOf(map('int', 'int'), '[[1,1],[1.0,2]]'), 'has the key 1 twice')
    assert.equal(
      problemOf(map('inet', 'int'), '{"localhost":1,"127.1":1}'),
      'has the key "127.0.0.1" twice',
    )
    assert.equal(
      problemOf(map('text', 'int'), '[["a",1],["a",1]]'),
      'has the key "a" twice',
    )
  })

  test('have neither null keys nor null values', () => {
    assert.match(
      problemOf(map('text', 'int'), '{"a":null}'),
      /^has the value null for the key "a"/,
    )
    assert.match(problemOf(map('int', 'int'), '[[null,1]]'), /^has the key null/)
  })

  test('that are written as arrays must consist of pairs', () => {
    for (const json of ['[1]', '[["a"]]', '[["a",1,2]]', '[{"a":1}]', '["ab"]'])
      assert.match(problemOf(map('text', 'int'), json), /at position 0, but a map must be/)
    for (const json of ['1', '"a"', 'true'])
      assert.match(
        problemOf(map('text', 'int'), json),
        /^is of type \w+, but a map must be/,
      )
  })
})

describe('empty collections', () => {
  test('are not stored', () => {
    assert.equal(kept(list('int'), '[]'), 'nothing')
    assert.equal(kept(set('int'), '[]'), 'nothing')
    assert.equal(kept(map('text', 'int'), '{}'), 'nothing')
    assert.equal(kept(map('int', 'int'), '{}'), 'nothing')
    for (const type of [list('int'), set('int'), map('text', 'int'), address])
      assert.equal(kept(type, 'null'), 'nothing')
  })

  test('that are maps must be written as objects', () => {
    assert.match(problemOf(map('text', 'int'), '[]'), /^is an empty array/)
    assert.match(problemOf(map('int', 'int'), '[]'), /^is an empty array/)
  })
})

describe('user-defined values', () => {
  test('have fields in the order of the type, without nulls', () => {
    assert.equal(kept(address, '{"number":5.0,"city":"x"}'), '{"city":"x","number":5}')
    assert.equal(kept(address, '{"city":null,"number":5}'), '{"number":5}')
    assert.equal(kept(address, '[["number",5],["city","x"]]'), '{"city":"x","number":5}')
  })

  test('are not stored if all fields are null, except in lists, sets and maps', () => {
    assert.equal(kept(address, '{}'), 'nothing')
    assert.equal(kept(address, '{"city":null}'), 'nothing')
    assert.equal(kept(list(address), '[{},{"city":null}]'), '[{},{}]')
    assert.equal(kept(map('text', address), '{"a":{}}'), '{"a":{}}')
    assert.deepEqual(readElement(address, new Map(), types), new Map())
  })

  test('reject unknown fields', () => {
    assert.equal(
      problemOf(address, '{"town":null}'),
      'has the field "town", which address does not have; its fields are "city", "number"',
    )
    assert.match(problemOf(address, '{"__proto__":1}'), /^has the field "__proto__"/)
  })

  test('reject fields of wrong types', () => {
    assert.match(
      problemOf(address, '{"number":"5"}'),
      /^has the value "5" in the field "number", which is of type String, but an int must be/,
    )
    assert.match(
      problemOf(list(address), '[{"number":1.5}]'),
      /^has the element \{"number":1\.5\} at position 0, which has the value 1\.5 in the field "number", which/,
    )
  })

  test('that are written as pairs must have valid and distinct field names', () => {
    assert.equal(
      problemOf(address, '[["city","a"],["city","a"]]'),
      'has the field "city" twice',
    )
    assert.match(problemOf(address, '[[1,"a"]]'), /^has the field name 1/)
    assert.match(problemOf(address, '["city"]'), /^has "city" at position 0/)
    assert.match(problemOf(address, '[]'), /^is an empty array/)
    assert.match(
      problemOf(address, '"x"'),
      /^is of type String, but address must be an object/,
    )
  })

  test('require an existing type', () => {
    assert.throws(() => readValue({ type: 'userDefined', udtName: 'x' }, new Map(), types))
  })
})

describe('collections of every type', () => {
  const twice = (type: ColumnType, input: Value) => {
    const stored = readValue(type, input, types)
    if (stored === undefined) return
    // Random keys of a map may be equal. Then the map is invalid, and the error says so.
    if (stored instanceof BadValue) {
      assert(type.type === 'map' && stored.problem.endsWith(' twice'), stored.problem)
      return
    }
    const text = printJson(stored)
    const again = readValue(type, parseStored(text), types)
    assert(again !== undefined && !(again instanceof BadValue), text)
    assert.equal(printJson(again), text)
  }

  for (const name of writable)
    test(`with elements of type ${name} can be read from their stored form`, () => {
      const inputs = fc.array(
        samples[name].of.map(({ input }) => input),
        { maxLength: 5 },
      )
      fc.assert(
        fc.property(inputs, (elements) => {
          twice(list(name), elements)
          twice(set(name), elements)
          if (elements.length === 0) return
          twice(
            map('int', name),
            elements.map((element, position) => [position, element]),
          )
          twice(
            map(name, 'int'),
            elements.map((element, position) => [element, position]),
          )
        }),
        { seed, numRuns: 100 },
      )
    })
})

describe('stored values', () => {
  const shown = (type: ColumnType, json: string) => {
    const stored = read(type, json) as Value
    assert.deepEqual(parseStored(printJson(stored)), stored)
    return printJson(shownForm(type, stored, types))
  }

  test('are returned unchanged', () => {
    for (const type of [list('int'), map('int', 'int'), address, set(address)])
      assert(isShownAsStored(type, types))
    assert.equal(shown(address, '{"number":1,"city":"x"}'), '{"city":"x","number":1}')
    assert.equal(shown(list(address), '[{"city":"x"},{}]'), '[{"city":"x"},{}]')
    assert.equal(shown(map('text', address), '{"a":{"city":"x"}}'), '{"a":{"city":"x"}}')
    assert.equal(shown(map('int', address), '[[1,{"city":"x"}]]'), '[[1,{"city":"x"}]]')
  })

  test('include all digits of a varint', () => {
    const long = `1${'0'.repeat(25)}`
    assert.equal(kept({ type: 'varint' }, '1e25'), '1e+25')
    for (const type of [list('varint'), set('varint')]) {
      assert(!isShownAsStored(type, types))
      assert.equal(shown(type, '[1e25]'), `[${long}]`)
    }
    assert(!isShownAsStored(map('varint', 'int'), types))
    assert.equal(shown(map('varint', 'varint'), '[[1e25,-1e25]]'), `[[${long},-${long}]]`)
    assert.equal(shown(map('text', 'varint'), '{"a":1e25}'), `{"a":${long}}`)
    for (const type of [place, list(place), set(place), map('int', place)])
      assert(!isShownAsStored(type, types))
    assert.equal(shown(place, '{"size":1e25}'), `{"size":${long}}`)
  })
})
