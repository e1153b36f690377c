/** Lists of the management API respect the maximum reply size. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { printBody } from '../../src/admin/print-body.ts'
import { defaultLimits } from '../../src/limits.ts'
import { AdminServer, type WireRole } from './admin-server.ts'

const sizeMax = 20_000
const admin = new AdminServer({
  limits: { ...defaultLimits, documentLengthMax: sizeMax, replySizeMax: sizeMax },
})

describe('a list of the management API', () => {
  test('is rejected when it is longer than the maximum reply', async () => {
    const resources = [`drn:astra:org:${await admin.organization()}`]
    const description = 'x'.repeat(1_000)
    const create = (n: number) => {
      const policy = { description, effect: 'allow', resources, actions: ['org-db-view'] }
      const body = { name: `role ${n}`, policy }
      return admin.ask<WireRole>('POST', '/organizations/roles', { body })
    }
    const known = await admin.ask<WireRole[]>('GET', '/organizations/roles')
    const made: WireRole[] = []
    for (let n = 0; n < 20; n++) made.push(await create(n))
    const message = await admin.refuse(400, 'GET', '/organizations/roles')
    assert.match(message, /more than 20,?000 characters.*--max-reply-size/)
    for (const { ID } of made) await admin.ask('DELETE', `/organizations/roles/${ID}`)
    assert.deepEqual(await admin.ask('GET', '/organizations/roles'), known)
  })
})

describe('the body of a reply', () => {
  const never = () => undefined

  test('equals the result of JSON.stringify', async () => {
    for (const body of [
      {},
      [],
      [1, { a: [2, { b: null }] }, 'x'],
      { list: [], none: undefined, more: [1, 2], text: 'x', nested: { list: [1] } },
      { none: undefined },
    ])
      assert.equal(await printBody(body, 1_000, never), JSON.stringify(body))
  })

  test('is serialized with a chance to yield after each list element', async () => {
    let pauses = 0
    const pause = () => {
      pauses++
      return pauses % 2 === 0 ? Promise.resolve() : undefined
    }
    await printBody({ one: [1, 2, 3], other: [4, 5] }, 1_000, pause)
    assert.equal(pauses, 5)
  })

  test('is rejected as soon as its serialized part exceeds the maximum size', async () => {
    let pauses = 0
    const pause = () => void pauses++
    const long = { list: Array<string>(1_000).fill('x'.repeat(98)) }
    await assert.rejects(printBody(long, 1_000, pause), { status: 400 })
    assert(pauses < 10)
  })
})
