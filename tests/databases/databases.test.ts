/** Databases, tested without HTTP: recovery after a crash between two steps, and limits. */
import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { afterEach, beforeEach, describe, test } from 'node:test'
import {
  DatabaseRefusal,
  Databases,
  type DatabaseInfo,
} from '../../src/databases/databases.ts'
import { checked } from '../engine/contract/checked.ts'
import { openEmbeddedEngine } from '../../src/engine/embedded/engine.ts'
import type { Engine } from '../../src/engine/contract.ts'
import { EngineError } from '../../src/engine/errors.ts'
import type { KeyspaceCounts } from '../../src/engine/schema-change.ts'
import { createCollection, plainOptions } from '../engine/store.ts'
import { temporaryFolder } from '../harness.ts'
import { putSetting, settingOf } from '../engine/settings.ts'

let dataDir: string
let engine: Engine

beforeEach(async () => {
  dataDir = await temporaryFolder()
  const log = () => undefined
  engine = await openEmbeddedEngine({ dataDir, durable: false, searchThreads: 1, log })
})

afterEach(async () => {
  await engine.close()
  await rm(dataDir, { recursive: true })
})

const wanted = { name: 'x', keyspace: 'k', cloudProvider: 'AWS', region: 'local' }

describe('a start of the server', () => {
  test('keeps keyspaces of unknown databases', async () => {
    const before = await Databases.open(engine, 10)
    const { key } = await before.create(wanted)
    const unknown = ['0a0b0c0d-0000-4000-8000-000000000000.k', 's_0123456789ab__k']
    for (const name of [...unknown, 'plain']) await engine.createKeyspace(name)
    const after = await Databases.open(engine, 10)
    assert.deepEqual(
      (await engine.listKeyspaces()).toSorted(),
      [...unknown, `${key}k`, 'default_keyspace', 'plain'].toSorted(),
    )
    assert.deepEqual((await after.home.engine.listKeyspaces()).toSorted(), [
      'default_keyspace',
      'plain',
    ])
  })

  test('terminates databases that were INITIALIZING for too long, and keeps younger databases', async () => {
    const first = await Databases.open(engine, 3)
    const [home] = first.list()
    const entry = (key: string, createdAt: string) => ({
      ...{ ...home, id: `of ${key}`, key, status: 'INITIALIZING', createdAt },
    })
    const databases = [
      home,
      entry('s_00000000000a__', '2026-01-01T00:00:00.000Z'),
      entry('s_00000000000b__', new Date().toISOString()),
    ]
    const { organization } = first
    await putSetting(engine, 'databases', JSON.stringify({ organization, databases }))
    for (const key of ['s_00000000000a__', 's_00000000000b__'])
      await engine.createKeyspace(`${key}k`)
    const again = await Databases.open(engine, 3)
    assert.deepEqual((await engine.listKeyspaces()).toSorted(), [
      'default_keyspace',
      's_00000000000b__k',
    ])
    assert.deepEqual(
      again.list().map(({ id, status }) => [id, status]),
      [
        [home!.id, 'ACTIVE'],
        ['of s_00000000000a__', 'TERMINATED'],
      ],
    )
    assert.equal(again.info('of s_00000000000b__'), undefined)
    await again.create(wanted)
    // A database that is being created counts towards the limit.
    await assert.rejects(again.create(wanted), DatabaseRefusal)
  })

  test('completes an interrupted termination of a database', async () => {
    const databases = await Databases.open(engine, 10)
    const { id, key } = await databases.create(wanted)
    const stored = (await settingOf(engine, 'databases'))!
    await databases.terminate(id)
    // Simulates a crash between the change of the entry and the drop of the last keyspace.
    await engine.createKeyspace(`${key}k`)
    const again = await Databases.open(engine, 10)
    assert.deepEqual(await engine.listKeyspaces(), ['default_keyspace'])
    assert.equal(again.info(id)!.status, 'TERMINATED')
    assert.equal(again.find(id), undefined)
    assert(stored.includes('ACTIVE'))
  })

  test('keeps the home database and the organization of the previous start', async () => {
    const one = await Databases.open(engine, 10)
    const two = await Databases.open(engine, 10)
    assert.equal(one.home.id, two.home.id)
    assert.equal(one.organization, two.organization)
  })
})

describe('databases', () => {
  test('that are terminated stay listed, up to a limit', async () => {
    await Databases.open(engine, 3)
    const stored = JSON.parse((await settingOf(engine, 'databases'))!) as {
      databases: DatabaseInfo[]
    }
    const ended = Array.from({ length: 999 }, (_, i) => ({
      ...stored.databases[0]!,
      id: `ended-${i}`,
      status: 'TERMINATED' as const,
    }))
    stored.databases.push(...ended)
    await putSetting(engine, 'databases', JSON.stringify(stored))

    const databases = await Databases.open(engine, 3)
    for (const expected of [1_001, 1_001]) {
      const { id } = await databases.create(wanted)
      await databases.terminate(id)
      assert.equal(databases.info(id)!.status, 'TERMINATED')
      assert.equal(databases.list().length, expected)
    }
    assert.equal(databases.list()[0]!.id, databases.home.id)
    assert.equal(databases.info('ended-0'), undefined)
    assert.equal(databases.info('ended-1')!.status, 'TERMINATED')
  })

  test('stay within their limit when many databases are created concurrently', async () => {
    const databases = await Databases.open(engine, 3)
    const asked = await Promise.allSettled(
      Array.from({ length: 6 }, () => databases.create(wanted)),
    )
    const refused = asked.filter((outcome) => outcome.status === 'rejected')
    assert.equal(refused.length, 4)
    for (const { reason } of refused)
      assert(reason instanceof DatabaseRefusal && reason.kind === 'full')
    assert.equal((await engine.listKeyspaces()).length, 3)
  })

  test('leave no keyspace when their creation fails, and do not count towards the limit', async () => {
    const failing: Engine = {
      ...checked(engine),
      createKeyspace: () => Promise.reject(new EngineError('write', 'the disk is full')),
    }
    const databases = await Databases.open(failing, 2)
    for (let i = 0; i < 3; i++)
      await assert.rejects(databases.create(wanted), /the disk is full/)
    assert.deepEqual(await engine.listKeyspaces(), ['default_keyspace'])
    const again = await Databases.open(engine, 2)
    await again.create(wanted)
    const statuses = again.list().map(({ status }) => status)
    assert.deepEqual(statuses, [
      ...['ACTIVE', 'TERMINATED', 'TERMINATED', 'TERMINATED', 'ACTIVE'],
    ])
  })

  test('that are terminated accept no new keyspace', async () => {
    const databases = await Databases.open(engine, 3)
    const { id } = await databases.create(wanted)
    const doomed = databases.find(id)!.engine
    const outcomes = await Promise.allSettled([
      doomed.createKeyspace('before'),
      databases.terminate(id),
      doomed.createKeyspace('after'),
    ])
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'fulfilled', 'rejected'],
    )
    const [, , late] = outcomes as [unknown, unknown, PromiseRejectedResult]
    assert(late.reason instanceof EngineError && late.reason.kind === 'gone')
    assert.deepEqual(await engine.listKeyspaces(), ['default_keyspace'])
  })

  test('do not expose keyspaces of another database through names with its prefix', async () => {
    const databases = await Databases.open(engine, 3)
    const { id, key } = await databases.create(wanted)
    const { home } = databases
    for (const keyspace of [`${key}k`, `${id}.k`]) {
      await engine.createKeyspace(keyspace)
      assert.equal(await home.engine.listTargets(keyspace), undefined)
      assert.equal(await home.engine.readSchema(keyspace), undefined)
      assert.equal(await home.engine.findTarget(keyspace, 't'), undefined)
      assert.equal(await home.engine.dropKeyspace(keyspace), false)
    }
    assert.deepEqual(await home.engine.listKeyspaces(), ['default_keyspace'])
    assert.deepEqual(await databases.find(id)!.engine.listKeyspaces(), ['k'])
    await assert.rejects(
      createCollection(home.engine, 't', plainOptions, `${id}.k`),
      (error) => error instanceof EngineError && error.kind === 'gone',
    )
  })

  test('count only their own keyspaces', async () => {
    const databases = await Databases.open(engine, 3)
    const other = databases.find((await databases.create(wanted)).id)!.engine
    await createCollection(databases.home.engine, 'here')
    for (const name of ['there', 'too'])
      await createCollection(other, name, plainOptions, 'k')
    const counted = async (asked: Engine, keyspace: string) => {
      let found: readonly KeyspaceCounts[] = []
      await asked.changeSchema(keyspace, (_, counts) => {
        found = counts
        return undefined
      })
      return found
    }
    assert.deepEqual(await counted(databases.home.engine, 'default_keyspace'), [
      { keyspace: 'default_keyspace', collections: 1, tables: 0 },
    ])
    assert.deepEqual(await counted(other, 'k'), [
      { keyspace: 'k', collections: 2, tables: 0 },
    ])
  })
})
