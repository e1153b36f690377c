/** Two servers on one engine: each has the databases of the other server, and drops none. */
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { DatabaseRefusal, Databases } from '../../src/databases/databases.ts'
import type { Engine } from '../../src/engine/contract.ts'
import { EngineError } from '../../src/engine/errors.ts'
import { openEmbedded } from '../engine/embedded/embedded-store.ts'
import { eventually, putSetting, settingOf } from '../engine/settings.ts'

const wanted = { name: 'x', keyspace: 'k', cloudProvider: 'AWS', region: 'local' }

async function openTwo(context: TestContext, max = 10) {
  const { engine } = await openEmbedded(context)
  const both = await Promise.all([Databases.open(engine, max), Databases.open(engine, max)])
  return { engine, both, one: both[0], two: both[1] }
}

/** An engine on which creating a keyspace pauses until the test resumes it. */
function stopping(engine: Engine) {
  let goOn!: () => void
  let arrive!: () => void
  const going = new Promise<void>((resolve) => (goOn = resolve))
  const arrived = new Promise<void>((resolve) => (arrive = resolve))
  const stopped: Engine = {
    ...engine,
    async createKeyspace(...given) {
      arrive()
      await going
      return engine.createKeyspace(...given)
    },
  }
  return { stopped, arrived, goOn: () => goOn() }
}

test('two servers that start on an empty engine share one organization and one home database', async (context) => {
  const { engine, one, two } = await openTwo(context)
  assert.equal(one.organization, two.organization)
  assert.equal(one.home.id, two.home.id)
  const again = await Databases.open(engine, 10)
  assert.equal(again.organization, one.organization)
  assert.deepEqual(again.list(), one.list())
})

describe('databases of two servers on one engine', () => {
  test('are created and terminated on both servers', async (context) => {
    const { engine, one, two } = await openTwo(context)
    const { id } = await one.create(wanted)
    await eventually(() => two.find(id) !== undefined)
    assert.deepEqual(two.list(), one.list())
    assert.deepEqual(await two.find(id)!.engine.listKeyspaces(), ['k'])
    await two.find(id)!.engine.createKeyspace('more')
    assert.deepEqual((await one.find(id)!.engine.listKeyspaces()).toSorted(), ['k', 'more'])
    await two.terminate(id)
    await eventually(() => one.find(id) === undefined)
    assert.equal(one.info(id)!.status, 'TERMINATED')
    assert.deepEqual(await engine.listKeyspaces(), ['default_keyspace'])
    await assert.rejects(one.terminate(id), DatabaseRefusal)
  })

  test('are all stored when both servers create databases concurrently', async (context) => {
    const { both, one, two } = await openTwo(context, 30)
    const made = await Promise.all(
      Array.from({ length: 12 }, (_, i) => both[i % 2]!.create(wanted)),
    )
    for (const databases of both)
      await eventually(() => made.every(({ id }) => databases.find(id) !== undefined))
    assert.equal(new Set(made.map(({ key }) => key)).size, 12)
    assert.deepEqual(one.list(), two.list())
    await Promise.all(made.map(({ id }, i) => both[(i + 1) % 2]!.terminate(id)))
    for (const databases of both)
      await eventually(() => made.every(({ id }) => databases.find(id) === undefined))
  })

  test('stay within the limit across both servers', async (context) => {
    const { engine, both } = await openTwo(context, 4)
    const asked = await Promise.allSettled(
      Array.from({ length: 8 }, (_, i) => both[i % 2]!.create(wanted)),
    )
    assert.equal(asked.filter(({ status }) => status === 'fulfilled').length, 3)
    assert.equal((await engine.listKeyspaces()).length, 4)
  })

  test('that are being created are not removed by a starting server, and not listed', async (context) => {
    const { engine } = await openEmbedded(context)
    const { stopped, arrived, goOn } = stopping(engine)
    const one = await Databases.open(stopped, 10)
    const creating = one.create(wanted)
    await arrived
    const two = await Databases.open(engine, 10)
    assert.deepEqual(two.list(), [one.list()[0]])
    goOn()
    const { id } = await creating
    const three = await Databases.open(engine, 10)
    assert.deepEqual(await three.find(id)!.engine.listKeyspaces(), ['k'])
    await eventually(() => two.find(id) !== undefined)
  })

  test('leave no keyspace when another server terminates them during their creation', async (context) => {
    const { engine } = await openEmbedded(context)
    const { stopped, arrived, goOn } = stopping(engine)
    const one = await Databases.open(stopped, 2)
    const creating = one.create(wanted)
    await arrived
    // Simulates a server that was suspended, or whose clock was wrong.
    const stored = (await settingOf(engine, 'databases'))!
    const aged = stored.replace(
      /("status":"INITIALIZING","createdAt":)"[^"]*"/,
      '$1"2026-01-01T00:00:00.000Z"',
    )
    assert.notEqual(aged, stored)
    await putSetting(engine, 'databases', aged)
    const two = await Databases.open(engine, 2)
    goOn()
    await assert.rejects(
      creating,
      (error) => error instanceof EngineError && error.kind === 'gone',
    )
    assert.deepEqual(await engine.listKeyspaces(), ['default_keyspace'])
    assert.equal(two.list().length, 2)
    assert.equal(two.list()[1]!.status, 'TERMINATED')
    await two.create(wanted)
  })

  test('get no keyspace from one server while the other terminates them', async (context) => {
    const { engine } = await openEmbedded(context)
    const two = await Databases.open(engine, 10)
    const { id } = await two.create(wanted)
    const { stopped, arrived, goOn } = stopping(engine)
    // Server "one" receives no change notifications: it detects the termination by reading the
    // entry.
    const one = await Databases.open(
      { ...stopped, watchSettings: () => () => undefined },
      10,
    )
    const creating = one.find(id)!.engine.createKeyspace('late')
    await arrived
    await two.terminate(id)
    goOn()
    await assert.rejects(
      creating,
      (error) => error instanceof EngineError && error.kind === 'gone',
    )
    assert.deepEqual(await engine.listKeyspaces(), ['default_keyspace'])
  })
})
