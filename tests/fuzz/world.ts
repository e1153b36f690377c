/**
 * The server under test and its data. Inputs use and change the keyspace "open". No input contains
 * the name of the keyspace "kept", so the content of "kept" must never change.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { embeddingTable } from '../../src/providers/embedding-table.ts'
import { rerankingProviders } from '../../src/providers/reranking-providers.ts'
import { runStela } from '../cli/run-stela.ts'
import { LetterModels, lettersCollection } from '../commands/letter-models.ts'
import { ServerProcess } from '../faults/server-process.ts'
import { temporaryFolder, type Envelope } from '../harness.ts'
import type { Abilities } from './documents.ts'
import { commandInput, requestOf } from './input.ts'
import { addressFields, columns } from './rows.ts'
import { Wire } from './wire.ts'

export const openKeyspace = 'open'
export const collections = [
  'plain',
  'vectors',
  'selective',
  'embedded',
  'unreachable',
  'english',
] as const

export const abilities: Readonly<Record<(typeof collections)[number], Abilities>> = {
  plain: { dimension: 0, embeds: false },
  vectors: { dimension: 3, embeds: false },
  selective: { dimension: 3, embeds: false },
  embedded: { dimension: 2, embeds: true },
  unreachable: { dimension: 1_024, embeds: true },
  english: { dimension: 0, embeds: false },
}

export const tables = ['typed', 'indexed', 'single'] as const

/** A port without a listener, so that a provider with this URL fails at once. */
const nowhere = 'http://127.0.0.1:1/'

export class World {
  readonly folder: string
  readonly #models: LetterModels
  #server: ServerProcess
  /** Length of the server output that was already returned. */
  #heard = 0

  private constructor(folder: string, models: LetterModels, server: ServerProcess) {
    this.folder = folder
    this.#models = models
    this.#server = server
  }

  static async start(): Promise<World> {
    const folder = await temporaryFolder()
    const models = await LetterModels.start()
    const server = await serve(folder, models)
    const world = new World(folder, models, server)
    await world.#accepted('', { createKeyspace: { name: 'kept' } })
    for (const [path, command] of keptThings) await world.#accepted(path, command)
    await world.furnish()
    await world.#stock()
    return world
  }

  get port(): number {
    return Number(new URL(this.#server.url).port)
  }

  get isAlive(): boolean {
    return this.#server.child.exitCode === null && this.#server.child.signalCode === null
  }

  /**
   * Whether the server has died. Waits up to 500 ms, because the exit is reported after connections
   * end.
   */
  async hasDied(): Promise<boolean> {
    await Promise.race([this.#server.exit, pause(500)])
    return !this.isAlive
  }

  /** The server's output on standard error since the last call. */
  complaints(): string {
    const text = this.#server.err.slice(this.#heard)
    this.#heard = this.#server.err.length
    return text
  }

  /** Resident memory of the server in bytes. */
  get memory(): number {
    const status = readFileSync(`/proc/${this.#server.child.pid!}/status`, 'utf8')
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)![1]) * 1024
  }

  /** Starts a new server after the previous one has died. */
  async revive(): Promise<void> {
    this.#server = await serve(this.folder, this.#models)
    this.#heard = 0
    await this.furnish()
  }

  /** Creates the objects that inputs use, unless they exist. */
  async furnish(): Promise<void> {
    await this.#accepted('', { createKeyspace: { name: openKeyspace } })
    for (const [path, command] of openThings) await this.#accepted(path, command)
  }

  /** Removes what inputs have created, and restores what they may have changed. */
  async tidy(): Promise<void> {
    this.#models.forget()
    const { keyspaces } = await this.#status('', { findKeyspaces: {} })
    for (const name of keyspaces as string[])
      if (name !== 'kept' && name !== 'default_keyspace')
        await this.#accepted('', { dropKeyspace: { name } })
    await this.furnish()
    await this.#stock()
  }

  /** Fills empty collections and tables with more than one page. */
  async #stock(): Promise<void> {
    for (const name of collections)
      await this.#accepted(`/${openKeyspace}/${name}`, {
        insertMany: { documents: stockOf(name) },
      })
    for (const name of tables) {
      const documents = stockedRows.map((row, at) => ({
        ...row,
        id: name === 'single' ? `${at}` : 'a',
      }))
      await this.#accepted(`/${openKeyspace}/${name}`, { insertMany: { documents } })
    }
  }

  /** Checks the keyspace "kept"; resolves with a description of what changed. */
  async control(): Promise<string | undefined> {
    const { keyspaces } = await this.#status('', { findKeyspaces: {} })
    if (!(keyspaces as string[]).includes('kept'))
      return `the keyspaces are ${String(keyspaces)}`
    for (const [path, command, expected] of questions) {
      const body = await this.#ask(path, command)
      try {
        assert.deepEqual(body, expected)
      } catch {
        return `${JSON.stringify(command)} => ${JSON.stringify(body).slice(0, 2_000)}`
      }
    }
    return undefined
  }

  /** Stops the server and checks its folder; resolves with a description of any problem. */
  async stop(): Promise<string | undefined> {
    const code = await this.#server.stop()
    await this.#models.close()
    if (code !== 0) return `the server ended with code ${String(code)}`
    const check = await runStela(['check', '--data', this.folder])
    if (check.code !== 0) return `the folder is damaged: ${String(check.out)}${check.err}`
    await rm(this.folder, { recursive: true, force: true })
    return undefined
  }

  async #accepted(path: string, command: object): Promise<void> {
    await this.#status(path, command)
  }

  async #status(path: string, command: object): Promise<Record<string, unknown>> {
    const { errors, status } = await this.#ask(path, command)
    assert(errors === undefined, `${JSON.stringify(command)} => ${JSON.stringify(errors)}`)
    return status ?? {}
  }

  /** Rejects with NoAnswer when there is no valid reply. */
  async #ask(path: string, command: object): Promise<Envelope> {
    const wire = await Wire.open(this.port)
    const input = commandInput('world', `/v1${path}`, command)
    const response = await wire.ask(requestOf(input, 'world'))
    wire.close()
    return JSON.parse(response.body.toString()) as Envelope
  }
}

function serve(folder: string, models: LetterModels): Promise<ServerProcess> {
  const { embeddingUrls, rerankingUrls } = models.settings
  const urls = (names: Iterable<string>, known: ReadonlyMap<string, string>) =>
    [...names].map((name) => `${name}=${known.get(name) ?? nowhere}`).join()
  return ServerProcess.start(
    folder,
    ...['--log-level', 'error', '--embedding-keys', 'openai=any,mistral=any'],
    // Compression and CORS are off by default. They are enabled so that both are tested.
    ...['--compression', 'on', '--cors-origins', '*'],
    // Whatever provider an input names, only test providers are called.
    ...['--embedding-urls', urls(Object.keys(embeddingTable), embeddingUrls)],
    ...['--reranking-urls', urls(rerankingProviders.keys(), rerankingUrls)],
  )
}

type Sent = readonly [path: string, command: object]

const openThings: readonly Sent[] = [
  ...Object.entries<object>({
    plain: {},
    vectors: { vector: { dimension: 3, metric: 'cosine' } },
    selective: {
      vector: { dimension: 3, metric: 'euclidean' },
      indexing: { deny: ['unindexed'] },
    },
    embedded: lettersCollection,
    unreachable: {
      vector: { service: { provider: 'mistral', modelName: 'mistral-embed' } },
    },
    english: {
      lexical: { enabled: true, analyzer: 'english' },
      rerank: { enabled: false },
    },
  }).map(([name, options]): Sent => [
    `/${openKeyspace}`,
    { createCollection: { name, options } },
  ]),
  [
    `/${openKeyspace}`,
    {
      createType: {
        name: 'address',
        definition: { fields: addressFields },
        options: { ifNotExists: true },
      },
    },
  ],
  ...Object.entries<object | string>({
    typed: { partitionBy: ['id'], partitionSort: { n: -1 } },
    indexed: { partitionBy: ['id'], partitionSort: { n: 1 } },
    single: 'id',
  }).map(([name, primaryKey]): Sent => [
    `/${openKeyspace}`,
    {
      createTable: {
        name,
        definition: { columns, primaryKey },
        options: { ifNotExists: true },
      },
    },
  ]),
  ...[
    'c_ascii',
    'c_bigint',
    'c_date',
    'c_decimal',
    'c_float',
    'c_inet',
    'c_uuid',
    's_int',
    'l_text',
  ].map((column): Sent => [
    `/${openKeyspace}/indexed`,
    {
      createIndex: {
        name: `by_${column}`,
        definition: { column },
        options: { ifNotExists: true },
      },
    },
  ]),
  ...(['v', 'w'] as const).map((column): Sent => [
    `/${openKeyspace}/indexed`,
    {
      createVectorIndex: {
        name: `by_${column}`,
        definition: {
          column,
          options: { metric: column === 'v' ? 'cosine' : 'dot_product' },
        },
        options: { ifNotExists: true },
      },
    },
  ]),
  [
    `/${openKeyspace}/indexed`,
    {
      createTextIndex: {
        name: 'by_words',
        definition: { column: 'c_words' },
        options: { ifNotExists: true },
      },
    },
  ],
]

function stockOf(name: (typeof collections)[number]): object[] {
  return Array.from({ length: 60 }, (_, n) => ({
    _id: n % 2 === 0 ? n : `id-${n}`,
    n: n % 7,
    s: `text ${n % 10}`,
    list: [n, 'x', { x: n }],
    deep: { er: { est: n } },
    when: { $date: n * 1_000 },
    unindexed: { x: n },
    $lexical: n % 3 === 0 ? 'some blue words' : 'running ab',
    ...(abilities[name].dimension > 0 && {
      $vector: Array.from(
        { length: abilities[name].dimension },
        (_, at) => n / 60 - at / 4,
      ),
    }),
  }))
}

const stockedRows = Array.from({ length: 60 }, (_, n) => ({
  n,
  c_text: `text ${n % 10}`,
  c_words: n % 3 === 0 ? 'some blue words' : 'running ab',
  c_date: '2024-02-29',
  c_bigint: n * 1_000_000,
  s_int: [n, 1],
  m_text: { k: n },
  udt: { street: 'Main', zip: n },
  v: [1, n / 60, 0.5],
  w: [1, -n],
}))

const keptDocuments = [
  { _id: 'a', n: 1, tags: ['x', 'y'], place: { city: 'Ur', zip: [1, 2] }, $vector: [1, 0] },
  { _id: 'b', n: 2.5, tags: [], place: null, when: { $date: 1_700_000_000_000 } },
  { _id: 'c', n: -3, text: 'naïve 💥 \u0000 \\ "', flag: true, $vector: [0, 1] },
] as const

const keptRows = [
  { id: 'r', n: 1, at: '2024-09-24T14:06:59.500Z', parts: [1, 2, 3] },
  { id: 'r', n: 2, at: '2024-09-25T00:00:00Z' },
]

const keptThings: readonly Sent[] = [
  [
    '/kept',
    { createCollection: { name: 'documents', options: { vector: { dimension: 2 } } } },
  ],
  ['/kept/documents', { insertMany: { documents: keptDocuments } }],
  [
    '/kept',
    {
      createTable: {
        name: 'rows',
        definition: {
          columns: {
            id: 'text',
            n: 'int',
            at: 'timestamp',
            parts: { type: 'set', valueType: 'int' },
          },
          primaryKey: { partitionBy: ['id'], partitionSort: { n: 1 } },
        },
      },
    },
  ],
  ['/kept/rows', { insertMany: { documents: keptRows } }],
]

/** Commands on the keyspace "kept", with their only correct replies. */
const questions: readonly (readonly [path: string, command: object, answer: object])[] = [
  [
    '/kept/documents',
    { find: { projection: { '*': 1 } } },
    { data: { documents: keptDocuments, nextPageState: null } },
  ],
  [
    '/kept/documents',
    { countDocuments: { filter: { n: { $lt: 2 } } } },
    { status: { count: 2 } },
  ],
  [
    '/kept/documents',
    { find: { sort: { $vector: [0, 1] }, projection: { n: 1 }, options: { limit: 1 } } },
    { data: { documents: [{ _id: 'c', n: -3 }], nextPageState: null } },
  ],
  [
    '/kept/rows',
    { find: { filter: { id: 'r' }, projection: { id: 1, n: 1, at: 1 } } },
    {
      data: {
        documents: keptRows.map(({ id, n, at }) => ({ id, n, at })),
        nextPageState: null,
      },
      status: {
        projectionSchema: {
          id: { type: 'text' },
          n: { type: 'int' },
          at: { type: 'timestamp' },
        },
      },
    },
  ],
]
