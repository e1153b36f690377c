import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { sliceMs } from '../../src/caller/caller.ts'
import { Turns } from '../../src/http/turns.ts'

/** A manual clock, and requests that occupy the event loop for given times on this clock. */
class World {
  now = 0
  readonly turns = new Turns(() => this.now)
  readonly order: string[] = []

  /** A request that occupies the event loop for these milliseconds, in one slice after another. */
  async request(
    name: string,
    principalName: string,
    slices: readonly number[],
    connection: object = {},
  ): Promise<void> {
    for (const ms of slices) {
      const turn = this.turns.pause({ principalName, connection })
      if (turn !== undefined) await turn
      this.order.push(name)
      this.now += ms
    }
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

describe('turns of the event loop', () => {
  test('delay no request until a slice is used up', async () => {
    const { turns } = new World()
    for (let i = 0; i < 100; i++)
      assert.equal(turns.pause({ principalName: `${i}`, connection: {} }), undefined)
    await nextTurn()
  })

  test('run a slice of one principal before most earlier requests of another', async () => {
    const world = new World()
    const all = Array.from({ length: 10 }, (_, i) =>
      world.request(`${i}`, 'many', [sliceMs]),
    )
    all.push(world.request('other', 'other', [sliceMs]))
    assert.deepEqual(world.order, ['0'])
    await Promise.all(all)
    assert.equal(world.order.indexOf('other'), 2)
  })

  test('also apply to work that continues after an asynchronous wait', async () => {
    const world = new World()
    const engine = Promise.withResolvers<undefined>()
    const readers = Array.from({ length: 10 }, async (_, i) => {
      await engine.promise
      await world.request(`${i}`, 'many', [sliceMs])
    })
    engine.resolve(undefined)
    await nextTurn()
    assert.deepEqual(world.order, ['0'])
    await Promise.all(readers)
  })

  test('alternate between the connections of a principal, then follow the order of arrival', async () => {
    const world = new World()
    const [one, two] = [{}, {}]
    const all = [
      world.request('first', 'many', [sliceMs], one),
      world.request('one 1', 'many', [sliceMs], one),
      world.request('one 2', 'many', [sliceMs], one),
      world.request('two 1', 'many', [sliceMs], two),
    ]
    await Promise.all(all)
    assert.deepEqual(world.order, ['first', 'one 1', 'two 1', 'one 2'])
  })

  test('contain several short requests of different principals', async () => {
    const world = new World()
    const all = [world.request('long', 'long', [sliceMs])]
    for (let i = 0; i < 12; i++) all.push(world.request(`${i}`, `${i}`, [sliceMs / 5]))
    await nextTurn()
    assert.equal(world.order.length, 1 + 5)
    await nextTurn()
    assert.equal(world.order.length, 1 + 10)
    await Promise.all(all)
  })

  test('start with a new slice when no request waits', async () => {
    const world = new World()
    await world.request('one', 'many', [10 * sliceMs])
    await nextTurn()
    const { turns } = world
    assert.equal(turns.pause({ principalName: 'many', connection: {} }), undefined)
    await nextTurn()
  })

  test('let the event loop read new requests between them', async () => {
    const world = new World()
    const all = Array.from({ length: 5 }, (_, i) =>
      world.request(`${i}`, 'many', [sliceMs]),
    )
    const seen: number[] = []
    while (world.order.length < 5) {
      seen.push(world.order.length)
      await nextTurn()
    }
    assert.deepEqual(seen, [1, 2, 3, 4])
    await Promise.all(all)
  })

  test('can last several iterations of the event loop, because each iteration accepts only one connection', async () => {
    const world = new World()
    const all: Promise<void>[] = []
    for (let i = 0; i < 10; i++) {
      world.turns.noteConnection()
      all.push(world.request(`${i}`, 'many', [sliceMs]))
      await nextTurn()
    }
    assert.deepEqual(world.order, ['0'])
    all.push(world.request('other', 'other', [sliceMs]))
    await Promise.all(all)
    assert.equal(world.order.indexOf('other'), 2)
  })

  test('end after 64 iterations of the event loop even if connections arrive all the time', async () => {
    const world = new World()
    const all = [1, 2].map((i) => world.request(`${i}`, 'many', [sliceMs]))
    let turns = 0
    while (world.order.length < 2) {
      world.turns.noteConnection()
      await nextTurn()
      turns++
    }
    assert.equal(turns, 64)
    await Promise.all(all)
  })

  test('delay a request by at most one slice of each other principal', async () => {
    const requests = fc.array(
      fc.record({
        principal: fc.nat(5),
        connection: fc.nat(3),
        slices: fc.array(fc.integer({ min: 1, max: 2 * sliceMs }), {
          minLength: 1,
          maxLength: 4,
        }),
        at: fc.nat(6),
      }),
      { minLength: 1, maxLength: 60 },
    )
    await fc.assert(fc.asyncProperty(requests, holdsFor), { numRuns: 200 })
  })
})

interface Asked {
  readonly principal: number
  readonly connection: number
  readonly slices: readonly number[]
  /** The turn of the event loop in which the request arrives. */
  readonly at: number
}

/**
 * Runs requests. Asserts that, while a request of one principal waits, each other principal gets at
 * most one turn.
 */
async function holdsFor(requests: readonly Asked[]): Promise<void> {
  const world = new World()
  const connections = new Map<string, object>()
  /**
   * `waiting`: number of waiting requests by principal. `since`: for each waiting principal, the
   * turns of other principals since its last turn.
   */
  const waiting = new Map<string, number>()
  const since = new Map<string, Map<string, number>>()
  const begin = (principalName: string) => {
    for (const [other, turns] of since)
      if (other !== principalName)
        turns.set(principalName, (turns.get(principalName) ?? 0) + 1)
    since.delete(principalName)
    if ((waiting.get(principalName) ?? 0) > 0) since.set(principalName, new Map())
    for (const [other, turns] of since)
      for (const [name, count] of turns)
        assert(count <= 1, `${name} had ${count} turns while ${other} waited`)
  }
  const run = async ({ principal, connection, slices }: Asked) => {
    const principalName = `${principal}`
    const key = `${principal} ${connection}`
    const known = connections.get(key) ?? {}
    connections.set(key, known)
    for (const ms of slices) {
      const turn = world.turns.pause({ principalName, connection: known })
      if (turn !== undefined) {
        waiting.set(principalName, (waiting.get(principalName) ?? 0) + 1)
        if (!since.has(principalName)) since.set(principalName, new Map())
        await turn
        waiting.set(principalName, waiting.get(principalName)! - 1)
        begin(principalName)
      }
      world.now += ms
    }
  }
  const all: Promise<void>[] = []
  for (let turn = 0; turn <= 6; turn++) {
    for (const asked of requests) if (asked.at === turn) all.push(run(asked))
    await nextTurn()
  }
  await Promise.all(all)
}
