import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { extendedOf, isExtended } from '../../src/json/extended.ts'
import type { Extended } from '../../src/json/extended.ts'
import { parseStored } from '../../src/json/parse.ts'

const read = (text: string): Extended | undefined => extendedOf(parseStored(text))

describe('extendedOf', () => {
  test('reads dates', () => {
    assert.deepEqual(read('{"$date":1700000000000}'), { kind: 'date', ms: 1700000000000 })
    assert.deepEqual(read('{"$date":-1e3}'), { kind: 'date', ms: -1000 })
    assert.deepEqual(read('{"$date":-0}'), { kind: 'date', ms: 0 })
    assert.deepEqual(extendedOf(new Map([['$date', -0]])), { kind: 'date', ms: 0 })
  })

  test('reads identifiers in lower case', () => {
    assert.deepEqual(read('{"$uuid":"018E65C9-E33D-749B-9386-E848739582F0"}'), {
      kind: 'uuid',
      text: '018e65c9-e33d-749b-9386-e848739582f0',
    })
    assert.deepEqual(read('{"$objectId":"6672E1CBD7FABB4E5493916F"}'), {
      kind: 'objectId',
      text: '6672e1cbd7fabb4e5493916f',
    })
  })

  test('reads base64 unchanged', () => {
    for (const base64 of ['', 'AAAA', 'PszMzQ==', 'aGVsbG8=', '+/+/'])
      assert.deepEqual(read(`{"$binary":"${base64}"}`), { kind: 'binary', base64 })
  })

  test('names the wrapper whose content is invalid', () => {
    const malformed = {
      $date: ['1.5', '"2020-01-01"', 'null', '1e400', '9007199254740993', '[1]', 'true'],
      $uuid: ['1', '""', '"018e65c9e33d749b9386e848739582f0"', '{}'],
      $objectId: ['1', '"6672e1cbd7fabb4e5493916"', '"6672e1cbd7fabb4e5493916g"', 'null'],
      $binary: [
        '1',
        '"A"',
        '"AA"',
        '"AAA"',
        '"A==="',
        '"===="',
        '"AA=A"',
        '"A-_A"',
        '"AAA\\n"',
      ],
    }
    for (const [wrapper, contents] of Object.entries(malformed))
      for (const content of contents) {
        const extended = read(`{"${wrapper}":${content}}`)
        assert(extended?.kind === 'malformed', `${wrapper} ${content}`)
        assert.equal(extended.wrapper, wrapper)
        assert.notEqual(extended.expected, '')
      }
  })

  test('ignores all other values', () => {
    for (const text of [
      ...[
        '1',
        '"$date"',
        'null',
        '[]',
        '{}',
        '{"date":1}',
        '{"$dates":1}',
        '{"$vector":[1]}',
      ],
      ...[
        '{"$date":1,"a":2}',
        '{"a":2,"$date":1}',
        '[{"$date":1}]',
        '{"$Date":1}',
        '1e400',
      ],
    ])
      assert.equal(read(text), undefined, text)
  })
})

describe('isExtended', () => {
  test('returns true for every wrapper, malformed ones included', () => {
    assert(isExtended(parseStored('{"$date":1}')))
    assert(isExtended(parseStored('{"$date":"x"}')))
    assert(!isExtended(parseStored('{"date":1}')))
  })
})
