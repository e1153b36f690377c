/**
 * Concurrent commands on the same rows. Whatever their order, no write is lost or applied twice.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { checkDataFolder } from '../engine/embedded/backup/check-data-folder.ts'
import { defaultLimits } from '../../src/limits.ts'
import { startServer, type TestServer } from '../harness.ts'
import { Random, seed } from './random.ts'

const many = 50

const numbered = Array.from({ length: many }, (_, n) => n)

describe(`concurrent commands on the same rows (seed ${seed})`, () => {
  let server: TestServer
  before(async () => {
    server = await startServer({ limits: { ...defaultLimits, pageSize: 1_000 } })
    const columns = {
      p: 'text',
      c: 'int',
      l: { type: 'list', valueType: 'int' },
      s: { type: 'set', valueType: 'int' },
      m: { type: 'map', keyType: 'int', valueType: 'text' },
      v: { type: 'vector', dimension: 2 },
      t: 'text',
      ...Object.fromEntries(numbered.map((n) => [`x${n}`, 'int'])),
    }
    const primaryKey = { partitionBy: ['p'], partitionSort: { c: 1 } }
    await done(
      { createTable: { name: 'crowded', definition: { columns, primaryKey } } },
      '',
    )
    for (const command of [
      { createIndex: { name: 'by_l', definition: { column: 'l' } } },
      { createIndex: { name: 'by_m', definition: { column: 'm' } } },
      { createIndex: { name: 'by_x0', definition: { column: 'x0' } } },
      { createVectorIndex: { name: 'by_v', definition: { column: 'v' } } },
      { createTextIndex: { name: 'by_t', definition: { column: 't' } } },
    ])
      await done(command)
  })
  after(async () => {
    await server.stop()
    const findings = checkDataFolder(server.dataDir)
    await server.close()
    assert.deepEqual(findings, [])
  })

  async function done(command: object, target = '/crowded') {
    const answer = await server.command(`/default_keyspace${target}`, command)
    assert.deepEqual(answer.codes, [], answer.text.slice(0, 1_000))
    return answer.body
  }

  async function find(filter: object): Promise<readonly Record<string, unknown>[]> {
    return (await done({ find: { filter } })).data!.documents!
  }

  test('that upsert different columns of one row all take effect', async () => {
    await Promise.all(
      numbered.map((n) => {
        const filter = { p: 'upserted', c: 1 }
        return n % 2 === 0
          ? done({ insertOne: { document: { ...filter, [`x${n}`]: n } } })
          : done({ updateOne: { filter, update: { $set: { [`x${n}`]: n } } } })
      }),
    )
    const all = Object.fromEntries(numbered.map((n) => [`x${n}`, n]))
    assert.deepEqual(await find({ p: 'upserted' }), [{ p: 'upserted', c: 1, ...all }])
    assert.equal((await find({ x0: 0, p: 'upserted' })).length, 1)
  })

  test('that push to one list, set and map all take effect once', async () => {
    const filter = { p: 'pushed', c: 1 }
    await Promise.all(
      numbered.map((n) => {
        const update = { $push: { l: n, s: n % 10, m: [n, `${n}`] } }
        return done({ updateOne: { filter, update } })
      }),
    )
    const [row] = await find(filter)
    assert.deepEqual(
      (row!['l'] as number[]).toSorted((a, b) => a - b),
      numbered,
    )
    assert.deepEqual(row!['s'], numbered.slice(0, 10))
    assert.deepEqual(
      row!['m'],
      numbered.map((n) => [n, `${n}`]),
    )
    for (const n of numbered) {
      assert.equal((await find({ l: { $in: [n] } })).length, 1)
      assert.equal((await find({ m: { $in: [[n, `${n}`]] } })).length, 1)
    }
    await Promise.all(
      numbered.map((n) => {
        const update = { $pullAll: { l: [n], m: [n] }, $push: { s: 100 + n } }
        return done({ updateOne: { filter, update } })
      }),
    )
    const s = [...numbered.slice(0, 10), ...numbered.map((n) => 100 + n)]
    assert.deepEqual(await find(filter), [{ ...filter, s }])
    assert.deepEqual(await find({ l: { $in: numbered } }), [])
  })

  test('that insert the same rows from several clients leave one row for each key', async () => {
    const random = new Random(seed)
    const clients = [0, 1, 2, 3, 4, 5]
    const own = clients.map(() => random.fork())
    for (const ordered of [false, true]) {
      const p = `inserted ${ordered}`
      await Promise.all(
        clients.map(async (client) => {
          const shift = own[client]!.below(many)
          const documents = numbered.map((n) => ({
            p,
            c: (n + shift) % many,
            x0: client,
            [`x${client + 1}`]: n,
            t: `word${client}`,
            v: [client + 1, 1],
          }))
          const { status } = await done({ insertMany: { documents, options: { ordered } } })
          const expected = documents.map(({ c }) => [p, c])
          assert.deepEqual(status!['insertedIds'], expected)
        }),
      )
      const rows = await find({ p })
      assert.deepEqual(
        rows.map(({ c }) => c),
        numbered,
      )
      for (const row of rows) {
        // Each client has set its own column. The columns that all clients set have the values of
        // one client.
        for (const client of clients) assert.equal(typeof row[`x${client + 1}`], 'number')
        const client = row['x0'] as number
        assert.equal(row['t'], `word${client}`)
        assert.deepEqual(row['v'], [client + 1, 1])
      }
      for (const client of clients) {
        const last = rows.filter(({ x0 }) => x0 === client).length
        assert.equal((await find({ p, x0: client })).length, last)
        assert.equal((await find({ p, t: { $match: `word${client}` } })).length, last)
      }
    }
  })

  test('with the same key many times in one insertMany create one row', async () => {
    for (const ordered of [false, true]) {
      const key = { p: `repeated ${ordered}`, c: 1 }
      const documents = numbered.map((n) => ({ ...key, x0: n, [`x${n}`]: n }))
      const all = Object.fromEntries(numbered.map((n) => [`x${n}`, n]))
      await Promise.all(
        [1, 2, 3].map(() => done({ insertMany: { documents, options: { ordered } } })),
      )
      const rows = await find({ p: key.p })
      assert.deepEqual(rows, [{ ...key, ...all, x0: many - 1 }])
    }
  })

  test('that delete, insert and update leave each row complete or absent', async () => {
    const random = new Random(seed + 1)
    for (let round = 0; round < 20; round++) {
      const p = `fought ${round}`
      const commands = Array.from({ length: 30 }, () => {
        const c = random.below(3)
        const filter = { p, c }
        const word = `word${random.below(5)}`
        switch (random.below(5)) {
          case 0:
            return { deleteOne: { filter } }
          case 1:
            return { deleteMany: { filter: { p, c: { $lte: c } } } }
          case 2:
            return { updateOne: { filter, update: { $set: { t: word }, $push: { l: c } } } }
          default:
            return { insertOne: { document: { ...filter, x0: c, t: word, v: [c + 1, 1] } } }
        }
      })
      await Promise.all(commands.map((command) => done(command)))
      const rows = await find({ p })
      assert.equal(new Set(rows.map(({ c }) => c)).size, rows.length)
      for (const row of rows) assert.match(row['t'] as string, /^word\d$/)
      for (const c of [0, 1, 2]) {
        const matching = rows.filter(({ x0 }) => x0 === c)
        assert.deepEqual(await find({ p, x0: c }), matching)
      }
      const listed = rows.filter(({ l }) => l !== undefined)
      assert.deepEqual(await find({ p, l: { $in: [0, 1, 2] } }), listed)
      for (let n = 0; n < 5; n++) {
        const matching = rows.filter(({ t }) => t === `word${n}`)
        assert.deepEqual(await find({ p, t: { $match: `word${n}` } }), matching)
      }
      const { data } = await done({
        find: { filter: { p }, sort: { v: [1, 1] }, projection: { c: 1 } },
      })
      assert.deepEqual(
        data!.documents!.map(({ c }) => c),
        rows.filter(({ v }) => v !== undefined).map(({ c }) => c),
      )
    }
  })

  test('that empty a table and insert into it leave indexes that agree with the rows', async () => {
    for (let round = 0; round < 10; round++) {
      await Promise.all(
        numbered.map((c) =>
          c % 10 === 9
            ? done({ deleteMany: {} })
            : done({
                insertOne: { document: { p: 'emptied', c, x0: 7, t: 'word7', v: [1, c] } },
              }),
        ),
      )
      const rows = await find({ p: 'emptied' })
      assert.deepEqual(await find({ x0: 7 }), rows)
      assert.deepEqual(await find({ t: { $match: 'word7' } }), rows)
      await done({ deleteMany: {} })
      assert.deepEqual(await find({}), [])
    }
  })

  test('that create the same table, type or index succeed once', async () => {
    const definition = { columns: { id: 'int' }, primaryKey: 'id' }
    const fields = { f: 'int' }
    for (const [make, remove, target, code] of [
      [
        { createTable: { name: 'one', definition } },
        { dropTable: { name: 'one' } },
        '',
        'CANNOT_ADD_EXISTING_TABLE',
      ],
      [
        { createType: { name: 'one', definition: { fields } } },
        { dropType: { name: 'one' } },
        '',
        'CANNOT_ADD_EXISTING_TYPE',
      ],
      [
        { createIndex: { name: 'one', definition: { column: 'x1' } } },
        { dropIndex: { name: 'one' } },
        '/crowded',
        'CANNOT_ADD_EXISTING_INDEX',
      ],
      [
        { alterTable: { operation: { add: { columns: { one: 'int' } } } } },
        { alterTable: { operation: { drop: { columns: ['one'] } } } },
        '/crowded',
        'CANNOT_ADD_EXISTING_COLUMNS',
      ],
    ] as const)
      for (let round = 0; round < 3; round++) {
        const answers = await Promise.all(
          numbered
            .slice(0, 10)
            .map(() => server.command(`/default_keyspace${target}`, make)),
        )
        const codes = answers.map((answer) => answer.codes.join())
        assert.deepEqual(codes.toSorted(), ['', ...Array.from({ length: 9 }, () => code)])
        await done(remove, target)
      }
  })
})
