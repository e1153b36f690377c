import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { RerankerAnswer, RerankerQuestion } from '../baselines/reranker.ts'
import { Client, requestBytes } from '../client.ts'
import {
  batchSize,
  copyFolder,
  createCollection,
  insertAll,
  prepareFolder,
  type Dataset,
} from '../dataset.ts'
import type { Tally } from '../drive.ts'
import { Histogram } from '../histogram.ts'
import { queryCount } from '../lexical/queries.ts'
import { Baseline, Stela, token, type StelaOptions } from '../processes.ts'
import { short, whole } from '../report.ts'
import type { Figure } from '../run.ts'
import { measureServed, servedCells, servedHead, startBareFastify } from '../served.ts'
import { Texts } from '../texts.ts'
import { ratePerSecond } from '../turns.ts'
import { Clusters } from '../vectors/clusters.ts'
import { binary, insertVectorsBody, vectorDocument } from '../vectors/documents.ts'
import type { Findings, Study, StudySettings, Table } from './study.ts'

const dimension = 768
const reviewsPath = '/v1/default_keyspace/reviews'
const model = 'nvidia/llama-3.2-nv-rerankqa-1b-v2'

export const hybrid: Study = {
  name: 'hybrid',
  says: 'findAndRerank over HTTP, alone and while documents are inserted',
  size: 100_000,

  async run(settings): Promise<Findings> {
    const { folder, profileDir } = settings
    const reranker = new Baseline<RerankerQuestion, RerankerAnswer>(
      new URL('../baselines/reranker.ts', import.meta.url),
    )
    try {
      const { port } = await reranker.ask({ ask: 'port' })
      const options: StelaOptions = {
        profileDir,
        settings: { STELA_RERANKING_URLS: `nvidia=http://127.0.0.1:${port}/` },
      }
      const { dataset, figures } = await loadReviews(settings, options)
      const served = join(folder, 'served-reviews')
      copyFolder(dataset.folder, served)
      const server = await Stela.start(served, options)
      try {
        const alone = await measureSearches(server, port, settings)
        const mixed = await measureMixed(server, settings)
        return { tables: [alone, mixed], figures }
      } finally {
        await server.stop()
      }
    } finally {
      await reranker.stop()
    }
  },
}

/** Random streams by purpose. They are distinct, so that no text or vector occurs twice. */
const streams = { loaded: 0, inserted: 1, searched: 2 }

/** Documents with a vector and a text. */
class Documents {
  readonly #clusters: Clusters
  readonly #texts: Texts
  readonly #vector = new Float32Array(dimension)
  #number: number

  constructor(seed: number, stream: number, firstNumber: number) {
    this.#clusters = new Clusters(seed, dimension, stream)
    this.#texts = new Texts(seed + stream)
    this.#number = firstNumber
  }

  next(): string {
    this.#clusters.fill(this.#vector)
    const text = `,"$lexical":"${this.#texts.next()}"`
    return vectorDocument(this.#number++, this.#vector, text)
  }

  /** The body of the next insert. */
  readonly insertBody = (count: number): string =>
    insertVectorsBody(Array.from({ length: count }, () => this.next()))
}

async function loadReviews(
  { folder, keepDir, size, seed, progress }: StudySettings,
  options: StelaOptions,
) {
  if (keepDir !== undefined) mkdirSync(keepDir, { recursive: true })
  const name = `reviews-${size}x${dimension}-seed-${seed}`
  const fill = async (port: number) => {
    await createCollection(
      port,
      'reviews',
      `{"vector":{"dimension":${dimension},"metric":"cosine"},"lexical":{"enabled":true},` +
        `"rerank":{"enabled":true,"service":{"provider":"nvidia","modelName":"${model}"}}}`,
    )
    const made = new Documents(seed, streams.loaded, 0)
    await insertAll(port, reviewsPath, size, progress, made.insertBody)
  }
  const dataset: Dataset = await prepareFolder(keepDir ?? folder, name, fill, options)
  const figures: Figure[] = []
  if (dataset.loadMs !== undefined)
    figures.push({
      what: 'inserting documents with vectors and texts over HTTP',
      value: (size / dataset.loadMs) * 1000,
      unit: 'documents/s',
    })
  return { dataset, figures }
}

interface Searches {
  readonly says: string
  readonly bodies: readonly string[]
}

/**
 * Creates queries. Each query exists as a hybrid search, and as the two searches that it combines.
 */
function makeSearches({ seed }: StudySettings): Searches[] {
  const clusters = new Clusters(seed, dimension, streams.searched)
  const texts = new Texts(seed + streams.searched)
  const vector = new Float32Array(dimension)
  const questions = Array.from({ length: queryCount }, () => {
    clusters.fill(vector)
    const words = [texts.wordBetween(30, 100), texts.wordBetween(30, 100)].join(' ')
    return { vector: binary(vector), words }
  })
  const options = (words: string) =>
    `"options":{"limit":10,"rerankOn":"$lexical","rerankQuery":"${words}"}`
  return [
    {
      says: 'findAndRerank',
      bodies: questions.map(
        ({ vector, words }) =>
          `{"findAndRerank":{"sort":{"$hybrid":{"$vector":${vector},"$lexical":"${words}"}},${options(words)}}}`,
      ),
    },
    {
      says: 'find by the vector alone',
      bodies: questions.map(
        ({ vector }) => `{"find":{"sort":{"$vector":${vector}},"options":{"limit":10}}}`,
      ),
    },
    {
      says: 'find by the terms alone',
      bodies: questions.map(
        ({ words }) => `{"find":{"sort":{"$lexical":"${words}"},"options":{"limit":10}}}`,
      ),
    },
  ]
}

async function measureSearches(
  server: Stela,
  rerankerPort: number,
  settings: StudySettings,
): Promise<Table> {
  const { seconds, progress } = settings
  const fastify = startBareFastify()
  try {
    const rows: string[][] = []
    for (const connections of settings.connections) {
      for (const { says, bodies } of makeSearches(settings)) {
        progress(`${says}, connections: ${connections}`)
        const asked = { path: reviewsPath, bodies, connections, seconds }
        const answered = await measureServed(server, fastify, asked)
        rows.push([says, whole(connections), ...servedCells(answered)])
      }
      rows.push(await measureReranker(rerankerPort, connections, settings))
    }
    const head = ['search', 'connections', ...servedHead]
    return { title: 'Ten documents, over HTTP, no other load', head, rows }
  } finally {
    await fastify.stop()
  }
}

/** Measures requests to the reranker without Stela. */
async function measureReranker(
  port: number,
  connections: number,
  { seed, seconds }: StudySettings,
): Promise<string[]> {
  const texts = new Texts(seed)
  const passages = Array.from({ length: passageCount }, () => ({ text: texts.next() }))
  const body = JSON.stringify({ model, query: { text: texts.next() }, passages })
  const request = requestBytes('/', token, body)
  const client = await Client.connect(port, connections)
  try {
    const driver = { client, next: () => request }
    await driveAll([driver], (seconds * 1000) / 5)
    const [driven] = await driveAll([driver], seconds * 1000)
    const { tally, latencies } = driven!
    const quantiles = [0.5, 0.99].map((share) => short(latencies.quantile(share)))
    const says = `the reranker itself, ${passageCount} texts`
    return [says, whole(connections), whole(ratePerSecond(tally)), ...quantiles, '-']
  } finally {
    client.close()
  }
}

/**
 * Number of texts per request to the reranker. A hybrid search sends two such requests
 * concurrently.
 */
const passageCount = 10

/** Number of connections that insert: enough to keep the server busy. */
const insertingConnections = 4
/** Factor on the usual duration: the 99th percentile needs more measurements. */
const mixedTimes = 3

async function measureMixed(server: Stela, settings: StudySettings): Promise<Table> {
  const { size, seed, seconds, progress } = settings
  const made = new Documents(seed, streams.inserted, size)
  const forMs = seconds * mixedTimes * 1000
  const searching = await Client.connect(server.port, 1)
  const inserting = await Client.connect(server.port, insertingConnections)
  try {
    const search = searchesOver(searching, settings)
    const trial = await driveAll([insertsOver(inserting, made, trialInserts)], forMs)
    const perMs = trial[0]!.tally.requests / trial[0]!.tally.elapsedMs
    // Creates the documents before the clock starts, because creating them would delay searches.
    const inserts = () =>
      insertsOver(inserting, made, Math.ceil(perMs * forMs * 1.5) + insertingConnections)
    await server.settle()
    progress('searching alone')
    const [searchAlone] = await driveAll([search], forMs)
    progress('inserting alone')
    const [insertAlone] = await driveAll([inserts()], forMs)
    await server.settle()
    progress('searching while inserting')
    const [searchMixed, insertMixed] = await driveAll([search, inserts()], forMs)
    return {
      title: `One connection searches, ${insertingConnections} insert ${batchSize} at a time`,
      head: ['', 'requests/s', 'documents/s', 'p50 ms', 'p99 ms', 'longest ms'],
      rows: [
        drivenCells('findAndRerank alone', searchAlone!, 10),
        drivenCells('findAndRerank while inserts run', searchMixed!, 10),
        drivenCells('insertMany alone', insertAlone!, batchSize),
        drivenCells('insertMany while searches run', insertMixed!, batchSize),
      ],
    }
  } finally {
    searching.close()
    inserting.close()
  }
}

/** Number of inserts from which the insert rate is estimated. */
const trialInserts = 16

interface Driver {
  readonly client: Client
  readonly next: () => Buffer | undefined
}

function searchesOver(client: Client, settings: StudySettings): Driver {
  const [{ bodies }] = makeSearches(settings) as [Searches]
  const requests = bodies.map((body) => requestBytes(reviewsPath, token, body))
  let at = 0
  return { client, next: () => requests[at++ % requests.length] }
}

function insertsOver(client: Client, made: Documents, count: number): Driver {
  const requests = Array.from({ length: count }, () =>
    requestBytes(reviewsPath, token, made.insertBody(batchSize)),
  )
  return { client, next: () => requests.pop() }
}

interface Driven {
  readonly tally: Tally
  readonly latencies: Histogram
}

/** Runs several drivers concurrently. */
function driveAll(drivers: readonly Driver[], forMs: number): Promise<Driven[]> {
  return Promise.all(
    drivers.map(async ({ client, next }) => {
      const latencies = new Histogram()
      return { tally: await client.drive({ next, forMs, latencies }), latencies }
    }),
  )
}

function drivenCells(
  says: string,
  { tally, latencies }: Driven,
  documents: number,
): string[] {
  const rate = ratePerSecond(tally)
  return [
    says,
    short(rate),
    whole(rate * documents),
    ...[0.5, 0.99, 1].map((share) => short(latencies.quantile(share))),
  ]
}
