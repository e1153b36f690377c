import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { LruCache } from '../../../src/providers/local/lru-cache.ts'

describe('the LRU cache', () => {
  test('evicts the least recently used entry above its limit', () => {
    const cache = new LruCache<number>(2)
    cache.set('a', 1)
    cache.set('b', 2)
    assert.equal(cache.get('a'), 1)
    cache.set('c', 3)
    assert.equal(cache.get('b'), undefined)
    assert.equal(cache.get('a'), 1)
    assert.equal(cache.get('c'), 3)
  })

  test('counts weights, and does not admit an entry that exceeds the limit', () => {
    const cache = new LruCache<string>(10, (value) => value.length)
    cache.set('a', 'aaaaaa')
    cache.set('b', 'bbbb')
    assert.equal(cache.get('a'), 'aaaaaa')
    cache.set('c', 'c')
    assert.equal(cache.get('b'), undefined)
    cache.set('d', 'd'.repeat(11))
    assert.equal(cache.get('d'), undefined)
  })

  test('counts a replaced value once', () => {
    const cache = new LruCache<string>(4, (value) => value.length)
    cache.set('a', 'aaa')
    cache.set('a', 'aa')
    cache.set('b', 'bb')
    assert.equal(cache.get('a'), 'aa')
  })
})
