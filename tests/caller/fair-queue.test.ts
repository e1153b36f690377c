/** The order in which a fair queue admits the entries of several principals. */
import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { describe, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { FairQueue, type FairQueueOptions } from '../../src/caller/fair-queue.ts'

const never = new AbortController().signal

function queueOf(options: Partial<FairQueueOptions> = {}): FairQueue {
  const refuse = (waitingMax: number) => new Error(`${waitingMax} wait already`)
  return new FairQueue({ capacity: 1, waitingMax: 100, refuse, ...options })
}

/** Adds entries to a queue, and records the principals of admitted entries in order. */
class Entries {
  readonly admitted: string[] = []
  readonly #queue: FairQueue

  constructor(queue: FairQueue) {
    this.#queue = queue
  }

  enter(principalName: string, size = 1, signal = never): Promise<void> {
    const waiting = this.#queue.enter({ principalName, signal }, size)
    if (waiting === undefined) this.admitted.push(principalName)
    return waiting?.then(() => void this.admitted.push(principalName)) ?? Promise.resolve()
  }
}

describe('a fair queue', () => {
  test('adds only one listener to an abort signal, however many entries wait with it', async () => {
    const queue = queueOf({ waitingMax: 1_000 })
    const { signal } = new AbortController()
    const entrant = { principalName: 'a', signal }
    assert.equal(queue.enter(entrant), undefined)
    const waiting = Array.from({ length: 1_000 }, () => queue.enter(entrant))
    assert.equal(getEventListeners(signal, 'abort').length, 1)
    for (let left = waiting.length; left >= 0; left--) queue.leave()
    await Promise.all(waiting)
    assert.equal(getEventListeners(signal, 'abort').length, 0)
  })

  test('admits entries synchronously while capacity is available', () => {
    const queue = queueOf({ capacity: 3 })
    const entrant = { principalName: 'a', signal: never }
    assert.equal(queue.enter(entrant, 2), undefined)
    assert.equal(queue.enter(entrant, 1), undefined)
    assert(queue.enter(entrant, 1) instanceof Promise)
    assert.equal(queue.waiting, 1)
  })

  test('admits one entry of each principal in turn', async () => {
    const queue = queueOf()
    const entries = new Entries(queue)
    for (let i = 0; i < 4; i++) void entries.enter('many')
    void entries.enter('other')
    void entries.enter('third')
    void entries.enter('other')
    for (let i = 0; i < 7; i++) {
      await turn()
      queue.leave()
    }
    const order = ['many', 'many', 'other', 'third', 'many', 'other', 'many']
    assert.deepEqual(entries.admitted, order)
  })

  test('admits an entry larger than the capacity when it is alone', async () => {
    const queue = queueOf({ capacity: 10 })
    const entries = new Entries(queue)
    void entries.enter('a', 4)
    void entries.enter('b', 1_000)
    void entries.enter('c', 1)
    await turn()
    assert.deepEqual(entries.admitted, ['a'])
    queue.leave(4)
    await turn()
    assert.deepEqual(entries.admitted, ['a', 'b'])
    queue.leave(1_000)
    await turn()
    assert.deepEqual(entries.admitted, ['a', 'b', 'c'])
  })

  test('rejects further entries of a principal that has too many, but not those of other principals', async () => {
    const queue = queueOf({ waitingMax: 2 })
    const entries = new Entries(queue)
    for (let i = 0; i < 3; i++) void entries.enter('many')
    await assert.rejects(entries.enter('many'), /2 wait already/)
    void entries.enter('other')
    assert.equal(queue.waiting, 3)
  })

  test('drops an aborted entry and admits later entries', async () => {
    const queue = queueOf({ capacity: 10 })
    const entries = new Entries(queue)
    const givingUp = new AbortController()
    void entries.enter('a', 5)
    const large = entries.enter('b', 10, givingUp.signal)
    void entries.enter('b', 5)
    givingUp.abort(new Error('the time is over'))
    await assert.rejects(large, /the time is over/)
    assert.deepEqual(entries.admitted, ['a', 'b'])
    assert.equal(queue.waiting, 0)
    await assert.rejects(entries.enter('c', 10, givingUp.signal), /the time is over/)
  })

  test('keeps an entry that is aborted after its admission', async () => {
    const queue = queueOf()
    const entries = new Entries(queue)
    const late = new AbortController()
    void entries.enter('a')
    const waiting = entries.enter('b', 1, late.signal)
    queue.leave()
    const behind = entries.enter('b')
    late.abort(new Error('too late'))
    await waiting
    queue.leave()
    await behind
    assert.deepEqual(entries.admitted, ['a', 'b', 'b'])
  })

  test('runs tasks in order and continues after a task fails', async () => {
    const queue = queueOf()
    const done: number[] = []
    const entrant = { principalName: 'a', signal: never }
    const failing = queue.run(entrant, () => Promise.reject(new Error('failed')))
    const following = queue.run(entrant, () => done.push(1))
    await assert.rejects(failing, /failed/)
    await following
    await queue.drained()
    assert.deepEqual(done, [1])
  })

  test('admits random entries in the same order as a plain model', async () => {
    const step = fc.oneof(
      fc.record({
        kind: fc.constant('enter' as const),
        principal: fc.constantFrom('a', 'b', 'c', 'd'),
        size: fc.integer({ min: 1, max: 12 }),
      }),
      fc.record({ kind: fc.constant('leave' as const), at: fc.nat(20) }),
      fc.record({ kind: fc.constant('giveUp' as const), at: fc.nat(20) }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const queue = queueOf({ capacity: 10 })
        const model = new Model(10)
        const admitted: number[] = []
        const controllers: AbortController[] = []
        for (const [id, taken] of steps.entries()) {
          controllers.push(new AbortController())
          if (taken.kind === 'enter') {
            const { principal: principalName, size } = taken
            const waiting = queue.enter(
              { principalName, signal: controllers[id]!.signal },
              size,
            )
            if (waiting === undefined) admitted.push(id)
            else
              waiting.then(
                () => admitted.push(id),
                () => undefined,
              )
            model.enter({ id, principal: principalName, size })
          } else if (taken.kind === 'leave') {
            const left = model.leave(taken.at)
            if (left !== undefined) queue.leave(left.size)
          } else {
            const given = model.giveUp(taken.at)
            if (given !== undefined) controllers[given.id]!.abort(new Error('given up'))
          }
          await turn()
          assert.deepEqual(admitted, model.admitted)
          assert.equal(queue.waiting, model.waiting.length)
        }
      }),
      { numRuns: 300 },
    )
  })
})

interface Modelled {
  readonly id: number
  readonly principal: string
  readonly size: number
}

/**
 * Reference implementation with one list: admits the principal that has waited longest for a turn.
 */
class Model {
  readonly admitted: number[] = []
  waiting: Modelled[] = []
  readonly #capacity: number
  #working: Modelled[] = []
  /** Principals that wait, in the order of their turns. */
  #turns: string[] = []

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  enter(entry: Modelled): void {
    if (!this.waiting.some(({ principal }) => principal === entry.principal))
      this.#turns.push(entry.principal)
    this.waiting.push(entry)
    this.#serve()
  }

  leave(at: number): Modelled | undefined {
    const [left] = this.#working.splice(at % Math.max(1, this.#working.length), 1)
    this.#serve()
    return left
  }

  giveUp(at: number): Modelled | undefined {
    const [given] = this.waiting.splice(at % Math.max(1, this.waiting.length), 1)
    this.#serve()
    return given
  }

  #serve(): void {
    for (;;) {
      this.#turns = this.#turns.filter((name) =>
        this.waiting.some(({ principal }) => principal === name),
      )
      const [name] = this.#turns
      const next = this.waiting.find(({ principal }) => principal === name)
      const taken = this.#working.reduce((sum, { size }) => sum + size, 0)
      if (next === undefined) return
      if (this.#working.length > 0 && taken + next.size > this.#capacity) return
      this.waiting = this.waiting.filter((entry) => entry !== next)
      this.#working.push(next)
      this.admitted.push(next.id)
      this.#turns = [...this.#turns.slice(1), name!]
    }
  }
}
