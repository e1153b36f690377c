/**
 * Baseline for the driver alone. Loops that share one client execute the same prepared statements
 * as the commands, with the same consistency. Writes are converted to columns before the clock
 * starts; rows that are read are not converted.
 *
 * An HTTP server in this process executes the same statements and does nothing else. Its times are
 * a lower bound for any server that uses the driver.
 */
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { types, type Client } from 'cassandra-driver'
import { defaultConsistency } from '../../src/engine/cassandra/cluster/consistency.ts'
import { openClient } from '../../src/engine/cassandra/cluster/open-cluster.ts'
import { boundColumns, boundKey } from '../../src/engine/cassandra/documents/columns.ts'
import { keyOf } from '../../src/engine/cassandra/documents/document-key.ts'
import { hashAtPath, hashOf } from '../../src/engine/cassandra/documents/hash.ts'
import { bytesOfVector } from '../../src/engine/cassandra/cql/cql-values.ts'
import type { NewRecord } from '../../src/engine/contract.ts'
import type { Collection } from '../../src/engine/schema.ts'
import { indexingRule } from '../../src/language/filters/indexing.ts'
import { atOnce } from '../../src/runtime/steps.ts'
import type { ConnectOptions } from '../../tests/cassandra/connect.ts'
import type { Tally } from '../drive.ts'
import {
  foundMax,
  insertedAtOnce,
  nearestMax,
  type CommandKind,
} from '../cassandra/commands.ts'
import { ClusterPicks } from '../cassandra/documents.ts'

/**
 * `floor` is the cheapest read of a node: a row by key, from memory. `lookup` is a read by index
 * that matches no row.
 */
export type RawKind = CommandKind | 'floor' | 'lookup'

export type RawCassandraQuestion =
  | {
      readonly open: ConnectOptions
      readonly collection: Collection
      readonly seed: number
      readonly size: number
    }
  | { readonly run: RawKind; readonly connections: number; readonly forMs: number }

export interface RawCassandraAnswer extends Tally {
  /** Port of the HTTP server. The path of a request is the kind of its operation. */
  readonly port: number
}

/** A single operation, prepared before the clock starts. */
type Act = () => Promise<unknown>

const { localOne, localQuorum, localSerial } = types.consistencies
const reads = { prepare: true, consistency: localQuorum, isIdempotent: true }
const finds = { ...reads, fetchSize: foundMax }
/** Counts read large pages, because only the number of documents is used. */
const counts = { ...reads, fetchSize: 5_000 }
const searches = { ...reads, consistency: localOne }
const writes = { prepare: true, consistency: localQuorum, serialConsistency: localSerial }

/** Concurrent inserts per command, as in the engine. */
const atATime = 32
/**
 * Number of the first inserted document. It is larger than the numbers of documents that are
 * inserted through the server.
 */
const firstInserted = 500_000_000

class RawCluster {
  readonly #client: Client
  readonly #collection: Collection
  readonly #table: string
  readonly #picks: ClusterPicks
  /** Operations to prepare per millisecond: the rate of the previous turn. */
  readonly #actsPerMs = new Map<RawKind, number>()

  constructor(client: Client, collection: Collection, seed: number, size: number) {
    this.#client = client
    this.#collection = collection
    this.#table = `"${collection.keyspace}"."${collection.name}"`
    this.#picks = new ClusterPicks(seed, size, firstInserted)
  }

  async run(kind: RawKind, connections: number, forMs: number): Promise<Tally> {
    const count = Math.ceil((this.#actsPerMs.get(kind) ?? 1) * forMs * 1.5) + connections
    const acts = Array.from({ length: count }, () => this.#act(kind))
    const startedAt = performance.now()
    let requests = 0
    const goOn = async () => {
      while (performance.now() - startedAt < forMs) {
        const act = acts.pop()
        if (act === undefined) return
        await act()
        requests++
      }
    }
    await Promise.all(Array.from({ length: connections }, goOn))
    const tally = { requests, elapsedMs: performance.now() - startedAt }
    this.#actsPerMs.set(kind, requests / tally.elapsedMs)
    return tally
  }

  /**
   * Handles an HTTP request: executes an operation of the kind that the path names, and replies
   * when the operation is complete.
   */
  readonly serve: RequestListener = (request, response) => {
    const kind = request.url!.slice(1) as RawKind
    const act = async () => {
      await this.#act(kind)()
      response.writeHead(200, { 'Content-Length': nothing.length }).end(nothing)
    }
    request.resume().once('end', () => void act())
  }

  #act(kind: RawKind): Act {
    const picks = this.#picks
    switch (kind) {
      case 'floor':
        return this.#reading("SELECT key FROM system.local WHERE key = 'local'", [])
      case 'lookup': {
        const values = [`city ${hashAtPath('nowhere')}`]
        const text = this.#found('array_contains CONTAINS ?')
        return () => this.#client.execute(text, values, finds)
      }
      case 'findOne':
        return this.#reading(this.#byKey, [boundKey(keyOf(picks.id()))])
      case 'findEqual':
        return this.#reading(this.#found('array_contains CONTAINS ?'), [ofCity(picks)])
      case 'findTwo':
        return this.#reading(
          this.#found('array_contains CONTAINS ? AND array_contains CONTAINS ?'),
          [ofCity(picks), `active ${hashOf(true)}`],
        )
      case 'count':
        return this.#counting(ofCity(picks))
      case 'nearest':
        return this.#searching('', [])
      case 'nearestFiltered':
        return this.#searching(' WHERE array_contains CONTAINS ?', [ofCity(picks)])
      case 'increment':
        return this.#incrementing(picks.record())
      case 'insertOne':
        return this.#inserting(picks.newRecord())
      case 'insertMany': {
        const inserts = Array.from({ length: insertedAtOnce }, () =>
          this.#inserting(picks.newRecord()),
        )
        return () => allOf(inserts)
      }
    }
  }

  get #byKey(): string {
    return `SELECT doc_json, tx_id FROM ${this.#table} WHERE key = ?`
  }

  #found(conditions: string): string {
    return `SELECT doc_json, tx_id, token(key) AS place FROM ${this.#table} WHERE ${conditions}`
  }

  #reading(text: string, values: unknown[]): Act {
    return async () => {
      const { rows } = await this.#client.execute(text, values, finds)
      if (rows.length === 0) throw new Error('no row was found')
    }
  }

  #counting(entry: string): Act {
    const text = `SELECT token(key) FROM ${this.#table} WHERE array_contains CONTAINS ?`
    return () => this.#client.execute(text, [entry], counts)
  }

  #searching(where: string, values: unknown[]): Act {
    const text =
      `SELECT doc_json, tx_id FROM ${this.#table}${where} ` +
      `ORDER BY query_vector_value ANN OF ? LIMIT ${nearestMax}`
    const vector = bytesOfVector(this.#picks.vectorNumbers())
    return () => this.#client.execute(text, [...values, vector], searches)
  }

  /**
   * An update: reads the version of a loaded document, and writes the document if the version has
   * not changed. The content is not changed, because that does not affect the cost.
   */
  #incrementing(record: NewRecord): Act {
    const key = boundKey(keyOf(record.id))
    const columns = this.#columnsOf(record)
    const assignments = columns.map(([name]) => `${name} = ?`).join(', ')
    const text = `UPDATE ${this.#table} SET ${assignments} WHERE key = ? IF tx_id = ?`
    const values = columns.map(([, value]) => value)
    return async () => {
      const found = await this.#client.execute(this.#byKey, [key], reads)
      const version = found.rows[0]!['tx_id'] as unknown
      await this.#client.execute(text, [...values, key, version], writes)
    }
  }

  #inserting(record: NewRecord): Act {
    const columns = this.#columnsOf(record)
    const names = ['key', ...columns.map(([name]) => name)]
    const text =
      `INSERT INTO ${this.#table} (${names.join(', ')}) ` +
      `VALUES (${names.map(() => '?').join(', ')}) IF NOT EXISTS`
    const values = [boundKey(keyOf(record.id)), ...columns.map(([, value]) => value)]
    return async () => {
      const answered = await this.#client.execute(text, values, writes)
      if (!answered.wasApplied()) throw new Error('a document was there already')
    }
  }

  #columnsOf(record: NewRecord) {
    const transaction = types.TimeUuid.now()
    const { options } = this.#collection
    return atOnce(boundColumns(record, transaction, options, indexingRule(undefined)))
  }
}

const nothing = '{}'

function ofCity(picks: ClusterPicks): string {
  return `city ${hashAtPath(picks.city())}`
}

async function allOf(acts: readonly Act[]): Promise<void> {
  const left = acts.values()
  const goOn = async () => {
    for (const act of left) await act()
  }
  await Promise.all(Array.from({ length: atATime }, goOn))
}

async function open({
  contactPoints,
  port,
  localDatacenter,
  user,
  password,
}: ConnectOptions): Promise<Client> {
  const account = { name: user, password }
  const options = {
    contactPoints,
    port,
    localDataCenter: localDatacenter,
    account,
    tls: undefined,
    bundle: undefined,
    consistency: defaultConsistency,
  }
  return openClient(options, account)
}

let cluster: RawCluster | undefined
let port = 0

async function answer(question: RawCassandraQuestion): Promise<RawCassandraAnswer> {
  if ('run' in question) {
    const { run: kind, connections, forMs } = question
    return { ...(await cluster!.run(kind, connections, forMs)), port }
  }
  const { collection, seed, size } = question
  cluster = new RawCluster(await open(question.open), collection, seed, size)
  // 0 disables the timeout of keep-alive: clients are idle while other contenders run.
  const server = createServer({ keepAliveTimeout: 0 }, cluster.serve).listen(0, '127.0.0.1')
  await once(server, 'listening')
  port = (server.address() as AddressInfo).port
  return { requests: 0, elapsedMs: 0, port }
}

process.on('message', (question: RawCassandraQuestion) => {
  void answer(question).then((tally) => process.send!(tally))
})
process.on('disconnect', () => process.exit())
