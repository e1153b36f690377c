/** Number of statements per command on a real node; every _id is a text. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { schemaCacheMs } from '../../src/engine/cassandra/catalog/catalog.ts'
import type { Engine } from '../../src/engine/contract.ts'
import { startServer, type TestServer } from '../harness.ts'
import { noPollMs, StatementCounts } from './statement-counts.ts'
import { TestKeyspaces } from './test-keyspaces.ts'

const path = '/default_keyspace/counted'
/** Repetitions of each command. */
const times = 8
/** Number of documents; it exceeds the page sizes of replies and of statements. */
const documentCount = 70

describe('on a cluster', () => {
  let counts: StatementCounts
  let keyspaces: TestKeyspaces
  let engine: Engine
  let server: TestServer

  before(async () => {
    keyspaces = await TestKeyspaces.make()
    engine = await keyspaces.open({ settingsPollMs: noPollMs })
    counts = new StatementCounts(engine)
    server = await startServer({ checked: false }, engine)
    const options = {
      vector: { dimension: 2, metric: 'cosine' },
      lexical: { enabled: false },
      rerank: { enabled: false },
    }
    await send('/default_keyspace', { createCollection: { name: 'counted', options } })
    for (let first = 0; first < documentCount; first += 35)
      await send(path, {
        insertMany: {
          documents: Array.from({ length: 35 }, (_, i) => ({
            _id: `id-${first + i}`,
            kind: 'usual',
            city: 'City 07',
            even: i % 2 === 0,
            n: i,
            $vector: [1, first + i],
          })),
        },
      })
  })

  after(async () => {
    await server.close()
    await engine.close()
    await keyspaces.remove()
  })

  async function send(to: string, body: object) {
    const { codes, text, body: answered } = await server.command(to, body)
    assert.deepEqual(codes, [], text)
    return answered
  }

  /** Fails unless the bodies, sent one after the other, take exactly `each` statements per body. */
  async function assertTakes(bodies: readonly object[], each: number): Promise<void> {
    await assertCounted(each * bodies.length, async () => {
      for (const body of bodies) await send(path, body)
    })
  }

  async function assertCounted(
    expected: number,
    act: () => Promise<unknown>,
  ): Promise<void> {
    counts.take()
    const startedAt = performance.now()
    await act()
    const seconds = (performance.now() - startedAt) / 1000
    const { ofCommands, ofSchema } = counts.take()
    assert.equal(ofCommands, expected)
    // The server reads the schema version once a second, not once per command.
    assert(ofSchema <= 1 + seconds, `${ofSchema} in ${seconds} s`)
  }

  const many = (bodyOf: (i: number) => object) =>
    Array.from({ length: times }, (_, i) => bodyOf(i))
  const limit = 20

  test('findOne by _id takes one statement', () =>
    assertTakes(
      many((i) => ({ findOne: { filter: { _id: `id-${i}` } } })),
      1,
    ))

  test('concurrent findOne commands share a read of the schema version', async () => {
    const findOne = { filter: { _id: 'id-1' } }
    // Waits until the cached schema has expired.
    await sleep(schemaCacheMs + 100)
    await assertCounted(times, () =>
      Promise.all(many(() => ({ findOne })).map((body) => send(path, body))),
    )
  })

  test('findOne by an _id that does not exist takes one statement', () =>
    assertTakes(
      many((i) => ({ findOne: { filter: { _id: `none-${i}` } } })),
      1,
    ))

  test('the first find of a collection takes two statements, because the size of documents is unknown', () =>
    assertTakes([{ find: { filter: { kind: 'usual' }, options: { limit } } }], 2))

  test('further finds take one statement for a page, with one condition or two', async () => {
    const filters = [{ kind: 'usual' }, { kind: 'usual', even: true }]
    await assertTakes(
      many((i) => ({ find: { filter: filters[i % 2], options: { limit } } })),
      1,
    )
    await assertTakes(
      many((i) => ({ find: { filter: filters[i % 2] } })),
      1,
    )
  })

  test('find takes one statement for each following page', async () => {
    counts.take()
    let found = 0
    let pages = 0
    let pageState: string | null | undefined
    do {
      const options = pageState ? { pageState } : {}
      const { data } = await send(path, { find: { filter: { kind: 'usual' }, options } })
      found += data!.documents!.length
      pages++
      pageState = data!.nextPageState
    } while (pageState)
    assert.equal(found, documentCount)
    assert.equal(counts.take().ofCommands, pages)
  })

  test('countDocuments takes one statement when indexes cover the filter', () =>
    assertTakes(
      many((i) => ({
        countDocuments: { filter: i % 2 === 0 ? { kind: 'usual' } : { city: 'City 07' } },
      })),
      1,
    ))

  test('countDocuments takes two statements when it has to read 70 documents', () =>
    assertTakes(
      many(() => ({ countDocuments: { filter: { kind: 'usual', n: { $gte: 0 } } } })),
      2,
    ))

  test('find by vector takes one statement, with a filter and without', () =>
    assertTakes(
      many((i) => ({
        find: {
          filter: i % 2 === 0 ? {} : { kind: 'usual' },
          sort: { $vector: [1, i] },
          options: { limit: 10 },
        },
      })),
      1,
    ))

  test('updateOne by _id takes two statements', () =>
    assertTakes(
      many((i) => ({
        updateOne: { filter: { _id: `id-${i}` }, update: { $inc: { n: 1 } } },
      })),
      2,
    ))

  test('insertOne takes one statement, and insertMany takes one for each document', async () => {
    await assertTakes(
      many((i) => ({
        insertOne: { document: { _id: `new-${i}`, n: i, $vector: [i, 1] } },
      })),
      1,
    )
    const documents = (batch: number) =>
      Array.from({ length: 10 }, (_, i) => ({ _id: `batch-${batch}-${i}`, n: i }))
    await assertTakes(
      many((i) => ({ insertMany: { documents: documents(i) } })),
      10,
    )
  })

  describe('a search by terms', () => {
    const texts = '/default_keyspace/texts'
    const rows = '/default_keyspace/lines'
    const documents = ['red', 'blue', 'red blue'].map((text, _id) => ({
      _id,
      $lexical: text,
    }))
    const lines = documents.map(({ _id, $lexical }) => ({ id: _id, said: $lexical }))
    const countOf = async (target: string, find: object) => {
      counts.take()
      const { data } = await send(target, { find })
      return [data!.documents!.length, counts.take().ofCommands] as const
    }

    before(async () => {
      const options = { lexical: { enabled: true, analyzer: 'standard' } }
      const definition = { columns: { id: 'int', said: 'text' }, primaryKey: 'id' }
      const index = { name: 'lines_said', definition: { column: 'said' } }
      await send('/default_keyspace', { createCollection: { name: 'texts', options } })
      await send('/default_keyspace', { createTable: { name: 'lines', definition } })
      await send(rows, { createTextIndex: index })
      await send(texts, { insertMany: { documents } })
      await send(rows, { insertMany: { documents: lines } })
    })

    test('reads each posting list once, also when it finds texts with some of the terms', async () => {
      for (const [target, path] of [
        [texts, '$lexical'],
        [rows, 'said'],
      ] as const) {
        const find = (lexicalOperator: string) =>
          countOf(target, { sort: { [path]: 'red blue' }, options: { lexicalOperator } })
        // The first search also counts all texts.
        await find('all')
        const [[found, statements], [foundMore, moreStatements]] = [
          await find('all'),
          await find('any'),
        ]
        assert.deepEqual([found, foundMore], [1, 3])
        // Each further record takes one statement.
        assert.equal(moreStatements - statements, foundMore - found, target)
      }
    })

    test('takes no statement when no record can match the filter', async () => {
      const sort = { $lexical: 'red' }
      for (const filter of [{ _id: { $in: [] } }, { n: { $in: [] } }])
        assert.deepEqual(await countOf(texts, { filter, sort }), [0, 0])
      const filter = { id: { $in: [] } }
      assert.deepEqual(await countOf(rows, { filter, sort: { said: 'red' } }), [0, 0])
    })
  })
})
