/**
 * The memory that a command reserves for reads and values in addition to its body, and how it waits
 * for memory.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { CallMemory } from '../../src/http/call-memory.ts'
import { LocalFairShare } from '../../src/http/local-fair-share.ts'
import { defaultLimits, fixedLimits } from '../../src/limits.ts'

/** The memory for replies and for values, and calls that share this memory. */
class World {
  readonly replyRoom: LocalFairShare
  readonly valueRoom: LocalFairShare
  readonly #leaving = new AbortController()

  constructor(replies: number, values = 1_000) {
    this.replyRoom = new LocalFairShare(replies, { littleMax: 0 })
    this.valueRoom = new LocalFairShare(values)
  }

  call({
    onlyReads = true,
    principalName = 'ann',
    connection = undefined as object | undefined,
  } = {}) {
    const { signal } = this.#leaving
    return new CallMemory(
      {
        ...{ principalName, sharedConnection: connection, onlyReads, signal },
        check: () => signal.throwIfAborted(),
        noRoomFor: (what) => new Error(`no room for ${what}`),
      },
      { replyRoom: this.replyRoom, valueRoom: this.valueRoom, limits: defaultLimits },
    )
  }

  /** Aborts all waiting calls. */
  leave(): void {
    this.#leaving.abort(new Error('left'))
  }
}

describe('memory for the reads of a command', () => {
  test('is reserved at once when available, and the unused part is released', () => {
    const world = new World(1_000)
    const call = world.call()
    assert.equal(call.reserve(300, 0), undefined)
    assert.equal(call.reserve(400, 300), undefined)
    assert.equal(world.replyRoom.held, 400)
    assert(call.holdReply(100, 100))
    assert.equal(world.replyRoom.held, 100)
    // A text with non-ASCII characters takes two bytes per character.
    assert(call.holdReply(100, 101))
    assert.equal(world.replyRoom.held, 200)
    call.end()
    assert.equal(world.replyRoom.held, 0)
  })

  test('is not held while a call waits for more, so that two calls cannot deadlock', async () => {
    const world = new World(1_000)
    const calls = [world.call(), world.call()]
    for (const call of calls) assert.equal(call.reserve(300, 0), undefined)
    // Each call holds 300 bytes and needs 500. The first call that asks releases its 300 bytes
    // while it waits.
    const waiting = calls[0]!.reserve(500, 300)
    assert(waiting instanceof Promise)
    assert.equal(world.replyRoom.held, 300)
    const second = calls[1]!.reserve(500, 300)
    assert(second instanceof Promise)
    await waiting
    assert.equal(world.replyRoom.held, 500)
    calls[0]!.end()
    await second
    assert.equal(world.replyRoom.held, 500)
    calls[1]!.end()
    assert.equal(world.replyRoom.held, 0)
  })

  test('is granted in order within a principal, and independently of other principals', async () => {
    const world = new World(1_000)
    const first = world.call()
    assert.equal(first.reserve(500, 0), undefined)
    const large = world.call().reserve(500, 0)
    const small = world.call().reserve(50, 0)
    assert(large instanceof Promise && small instanceof Promise)
    assert.equal(world.call({ principalName: 'bob' }).reserve(50, 0), undefined)
    first.end()
    await Promise.all([large, small])
    assert.equal(world.replyRoom.held, 600)
  })

  test('is always granted to a call that may already have written', () => {
    const world = new World(1_000)
    const call = world.call({ onlyReads: false })
    assert.equal(call.reserve(500, 0), undefined)
    assert.equal(call.reserve(500, 0), undefined)
    assert.equal(call.reserve(500, 0), undefined)
    assert.equal(world.replyRoom.held, 1_500)
    call.end()
    assert.equal(world.replyRoom.held, 0)
  })

  test('is granted at any size when no other call holds memory', () => {
    const world = new World(1_000)
    for (const connection of [undefined, {}]) {
      const call = world.call({ connection })
      assert.equal(call.reserve(100_000, 0), undefined)
      assert(call.holdReply(1_000, 1_000))
      call.end()
    }
  })

  test('is not reserved for a call that has ended or whose client has disconnected', async () => {
    const world = new World(1_000)
    const first = world.call()
    assert.equal(first.reserve(500, 0), undefined)
    const second = world.call()
    const waiting = second.reserve(500, 0)!
    second.end()
    const third = world.call()
    const left = third.reserve(500, 0)!
    first.end()
    await assert.rejects(waiting, /no room for reply/)
    await left
    assert.equal(world.replyRoom.held, 500)
    const fourth = world.call().reserve(500, 0)!
    world.leave()
    await assert.rejects(fourth, /left/)
    third.end()
    assert.equal(world.replyRoom.held, 0)
  })
})

describe('values', () => {
  test('hold memory until it is released', async () => {
    const world = new World(1_000)
    const [one, other] = [world.call(), world.call()]
    const release = await one.borrow(500)
    const waiting = other.borrow(500)
    assert.equal(world.valueRoom.held, 500)
    assert.equal(world.valueRoom.waiting, 1)
    release()
    const giveBackOther = await waiting
    assert.equal(world.valueRoom.held, 500)
    giveBackOther()
    giveBackOther()
    assert.equal(world.valueRoom.held, 0)
  })

  test('parsed from a body hold memory until the command has ended', async () => {
    const world = new World(1_000)
    const call = world.call()
    await call.takeForBody(10_000)
    assert.equal(world.valueRoom.held, 500)
    call.endBody()
    assert.equal(world.valueRoom.held, 0)
  })

  test('parsed from documents do not wait for memory that another body holds', async () => {
    const world = new World(1_000)
    const calls = [world.call(), world.call({ principalName: 'bob' })]
    for (const call of calls) await call.takeForBody(500)
    // Each call holds half of the memory for values, and borrows more than the remaining memory.
    for (const call of calls) (await call.borrow(500))()
    for (const call of calls) call.end()
    assert.equal(world.valueRoom.held, 0)
  })

  test('are rejected for a lack of memory for values when too many requests wait for it', async () => {
    const world = new World(1_000)
    await world.call().borrow(500)
    const waiting = Array.from({ length: fixedLimits.roomWaitersMax }, () =>
      world.call().borrow(500),
    )
    await assert.rejects(world.call().borrow(500), /no room for values/)
    await assert.rejects(world.call().takeForBody(500), /no room for values/)
    world.leave()
    for (const wait of waiting) await assert.rejects(wait, /left/)
  })

  test('hold no memory after their client has disconnected', async () => {
    const world = new World(1_000)
    const release = await world.call().borrow(500)
    const waiting = world.call().borrow(500)
    world.leave()
    await assert.rejects(waiting, /left/)
    release()
    assert.equal(world.valueRoom.held, 0)
  })
})
