import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  sentAtOnce,
  StatementQueue,
} from '../../../src/engine/cassandra/cluster/statement-queue.ts'
import { EngineError } from '../../../src/engine/errors.ts'

/** A node that answers its oldest unanswered statement each time the test calls `answer`. */
class Node {
  readonly queue = new StatementQueue(2, 4)
  readonly sent: string[] = []
  readonly #answers: (() => void)[] = []

  send(name: string, principalName: string, signal = new AbortController().signal) {
    return this.queue.run({ principalName, signal }, async () => {
      this.sent.push(name)
      await new Promise<void>((resolve) => this.#answers.push(resolve))
    })
  }

  async answer(): Promise<void> {
    this.#answers.shift()!()
    await settle()
  }
}

/** Waits until statements are sent, which happens at the end of an event-loop turn. */
async function settle(): Promise<void> {
  for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve))
}

describe('a queue of statements', () => {
  test('limits concurrent statements, and takes turns between principals', async () => {
    const node = new Node()
    const all = ['a1', 'a2', 'a3', 'a4', 'a5'].map((name) => node.send(name, 'a'))
    all.push(node.send('b1', 'b'))
    await settle()
    assert.deepEqual(node.sent, ['a1', 'a2'])
    await node.answer()
    await node.answer()
    assert.deepEqual(node.sent, ['a1', 'a2', 'a3', 'b1'])
    for (let i = 0; i < 4; i++) await node.answer()
    await Promise.all(all)
  })

  test('sends at most a fixed number of statements in one turn of the event loop', async () => {
    const queue = new StatementQueue(100, 100)
    const { signal } = new AbortController()
    const sentIn: number[] = []
    let turn = 0
    const all = Array.from({ length: 40 }, () =>
      queue.run({ principalName: 'a', signal }, async () => {
        sentIn.push(turn)
      }),
    )
    while (sentIn.length < all.length) {
      await new Promise((resolve) => setImmediate(resolve))
      turn++
    }
    const counts = Map.groupBy(sentIn, (sent) => sent).values()
    const most = Math.max(...Array.from(counts, ({ length }) => length))
    assert(most <= sentAtOnce, `${most} statements were sent in one turn`)
    await Promise.all(all)
  })

  test('rejects a principal with too many waiting statements, and no other principal', async () => {
    const node = new Node()
    const all = Array.from({ length: 6 }, (_, i) => node.send(`a${i}`, 'a'))
    await assert.rejects(node.send('a6', 'a'), (error: unknown) => {
      assert(error instanceof EngineError)
      assert.equal(error.kind, 'overloaded')
      assert.match(error.message, /4 statements of this token already wait for the cluster/)
      return true
    })
    all.push(node.send('b', 'b'))
    await settle()
    for (let i = 0; i < 7; i++) await node.answer()
    await Promise.all(all)
    assert(node.sent.includes('b'))
  })

  test('drops the statement of an aborted caller', async () => {
    const node = new Node()
    const all = ['a1', 'a2'].map((name) => node.send(name, 'a'))
    const late = new AbortController()
    const waiting = node.send('late', 'a', late.signal)
    late.abort(new Error('too late'))
    await assert.rejects(waiting, /too late/)
    await settle()
    await node.answer()
    await node.answer()
    await Promise.all(all)
    assert.deepEqual(node.sent, ['a1', 'a2'])
  })
})
