import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { LruCache } from '../../../src/providers/local/lru-cache.ts'

describe('what was used lately', () => {
  test('is kept up to the bound, and what was not used the longest goes', () => {
    const cache = new LruCache<number>(2)
    cache.set('a', 1)
    cache.set('b', 2)
    assert.equal(cache.get('a'), 1)
    cache.set('c', 3)
    assert.equal(cache.get('b'), undefined)
    assert.equal(cache.get('a'), 1)
    assert.equal(cache.get('c'), 3)
  })

  test('counts by weight, and keeps nothing that is too heavy by itself', () => {
    const cache = new LruCache<string>(10, (value) => value.length)
    cache.set('a', 'aaaaaa')
    cache.set('b', 'bbbb')
    assert.equal(cache.get('a'), 'aaaaaa')
    cache.set('c', 'c')
    assert.equal(cache.get('b'), undefined)
    cache.set('d', 'd'.repeat(11))
    assert.equal(cache.get('d'), undefined)
  })

  test('weighs a value that is set again once', () => {
    const cache = new LruCache<string>(4, (value) => value.length)
    cache.set('a', 'aaa')
    cache.set('a', 'aa')
    cache.set('b', 'bb')
    assert.equal(cache.get('a'), 'aa')
  })
})
