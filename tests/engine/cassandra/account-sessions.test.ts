import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, mock, test } from 'node:test'
import type { Client } from 'cassandra-driver'
import { AccountSessions } from '../../../src/engine/cassandra/cluster/account-sessions.ts'
import { EngineError } from '../../../src/engine/errors.ts'

const ann = { name: 'ann', password: 'secret' }
const minute = 60_000

describe('driver sessions of cluster users', () => {
  let sessions: AccountSessions
  let now: number
  let opened: number
  let ended: number
  let refusal: EngineError | undefined

  beforeEach(() => {
    mock.timers.enable({ apis: ['setInterval'] })
    now = opened = ended = 0
    refusal = undefined
    sessions = new AccountSessions(
      () => {
        if (refusal !== undefined) return Promise.reject(refusal)
        opened++
        return Promise.resolve({ shutdown: () => Promise.resolve(ended++) } as never)
      },
      () => now,
    )
  })
  afterEach(async () => {
    await sessions.close()
    mock.timers.reset()
  })

  const settled = () => new Promise((resolve) => setImmediate(resolve))
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += minute / 4) {
      now += minute / 4
      mock.timers.tick(minute / 4)
      await settled()
    }
  }
  const use = (act: (client: Client) => Promise<unknown> = () => Promise.resolve()) =>
    sessions.use(ann, act)

  test('are reused, and closed after a minute without use', async () => {
    await use()
    await pass(minute)
    await use()
    assert.deepEqual([opened, ended], [1, 0])
    await pass(2 * minute)
    assert.deepEqual([opened, ended], [1, 1])
    await use()
    assert.equal(opened, 2)
  })

  const useForMinutes = async (count: number) => {
    for (let i = 0; i < count; i++) {
      await use()
      await pass(minute / 2)
      await use()
      await pass(minute / 2)
    }
  }

  test('are closed when the password is no longer valid', async () => {
    await useForMinutes(4)
    refusal = new EngineError('unauthenticated', 'other password')
    let end: (() => void) | undefined
    const running = use(() => new Promise<void>((resolve) => (end = resolve)))
    await pass(2 * minute)
    // The session stays open until the running request ends, but accepts no new request.
    assert.equal(ended, 0)
    await assert.rejects(use(), { kind: 'unauthenticated' })
    end!()
    await running
    await settled()
    assert.equal(ended, 1)
  })

  test('stay open while no quorum can check the password', async () => {
    await use()
    refusal = new EngineError('unavailable', 'no quorum')
    await useForMinutes(6)
    assert.deepEqual([opened, ended], [1, 0])
    refusal = undefined
    await useForMinutes(6)
    assert.deepEqual([opened, ended], [2, 1])
  })
})
