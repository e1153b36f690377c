import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { LocalLockout } from '../../src/auth/local-lockout.ts'

const here = '203.0.113.7'

/** Creates a lockout with a manual clock. */
function lockoutAfter(failuresMax: number) {
  const clock = { ms: 0 }
  const lockout = new LocalLockout(failuresMax, () => clock.ms)
  return {
    lockout,
    clock,
    seconds: (address = here, digest = 'new') => lockout.lockedFor(address, digest),
    fail: (count = 1, address = here) => {
      for (let i = 0; i < count; i++) lockout.noteBad(address)
    },
  }
}

describe('a lockout', () => {
  test('begins when the number of failures reaches the maximum', () => {
    const { fail, seconds, clock } = lockoutAfter(3)
    fail(2)
    assert.equal(seconds(), 0)
    fail()
    assert.equal(seconds(), 1)
    clock.ms = 999
    assert.equal(seconds(), 1)
    clock.ms = 1000
    assert.equal(seconds(), 0)
  })

  test('doubles with every further failure, up to a minute', () => {
    const { fail, seconds } = lockoutAfter(3)
    fail(2)
    const pauses = Array.from({ length: 9 }, () => {
      fail()
      return seconds()
    })
    assert.deepEqual(pauses, [1, 2, 4, 8, 16, 32, 60, 60, 60])
    fail(10_000)
    assert.equal(seconds(), 60)
  })

  test('is forgotten after five minutes without failures', () => {
    const { fail, seconds, clock } = lockoutAfter(3)
    fail(20)
    clock.ms = 5 * 60_000
    fail()
    assert.equal(seconds(), 60, 'they were not quite quiet')
    clock.ms += 5 * 60_000 + 1
    fail(2)
    assert.equal(seconds(), 0)
    fail()
    assert.equal(seconds(), 1)
  })

  test('applies to one IPv4 address, however it is written, and to no other address', () => {
    const { fail, seconds } = lockoutAfter(1)
    fail()
    assert.equal(seconds(here), 1)
    assert.equal(seconds('203.0.113.8'), 0)
    assert.equal(seconds(`::ffff:${here}`), 1, 'one address in two spellings')
  })

  for (const [one, other, isSame] of [
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff::', true],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::', true],
    ['2001:db8:1:2::1', '2001:db8:1:3::1', false],
    ['::1', '::2', true],
    ['::1', '1::', false],
    ['fe80::1', 'fe80:0:0:0::9', true],
  ] as const)
    test(`treats ${one} and ${other} as ${isSame ? 'one network' : 'two networks'}`, () => {
      const { fail, seconds } = lockoutAfter(1)
      fail(1, one)
      assert.equal(seconds(other) > 0, isSame)
    })

  test('does not apply to credentials that the address has used successfully', () => {
    const { lockout, fail, seconds } = lockoutAfter(1)
    lockout.noteGood(here, 'known')
    fail(5)
    assert.equal(seconds(here, 'known'), 0)
    assert(seconds(here, 'other') > 0)
    fail(5, '203.0.113.8')
    assert(seconds('203.0.113.8', 'known') > 0, 'good here is not good there')
  })

  test('remembers a hundred valid credentials per address', () => {
    const { lockout, fail, seconds } = lockoutAfter(1)
    for (let i = 0; i <= 100; i++) lockout.noteGood(here, `good ${i}`)
    fail()
    assert.equal(seconds(here, 'good 100'), 0)
    assert.equal(seconds(here, 'good 1'), 0)
    assert.equal(seconds(here, 'good 0'), 1)
  })

  test('remembers ten thousand addresses and evicts the least recently active address', () => {
    const { fail, seconds } = lockoutAfter(1)
    const address = (i: number) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`
    for (let i = 0; i < 10_000; i++) fail(1, address(i))
    fail(1, address(0))
    fail(1, address(10_000))
    assert(seconds(address(0)) > 0)
    assert.equal(seconds(address(1)), 0)
    assert(seconds(address(10_000)) > 0)
  })

  test('never begins when it is disabled', () => {
    const { lockout, fail, seconds } = lockoutAfter(0)
    lockout.noteGood(here, 'x')
    fail(1000)
    assert.equal(seconds(), 0)
  })
})
