import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Turns } from '../../src/http/turns.ts'

describe('turns of the answering thread', () => {
  test('are for one at a time, and among principals in turn', async () => {
    const turns = new Turns()
    const order: string[] = []
    const work = async (name: string, principalName: string) => {
      await turns.next(principalName)
      order.push(name)
    }
    const all = ['1', '2', '3'].map((name) => work(name, 'many'))
    all.push(work('other', 'other'))
    await Promise.all(all)
    assert.deepEqual(order, ['1', 'other', '2', '3'])
    await work('last', 'many')
  })

  test('let what has arrived be answered in between', async () => {
    const turns = new Turns()
    let went = 0
    const all = Array.from({ length: 5 }, async () => {
      await turns.next('many')
      went++
    })
    const seen: number[] = []
    while (went < 5) {
      seen.push(went)
      await new Promise((resolve) => setImmediate(resolve))
    }
    assert.deepEqual(seen, [0, 1, 2, 3, 4])
    await Promise.all(all)
  })
})
