import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { checkId, newId, objectId, uuidV6, uuidV7 } from '../../src/collections/ids.ts'
import { idKey } from '../../src/language/values/record-id.ts'
import { isObject } from '../../src/json/value.ts'
import { json } from './json.ts'

const uuid = '0190C5A0-8D4C-7F3B-9A57-0242AC120002'

describe('ids', () => {
  test('are strings, numbers, booleans, null, dates, UUIDs or ObjectIds', () => {
    for (const id of [
      'a',
      0,
      -1.5,
      true,
      false,
      null,
      { $date: 0 },
      { $uuid: uuid },
      { $objectId: '0123456789abcdef01234567' },
    ])
      checkId(json(id))
  })

  test('cannot be empty strings', () => {
    assert.throws(() => checkId(''), { code: 'SHRED_BAD_DOCID_VALUE' })
  })

  test('cannot be arrays, objects, binary or malformed values', () => {
    for (const id of [
      [],
      ['a'],
      {},
      { a: 1 },
      { $binary: 'AAAA' },
      { $uuid: 'short' },
      { $objectId: 'zz' },
      { $date: 'today' },
      { $foo: 1 },
      { $uuid: uuid, $date: 1 },
    ])
      assert.throws(
        () => checkId(json(id)),
        { code: 'SHRED_BAD_DOCID_TYPE' },
        JSON.stringify(id),
      )
  })

  test('that are UUIDs or ObjectIds equal their plain text in lower case', () => {
    const lower = idKey(uuid.toLowerCase())
    assert.equal(idKey(json({ $uuid: uuid })), lower)
    assert.notEqual(idKey(uuid), lower)
    const oid = '0123456789abcdef01234567'
    assert.equal(idKey(json({ $objectId: oid.toUpperCase() })), idKey(oid))
  })

  test('differ for different types even with equal texts', () => {
    const ids = ['1', 1, true, 'true', null, 'null', { $date: 1 }, 2]
    assert.equal(new Set(ids.map((id) => idKey(json(id)))).size, ids.length)
  })

  test('are compared by value when they are numbers', () => {
    assert.equal(idKey(1e2), idKey(100))
  })
})

describe('generated ids', () => {
  const uuidText = (version: number) =>
    new RegExp(
      `^[0-9a-f]{8}-[0-9a-f]{4}-${version}[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`,
    )

  test('are plain UUIDs of version 4 by default', () => {
    assert.match(newId(undefined) as string, uuidText(4))
  })

  test('have the type that the collection defines', () => {
    for (const [type, name, pattern] of [
      ['uuid', '$uuid', uuidText(4)],
      ['uuidv6', '$uuid', uuidText(6)],
      ['uuidv7', '$uuid', uuidText(7)],
      ['objectId', '$objectId', /^[0-9a-f]{24}$/],
    ] as const) {
      const id = newId(type)
      assert(isObject(id))
      assert.deepEqual([...id.keys()], [name])
      assert.match(id.get(name) as string, pattern)
      checkId(id)
    }
  })

  for (const [name, make] of Object.entries({ uuidV6, uuidV7, objectId })) {
    test(`increase even when the clock stops or steps back: ${name}`, () => {
      const now = Date.now()
      const times = [...Array<number>(10_000).fill(now), now - 5_000, now + 1, now + 2_000]
      const ids = times.map((time) => make(time))
      assert.deepEqual(ids, ids.toSorted())
      assert.equal(new Set(ids).size, ids.length)
    })
  }

  test('contain the time when their type contains a time', () => {
    const soon = Date.now() + 60_000
    assert.equal(parseInt(uuidV7(soon).replaceAll('-', '').slice(0, 12), 16), soon)
    assert.equal(parseInt(objectId(soon).slice(0, 8), 16), Math.floor(soon / 1000))
    const v6 = uuidV6(soon).replaceAll('-', '')
    const ticks = BigInt(`0x${v6.slice(0, 12)}${v6.slice(13, 16)}`)
    assert.equal(Number((ticks - 122_192_928_000_000_000n) / 10_000n), soon)
  })
})
