/** The size of a clause, counted in parts: fields, elements, and long paths. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseStored } from '../../src/json/parse.ts'
import { hasMoreParts, pathParts } from '../../src/language/filters/clause-size.ts'

describe('the parts of a clause', () => {
  test('are its fields and elements at all depths', () => {
    const clause = parseStored('{"a":{"b":[1,[2]],"c":{}},"d":3}')
    assert(!hasMoreParts(clause, 7))
    assert(hasMoreParts(clause, 6))
    assert(!hasMoreParts(1, 0))
  })

  test('include one part for every four segments and every 250 characters of a path', () => {
    assert.equal(pathParts('a', 10), 1)
    assert.equal(pathParts('a.b.c.d', 10), 1)
    assert.equal(pathParts('a.b.c.d.e', 10), 2)
    assert.equal(pathParts('a'.repeat(249), 10), 1)
    assert.equal(pathParts('a'.repeat(250), 10), 2)
    assert(pathParts('a.'.repeat(1_000_000), 10) > 10)
    assert(hasMoreParts(new Map([['a.'.repeat(50_000), 1]]), 10_000))
  })
})
