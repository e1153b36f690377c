import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ModelTurns } from '../../../src/providers/local/turns.ts'

const never = new AbortController().signal

describe('turns', () => {
  test('alternate between those who have more to do', async () => {
    const turns = new ModelTurns()
    const order: string[] = []
    const work = async (name: string, slices: number): Promise<void> => {
      for (let slice = 1; slice <= slices; slice++)
        await turns.take(() => order.push(`${name}${slice}`), never)
    }
    await Promise.all([work('big', 4), work('small', 1), work('other', 2)])
    assert.deepEqual(order, ['big1', 'small1', 'other1', 'big2', 'other2', 'big3', 'big4'])
  })

  test('do not begin what was given up while it waited', async () => {
    const turns = new ModelTurns()
    const giveUp = new AbortController()
    let begun = false
    const first = turns.take(() => giveUp.abort(new Error('given up')), never)
    const second = turns.take(() => (begun = true), giveUp.signal)
    await first
    await assert.rejects(second, /given up/)
    assert.equal(begun, false)
  })

  test('go on after one has failed', async () => {
    const turns = new ModelTurns()
    const failing = turns.take(() => Promise.reject(new Error('broken')), never)
    const next = turns.take(() => 'done', never)
    await assert.rejects(failing, /broken/)
    assert.equal(await next, 'done')
  })
})
