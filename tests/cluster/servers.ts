/** Two servers on three nodes act as one database, whichever process is killed. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { flagsOf } from '../cassandra/connect.ts'
import { runStela } from '../cli/run-stela.ts'
import { processToken, type ProcessAnswer } from '../faults/server-process.ts'
import { CommandsModel } from '../model/commands-model.ts'
import { Random, seed } from '../model/random.ts'
import { Load } from './load.ts'
import { TwoServers, type Place } from './two-servers.ts'

const places = [0, 1] as const

/** Error codes for a cluster that is unavailable at the moment. */
const saysUnavailable = new Set([
  ...[
    'UNAVAILABLE_DATABASE',
    'FAILED_TO_CONNECT_TO_DATABASE',
    'TIMEOUT_READING_DATA',
    'TIMEOUT_WRITING_DATA',
  ],
])

describe(`two servers on three nodes, seed ${seed}`, { timeout: 1_800_000 }, () => {
  let servers: TwoServers
  before(async () => {
    servers = await TwoServers.start()
  })
  after(() => servers.close())

  const send = (place: Place, path: string, body: object) =>
    servers.at(place).command(`/default_keyspace${path}`, body)
  const done = async (place: Place, path: string, body: object) => {
    const answer = await send(place, path, body)
    assert.deepEqual(answer.codes, [], answer.text)
    return answer.body
  }
  const create = async (name: string) => {
    const options = { indexing: { deny: ['*'] }, lexical: { enabled: false } }
    await done(0, '', { createCollection: { name, options } })
  }

  test('return the results of the model for random commands', async () => {
    const random = new Random(seed)
    const shape = { nested: 0.3, scalars: 8, fields: 4 }
    const model = new CommandsModel(servers.either(random), random, shape, 'model')
    await model.create()
    for (let step = 0; step < 400; step++) await model.step()
    await model.compareAll()
  })

  test('merge and delete rows like one server', async () => {
    const random = new Random(seed)
    const definition = {
      columns: { p: 'int', c: 'int', a: 'int', b: 'text' },
      primaryKey: { partitionBy: ['p'], partitionSort: { c: 1 } },
    }
    await done(0, '', { createTable: { name: 'rows', definition } })
    const rows = new Map<string, Record<string, unknown>>()
    for (let step = 0; step < 300; step++) {
      const place = random.pick(places)
      const key = { p: random.integer(0, 2), c: random.integer(0, 4) }
      const id = JSON.stringify(key)
      const change = random.pick([{ a: step }, { b: `b${step}` }, { a: step, b: 'both' }])
      if (random.chance(0.2)) {
        await done(place, '/rows', { deleteOne: { filter: key } })
        rows.delete(id)
      } else {
        await done(place, '/rows', { insertOne: { document: { ...key, ...change } } })
        rows.set(id, { ...key, ...rows.get(id), ...change })
      }
      const find = { filter: { p: key.p }, sort: { c: 1 } }
      const { data } = await done(random.pick(places), '/rows', { find })
      const expected = [...rows.values()].filter(({ p }) => p === key.p)
      assert.deepEqual(
        data!.documents,
        expected.toSorted((x, y) => (x['c'] as number) - (y['c'] as number)),
        `step ${step}`,
      )
    }
  })

  test('count every acknowledged increment exactly once', async (t) => {
    await create('counters')
    await done(0, '/counters', { insertOne: { document: { _id: 1, n: 0 } } })
    const updateOne = { filter: { _id: 1 }, update: { $inc: { n: 1 } } }
    let answered = 0
    let unknown = 0
    const add = async (place: Place) => {
      for (let step = 0; step < 20; step++) {
        const { codes, text } = await send(place, '/counters', { updateOne })
        if (codes.length === 0) answered++
        // The cluster did not report the result, and the document has been changed since the
        // attempt.
        else if (codes[0] === 'TIMEOUT_WRITING_DATA') unknown++
        else assert.deepEqual(codes, ['FAILED_CONCURRENT_OPERATIONS'], text)
      }
    }
    await Promise.all([...places, ...places, ...places].map(add))
    t.diagnostic(`${answered} of 120 were answered, ${unknown} may have been made`)
    assert(answered >= 100)
    const [one, other] = await Promise.all(
      places.map(async (place) => {
        const { data } = await done(place, '/counters', { findOne: {} })
        return data!.document!['n'] as number
      }),
    )
    assert.equal(one, other)
    assert(one! >= answered && one! <= answered + unknown, `${one} were counted`)
  })

  test('change schemas concurrently', async () => {
    const definition = { columns: { id: 'int', a: 'text' }, primaryKey: 'id' }
    const both = (body: (place: Place) => object, path = '') =>
      Promise.all(places.map((place) => done(place, path, body(place))))
    await both(() => ({ createCollection: { name: 'same' } }))
    await both((place) => ({ createCollection: { name: `own${place}` } }))
    await both(() => ({
      createTable: { name: 'wide', definition, options: { ifNotExists: true } },
    }))
    const add = (place: Place) => ({ [`b${place}`]: 'int' })
    await both(
      (place) => ({ alterTable: { operation: { add: { columns: add(place) } } } }),
      '/wide',
    )
    const index = (place: Place) => ({
      name: `by_b${place}`,
      definition: { column: `b${place}` },
    })
    await both((place) => ({ createIndex: index(place) }), '/wide')
    const row = { id: 1, a: 'x', b0: 0, b1: 1 }
    await done(0, '/wide', { insertOne: { document: row } })
    for (const place of places) {
      const find = { find: { filter: { [`b${place}`]: place } } }
      assert.deepEqual((await done(place, '/wide', find)).data!.documents, [row])
    }
    const lists = await both(() => ({ findCollections: {} }))
    assert.deepEqual(lists[0], lists[1])
    const names = lists[0]!.status!['collections'] as string[]
    for (const name of ['same', 'own0', 'own1']) assert(names.includes(name))
    await both((place) => ({ deleteCollection: { name: `own${1 - place}` } }))
    const system = ['check', '--engine', 'cassandra', ...flagsOf(servers.cluster.connect)]
    const checked = await runStela(system)
    assert.equal(checked.code, 0, String(checked.out) + checked.err)
  })

  test('reject a revoked token', async (t) => {
    const token = async (...words: string[]) => {
      const url = ['--admin-url', servers.adminUrl(0)]
      const ran = await runStela(['token', ...words, ...url], { token: processToken })
      assert.equal(ran.code, 0, ran.err)
      return String(ran.out).trim()
    }
    const made = await token('create', '--role', 'RO User')
    const use = async (place: Place): Promise<ProcessAnswer> =>
      servers.at(place).command('/default_keyspace', { findCollections: {} }, made)
    // The other server learns of the token within its configured polling interval.
    while ((await use(1)).http !== 200) await sleep(20)
    assert.equal((await use(0)).http, 200)
    await token('revoke', made.split(':')[1]!)
    assert.equal((await use(0)).http, 401)
    const revokedAt = performance.now()
    while ((await use(1)).http !== 401) await sleep(20)
    t.diagnostic(
      `refused by the other after ${Math.round(performance.now() - revokedAt)} ms`,
    )
  })

  test('lose no acknowledged write when one of them is killed', async (t) => {
    await create('killed_server')
    const load = new Load(servers, 'killed_server', seed)
    t.after(() => load.stop())
    load.start()
    for (const place of places) {
      await load.answersMore(200)
      assert.deepEqual(load.takeFailures(), [])
      await servers.at(place).kill()
      await load.answersMore(100)
      for (const { codes, text } of load.takeFailures())
        assert.deepEqual(codes, ['no answer'], text)
      await servers.restart(place)
      await load.answersMore(100)
      load.takeFailures()
    }
    await load.stop()
    for (const place of places) await load.verify(place)
    assert.deepEqual(load.wrong, [])
  })

  test('lose no acknowledged write when nodes are killed, and report when too few nodes are left', async (t) => {
    await create('killed_node')
    await create('emptied')
    const insertMany = { documents: [{ _id: 1 }, { _id: 2 }] }
    await done(0, '/emptied', { insertMany })
    const load = new Load(servers, 'killed_node', seed + 1)
    t.after(() => load.stop())
    load.start()
    await load.answersMore(300)
    await servers.cluster.kill(2)
    await load.answersMore(500)
    assert.deepEqual(load.takeFailures(), [], 'two of three nodes are enough')
    // Nodes reject TRUNCATE while a node is down. If a node has just died, they wait for it until
    // the command times out, so the test sends the command again.
    for (;;) {
      const { codes, text } = await send(0, '/emptied', { deleteMany: {} })
      if (codes.length === 0) break
      assert.deepEqual(codes, ['TIMEOUT_WRITING_DATA'], text)
    }
    const { status } = await done(1, '/emptied', { countDocuments: {} })
    assert.deepEqual(status, { count: 0 })

    await servers.cluster.kill(1)
    while (load.failures.length < 20) await sleep(100)
    await servers.cluster.restart(1)
    await load.answersMore(300)
    const failures = load.takeFailures()
    for (const { codes, text } of failures)
      for (const code of codes) assert(saysUnavailable.has(code), text)
    t.diagnostic(`${failures.length} failed without a quorum: ${failures[0]!.text}`)

    await servers.cluster.restart(2)
    await load.answersMore(300)
    assert.deepEqual(load.takeFailures(), [])
    await load.stop()
    for (const place of places) t.diagnostic(`${await load.verify(place)} documents`)
    assert.deepEqual(load.takeFailures(), [])
    assert.deepEqual(load.wrong, [])
  })
})
