import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Recent } from '../../../src/providers/local/recent.ts'

describe('what was used lately', () => {
  test('is kept up to the bound, and what was not used the longest goes', () => {
    const recent = new Recent<number>(2)
    recent.set('a', 1)
    recent.set('b', 2)
    assert.equal(recent.get('a'), 1)
    recent.set('c', 3)
    assert.equal(recent.get('b'), undefined)
    assert.equal(recent.get('a'), 1)
    assert.equal(recent.get('c'), 3)
  })

  test('counts by weight, and keeps nothing that is too heavy by itself', () => {
    const recent = new Recent<string>(10, (value) => value.length)
    recent.set('a', 'aaaaaa')
    recent.set('b', 'bbbb')
    assert.equal(recent.get('a'), 'aaaaaa')
    recent.set('c', 'c')
    assert.equal(recent.get('b'), undefined)
    recent.set('d', 'd'.repeat(11))
    assert.equal(recent.get('d'), undefined)
  })

  test('weighs a value that is set again once', () => {
    const recent = new Recent<string>(4, (value) => value.length)
    recent.set('a', 'aaa')
    recent.set('a', 'aa')
    recent.set('b', 'bb')
    assert.equal(recent.get('a'), 'aa')
  })
})
