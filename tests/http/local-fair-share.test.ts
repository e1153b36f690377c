import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { MemoryHolder } from '../../src/http/fair-share.ts'
import { LocalFairShare } from '../../src/http/local-fair-share.ts'

function taker(principalName: string, sharedConnection?: object): MemoryHolder {
  return { principalName, sharedConnection }
}

const ann = taker('ann')
const bob = taker('bob')

/** Takes `amount` repeatedly until the share is used up. Returns how often it succeeded. */
function takeAll(share: LocalFairShare, who: MemoryHolder, amount = 1): number {
  let count = 0
  while (share.take(who, amount)) count++
  return count
}

const never = new AbortController().signal

describe('a share', () => {
  test('is three quarters of the total for a single principal', () => {
    const share = new LocalFairShare(1_000)
    assert.equal(takeAll(share, ann), 750)
    assert.equal(share.held, 750)
    assert.equal(share.heldBy('ann'), 750)
  })

  test('leaves capacity for the next principal, however many principals there are', () => {
    const share = new LocalFairShare(1_000)
    const counts = ['a', 'b', 'c', 'd', 'e'].map((name) => takeAll(share, taker(name)))
    assert.deepEqual(counts, [750, 188, 47, 12, 3])
  })

  test('is the whole capacity when the capacity is at most 3', () => {
    for (const total of [1, 2, 3])
      assert.equal(takeAll(new LocalFairShare(total), ann), total, `${total}`)
    assert.equal(takeAll(new LocalFairShare(4), ann), 3)
  })

  test('grows again when others release their amounts', () => {
    const share = new LocalFairShare(100)
    assert(share.take(bob, 40))
    assert.equal(takeAll(share, ann), 45)
    share.release(bob, 40)
    assert.equal(takeAll(share, ann), 30)
  })

  test('allows the whole capacity to a principal that holds nothing', () => {
    const share = new LocalFairShare(100)
    assert.equal(share.take(ann, 101), false)
    assert.equal(share.take(ann, 100), true)
    assert.equal(share.take(bob, 1), false)
    share.release(ann, 100)
    assert.equal(share.held, 0)
  })

  test('may be exceeded by forced amounts, and then grants nothing', () => {
    const share = new LocalFairShare(100)
    share.force(ann, 150)
    assert.equal(share.hasRoom(bob, 1), false)
    share.release(ann, 150)
    assert.equal(share.hasRoom(bob, 100), true)
  })

  test('leaves capacity for others, whatever amounts are taken', () => {
    const share = new LocalFairShare(640)
    for (const amount of [160, 320])
      assert.equal(share.take(ann, amount), true, `${amount}`)
    assert.equal(share.take(ann, 100), false)
    assert.equal(share.take(bob, 160), true)
    for (const who of [ann, bob]) share.release(who, share.heldBy(who.principalName))
    assert.equal(share.take(ann, 320), true)
    assert.equal(share.take(ann, 320), false)
    assert.equal(share.take(ann, 160), true)
  })

  test('counts the amount that a request already holds only once', () => {
    const share = new LocalFairShare(800, { littleMax: 10 })
    const one = taker('ann', {})
    assert(share.take(one, 10))
    assert(share.take(one, 90))
    assert.equal(share.take(one, 90), false)
    assert.equal(share.take(one, 90, 90), true)
  })

  test('per connection is an eighth of the total, or the first amount of the connection when that is larger', () => {
    const share = new LocalFairShare(800)
    const [one, two] = [taker('ann', {}), taker('ann', {})]
    assert.equal(takeAll(share, one), 100)
    assert.equal(takeAll(share, two), 100)
    share.release(one, 100)
    assert.equal(share.take(one, 300), true)
    assert.equal(share.take(one, 1), false)
  })
})

describe('requests that wait for capacity', () => {
  test('get it in the order of arrival when it is released', async () => {
    const share = new LocalFairShare(100)
    assert(share.take(ann, 75))
    const order: string[] = []
    const wait = async (name: string, amount: number) => {
      assert(await share.takeWithin(ann, amount, 60_000, never))
      order.push(name)
    }
    // After the release of 10, the second request would fit, but it must not overtake the first.
    const all = [wait('large', 70), wait('small', 1)]
    assert.equal(share.waiting, 2)
    share.release(ann, 10)
    assert.equal(share.waiting, 2)
    share.release(ann, 65)
    await Promise.all(all)
    assert.deepEqual(order, ['large', 'small'])
    assert.equal(share.held, 71)
    assert.equal(share.waiting, 0)
  })

  test('do not delay requests of another principal', async () => {
    const share = new LocalFairShare(100)
    assert(share.take(ann, 75))
    const waiting = share.takeWithin(ann, 70, 60_000, never)
    assert.equal(await share.takeWithin(bob, 10, 60_000, never), true)
    share.release(bob, 10)
    share.release(ann, 75)
    assert.equal(await waiting, true)
  })

  test('do not delay requests of another connection', async () => {
    const share = new LocalFairShare(80)
    const [one, two] = [taker('ann', {}), taker('ann', {})]
    assert(share.take(one, 10))
    const waiting = share.takeWithin(one, 5, 60_000, never)
    assert.equal(await share.takeWithin(two, 5, 60_000, never), true)
    share.release(one, 10)
    assert.equal(await waiting, true)
  })

  test('end without capacity at their timeout or when they are aborted', async () => {
    const share = new LocalFairShare(10)
    assert(share.take(ann, 10))
    assert.equal(await share.takeWithin(bob, 1, 1, never), false)
    const left = new AbortController()
    const waiting = share.takeWithin(bob, 1, 60_000, left.signal)
    left.abort()
    assert.equal(await waiting, false)
    assert.equal(await share.takeWithin(bob, 1, 60_000, left.signal), false)
    assert.equal(share.waiting, 0)
    assert.equal(share.held, 10)
  })

  test('have a maximum number per principal', async () => {
    const share = new LocalFairShare(10, { waitersMax: 2 })
    assert(share.take(ann, 10))
    const waiting = [bob, bob, ann].map((holder) =>
      share.takeWithin(holder, 1, 60_000, never),
    )
    assert.equal(await share.takeWithin(bob, 1, 60_000, never), false)
    share.release(ann, 10)
    assert.deepEqual(await Promise.all(waiting), [true, true, true])
  })
})
