import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  difference,
  EntryList,
  type Entry,
} from '../../../../src/engine/embedded/format/entries.ts'
import { keyOf } from '../../../../src/language/values/key.ts'
import { fromPlain } from '../../../../src/json/plain.ts'
import type { JsonObject, Value } from '../../../../src/json/value.ts'
import { indexingRule } from '../../../../src/language/filters/indexing.ts'
import { documents, seed } from '../../../language/documents.ts'
import { atOnce } from '../../../../src/runtime/steps.ts'

const all = indexingRule(undefined)

/** Formats entries: "path = key" for values, "path has key" for elements. */
function said(list: EntryList, entries: readonly Entry[]): string[] {
  return entries.map(({ path, start, end, element }) => {
    const key = Buffer.from(list.bytes.view(start, end)).toString('hex')
    return `${path} ${element ? 'has' : '='} ${key}`
  })
}

function saidOf(plain: object, rule = all): string[] {
  const list = new EntryList()
  list.addDocument(rule.prune(fromPlain(plain) as JsonObject))
  return said(list, list.entries).sort()
}

const hex = (value: Value) => Buffer.from(keyOf(value)).toString('hex')

describe('index entries', () => {
  test('include every value under its path, except the _id', () => {
    assert.deepEqual(
      saidOf({ _id: 1, a: 1, b: { c: 'x', 'd.e': null } }),
      [
        `a = ${hex(1)}`,
        `b = ${hex(new Map())}`,
        `b.c = ${hex('x')}`,
        `b.d&.e = ${hex(null)}`,
      ].sort(),
    )
  })

  test('include each distinct element of an array under the path of the array', () => {
    assert.deepEqual(
      saidOf({ _id: 1, a: [1, 1, 'x'] }),
      [`a = ${hex([1, 1, 1])}`, `a has ${hex(1)}`, `a has ${hex('x')}`].sort(),
    )
  })

  test('include each distinct element once, for long and short arrays', () => {
    for (const count of [2, 5, 20]) {
      const array = Array.from({ length: count }, (_, i) => i)
      const expected = [`a = ${hex(array)}`, ...array.map((each) => `a has ${hex(each)}`)]
      assert.deepEqual(saidOf({ _id: 1, a: array }), expected.sort())
      const doubled = [...array, ...array]
      const once = [`a = ${hex(doubled)}`, ...array.map((each) => `a has ${hex(each)}`)]
      assert.deepEqual(saidOf({ _id: 1, a: doubled }), once.sort())
    }
  })

  test('use the whole path, so equal names at different places are distinct', () => {
    const list = new EntryList()
    for (const plain of [{ '': { a: 1 } }, { a: { a: 1, '': 2 } }, { 'a.a': 1, a: 3 }])
      list.addDocument(fromPlain(plain) as JsonObject)
    assert.deepEqual(
      list.entries.map(({ path }) => path),
      ['', '.a', 'a', 'a.a', 'a.', 'a&.a', 'a'],
    )
  })

  test('omit positions from the paths below an array', () => {
    assert.deepEqual(
      saidOf({ _id: 1, a: [{ b: 1 }, { b: 2 }, [3]] }),
      [
        `a = ${hex([1, 1, 1])}`,
        `a has ${hex(new Map())}`,
        `a has ${hex([1])}`,
        `a.&[ has ${hex(3)}`,
        `a.&[.b = ${hex(1)}`,
        `a.&[.b = ${hex(2)}`,
      ].sort(),
    )
  })

  test('include only indexed paths', () => {
    const document = { _id: 1, a: { b: 1, c: 2 }, d: [{ b: 1, c: 2 }] }
    assert.deepEqual(
      saidOf(document, indexingRule({ allow: ['a.b'] })),
      [`a = ${hex(new Map())}`, `a.b = ${hex(1)}`].sort(),
    )
    assert(
      !saidOf(document, indexingRule({ deny: ['d.c'] })).includes(`d.&[.c = ${hex(2)}`),
    )
  })

  test('are unique per path and key', () => {
    fc.assert(
      fc.property(documents, (document) => {
        const list = new EntryList()
        list.addDocument(document)
        const identities = list.entries.map((entry) => list.identity(entry))
        assert.equal(new Set(identities).size, identities.length)
      }),
      { seed, numRuns: 2000 },
    )
  })

  test('become the entries of a replaced document when the difference is applied', () => {
    fc.assert(
      fc.property(documents, documents, (before, after) => {
        const list = new EntryList()
        list.addDocument(before)
        const old = list.entries.slice()
        const fresh = list.entries.slice(list.addDocument(after))
        const { removed, added } = atOnce(difference(list, old, fresh))
        const changed = new Set(said(list, old))
        for (const gone of said(list, removed)) assert(changed.delete(gone))
        for (const come of said(list, added)) {
          assert(!changed.has(come))
          changed.add(come)
        }
        assert.deepEqual([...changed].sort(), said(list, fresh).sort())
      }),
      { seed, numRuns: 2000 },
    )
  })
})
