/**
 * Collections and keyspaces that are dropped while requests search and write them. Every request
 * ends with results, or with an error that the target is gone. A new target of the same name
 * contains nothing of the old target.
 */
import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { LetterModels } from '../commands/letter-models.ts'
import { temporaryFolder } from '../harness.ts'
import { bySimilarity } from '../model/search-oracle.ts'
import { Random, seed } from './random.ts'
import { killLeftovers, ServerProcess, type ProcessAnswer } from './server-process.ts'

const gone = ['UNKNOWN_COLLECTION_OR_TABLE', 'UNKNOWN_KEYSPACE']

describe(`searches during a drop (seed ${seed})`, () => {
  const random = new Random(seed)
  let folder: string
  let models: LetterModels
  let server: ServerProcess

  before(async () => {
    folder = await temporaryFolder()
    models = await LetterModels.start()
    const { rerankingUrls } = models.settings
    server = await ServerProcess.start(
      folder,
      ...['--log-level', 'warn', '--reranking-urls'],
      `nvidia=${rerankingUrls.get('nvidia')!}`,
    )
  })
  after(async () => {
    await killLeftovers()
    await models.close()
    rmSync(folder, { recursive: true, force: true })
  })

  async function done(path: string, command: object): Promise<ProcessAnswer> {
    const answer = await server.command(path, command)
    assert.deepEqual(answer.codes, [], answer.text.slice(0, 1_000))
    return answer
  }

  const vectorOf = (dimension: number) =>
    Array.from({ length: dimension }, () => random.below(2_001) / 1_000 - 1 || 1)

  /** Creates a collection that is so large that searches of it run for a while. */
  async function fill(keyspace: string, name: string, dimension = 8, count = 1_200) {
    const options = { vector: { dimension, metric: 'euclidean' } }
    await done(keyspace, { createCollection: { name, options } })
    const documents = Array.from({ length: count }, (_, _id) => ({
      _id,
      n: _id % 10,
      $vector: vectorOf(dimension),
      $lexical: `ant ${_id % 2 === 0 ? 'bee' : 'cat'} n${_id % 7}`,
    }))
    const batches = Array.from({ length: Math.ceil(count / 100) }, (_, i) =>
      documents.slice(i * 100, i * 100 + 100),
    )
    for (const batch of batches)
      await done(`${keyspace}/${name}`, { insertMany: { documents: batch } })
    return documents
  }

  const searches: readonly (() => object)[] = [
    () => ({ find: { sort: { $vector: vectorOf(8) } } }),
    () => ({ find: { sort: { $vector: vectorOf(8) }, filter: { n: { $gte: 3 } } } }),
    () => ({
      find: {
        sort: { $vector: vectorOf(8) },
        filter: { $or: [{ $lexical: { $match: 'bee' } }, { n: 1 }] },
      },
    }),
    () => ({ find: { sort: { $lexical: 'ant bee' }, options: { limit: 1_000 } } }),
    () => ({ find: { filter: { $lexical: { $match: 'cat n3' } } } }),
    () => ({ countDocuments: { filter: { $lexical: { $match: 'ant' } } } }),
    () => ({
      findAndRerank: {
        sort: { $hybrid: { $vector: vectorOf(8), $lexical: 'bee' } },
        options: { rerankOn: '$lexical', rerankQuery: 'ant', limit: 5 },
      },
    }),
  ]

  /** Runs `workers` loops that repeat a step until `stop` is called or a step fails. */
  function keepOn(workers: number, step: (worker: number) => Promise<void>) {
    let stopped = false
    const work = Promise.all(
      Array.from({ length: workers }, async (_, worker) => {
        while (!stopped) await step(worker)
      }),
    )
    // If a step fails, all loops end, and `stop` throws its error.
    work.catch(() => (stopped = true))
    return {
      isRunning: () => !stopped,
      async stop(): Promise<void> {
        stopped = true
        await work
      },
    }
  }

  /** Searches repeatedly, and accepts errors that report that the target is gone. */
  function keepSearching(path: string, others: readonly string[] = []) {
    let goneCount = 0
    const work = keepOn(2 * searches.length, async (worker) => {
      const command = searches[worker % searches.length]!()
      const { codes, http, text } = await server.command(path, command)
      assert.equal(http, 200)
      if (codes.some((code) => gone.includes(code))) goneCount++
      const told = () => `${JSON.stringify(command)} => ${text.slice(0, 1_000)}`
      for (const code of codes) assert(gone.includes(code) || others.includes(code), told())
    })
    return {
      stop: () => work.stop(),
      /**
       * Stops after at least one search has reported that the target is gone, however long that
       * takes on a busy machine.
       */
      async stopOnceGone(): Promise<void> {
        while (goneCount === 0 && work.isRunning()) await delay(5)
        await work.stop()
      },
    }
  }

  async function assertGoesOn(): Promise<void> {
    assert.equal(server.child.exitCode, null, server.err)
    await done('/default_keyspace', { findCollections: {} })
    assert.equal(server.err, '', 'the server complained')
  }

  test('end with results or with the error that the collection is gone', async () => {
    for (let round = 0; round < 3; round++) {
      await fill('/default_keyspace', 'dropped')
      const searching = keepSearching('/default_keyspace/dropped')
      await delay(random.below(300))
      await done('/default_keyspace', { deleteCollection: { name: 'dropped' } })
      await searching.stopOnceGone()
      await assertGoesOn()
    }
  })

  test('end with results or with the error that the keyspace is gone', async () => {
    for (let round = 0; round < 2; round++) {
      await done('', { createKeyspace: { name: 'passing' } })
      await fill('/passing', 'one')
      await fill('/passing', 'two', 8, 100)
      const searching = [keepSearching('/passing/one'), keepSearching('/passing/two')]
      await delay(random.below(300))
      await done('', { dropKeyspace: { name: 'passing' } })
      for (const one of searching) await one.stopOnceGone()
      await assertGoesOn()
    }
  })

  test('find only new documents when the target is created again at once', async () => {
    const path = '/default_keyspace/again'
    for (let round = 0; round < 6; round++) {
      // Each round uses other vectors and texts. The dimension alternates, so that old vectors do
      // not fit a new target.
      const dimension = round % 2 === 0 ? 8 : 5
      await fill('/default_keyspace', 'again', dimension, 150)
      const searching = keepSearching(path, ['INVALID_VECTOR_LENGTH'])
      const writing = keepWriting(path, dimension)
      await delay(50 + random.below(100))
      await writing.stop()
      await assertExact(path, dimension)
      // Some of these writes are in progress when the collection is dropped.
      const late = keepWriting(path, dimension)
      await delay(random.below(30))
      await done('/default_keyspace', { deleteCollection: { name: 'again' } })
      await late.stop()
      await searching.stop()
      await assertGoesOn()
    }
  })

  let ids = 10_000

  /** Inserts until the target is gone. */
  function keepWriting(path: string, dimension: number) {
    return keepOn(4, async () => {
      const document = { _id: ids++, $vector: vectorOf(dimension), $lexical: 'dog' }
      const { codes, text } = await server.command(path, { insertOne: { document } })
      for (const code of codes) assert(gone.includes(code), text)
    })
  }

  /** Asserts that a search finds exactly the stored documents. */
  async function assertExact(path: string, dimension: number): Promise<void> {
    const everything: { _id: number; $vector: number[] }[] = []
    for (let pageState: string | null | undefined; pageState !== null;) {
      const find = { projection: { $vector: 1 }, options: { pageState } }
      const { data } = (await done(path, { find })).body
      everything.push(...(data!.documents as unknown as typeof everything))
      pageState = data!.nextPageState!
    }
    for (let i = 0; i < 3; i++) {
      const $vector = vectorOf(dimension)
      const { data } = (await done(path, { find: { sort: { $vector } } })).body
      const expected = bySimilarity(everything, 'euclidean', $vector).slice(0, 1_000)
      assert.deepEqual(
        data!.documents!.map(({ _id }) => _id),
        expected.map(({ document }) => document._id),
      )
    }
  }
})
