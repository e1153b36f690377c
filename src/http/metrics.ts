/**
 * Metrics for operators in the Prometheus text format: commands and their durations, requests and
 * connections, the engine, and the process.
 *
 * Command labels contain only names of existing commands. So metrics do not reveal stored data, and
 * their number does not grow with requests.
 */
import { readFileSync } from 'node:fs'
import type { Server, ServerResponse } from 'node:http'
import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client'
import type { Reply } from '../commands/dispatch/define.ts'
import type { Engine } from '../engine/contract.ts'
import type { StoreTraffic } from '../engine/operations.ts'
import type { ArrivalQueue } from './arrival-queue.ts'
import type { ClosedReason, ConnectionCounter } from './connection-gate.ts'
import type { FairShare } from './fair-share.ts'
import type { BodyReceiver } from './receive-body.ts'
import type { RequestCounter } from './request-queue.ts'

type Outcome = 'ok' | 'request_error' | 'server_error' | 'client_left'

/** The reason why a command was rejected before it ran. */
export type CommandRefusal =
  | 'unauthenticated'
  | 'overloaded'
  | 'rate_limited'
  | 'no_room_for_body'
  | 'no_room_for_reply'

/** Counters of one command. They are plain numbers, because each request increments them. */
interface Tally extends Record<Outcome, number> {
  seconds: number
  /**
   * Number of commands per duration bucket. A bucket includes its upper bound, but not the bound of
   * the previous bucket. An additional last bucket counts all longer durations.
   */
  readonly durations: Float64Array
}

/** Upper bounds of the duration buckets in seconds. */
const durationBounds = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
]

/** Sources of metrics that this class does not count itself. */
interface Measured {
  readonly engine: Engine
  readonly arrivals: ArrivalQueue
  readonly bodies: BodyReceiver
  readonly replyRoom: FairShare
  readonly valueRoom: FairShare
}

export class Metrics implements RequestCounter, ConnectionCounter {
  readonly #commands = new Map<string, Tally>()
  readonly #statuses = new Map<number | 'none', number>()
  readonly #refused = new Map<CommandRefusal, number>()
  readonly #closed = new Map<ClosedReason, number>()
  readonly #version = readVersion()
  #inFlight = 0
  #unread = 0
  readonly #cacheMs: number
  readonly #now: () => number
  #printed: { readonly text: Promise<string>; readonly at: number } | undefined

  /** `cacheMs`: milliseconds for which the printed metrics are cached. */
  constructor(cacheMs: number, now: () => number = () => performance.now()) {
    this.#cacheMs = cacheMs
    this.#now = now
    // The first call starts to measure the event loop and garbage collections.
    processMetrics()
  }

  beginRequest(): void {
    this.#inFlight++
  }

  endRequest({ headersSent, statusCode }: ServerResponse): void {
    this.#inFlight--
    const status = headersSent ? statusCode : 'none'
    this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1)
  }

  /** `command` must be the name of an existing command, or undefined. */
  countCommand(
    command = 'unknown',
    reply: Reply,
    elapsedMs: number,
    clientLeft: boolean,
  ): void {
    let tally = this.#commands.get(command)
    if (tally === undefined) this.#commands.set(command, (tally = emptyTally()))
    const seconds = elapsedMs / 1000
    tally[outcomeOf(reply, clientLeft)]++
    tally.seconds += seconds
    let bucket = 0
    while (bucket < durationBounds.length && seconds > durationBounds[bucket]!) bucket++
    tally.durations[bucket]!++
  }

  /**
   * Counts a rejected command by reason only: the name of the command is unknown or was not
   * checked.
   */
  countRefused(reason: CommandRefusal): void {
    this.#refused.set(reason, (this.#refused.get(reason) ?? 0) + 1)
  }

  countClosed(reason: ClosedReason): void {
    this.#closed.set(reason, (this.#closed.get(reason) ?? 0) + 1)
  }

  /** Counts a connection that was closed because its client did not read. */
  countUnread(): void {
    this.#unread++
  }

  /** All metrics, at most `cacheMs` old, because printing takes milliseconds. */
  print(services: Measured, server: Server): Promise<string> {
    const now = this.#now()
    if (this.#printed === undefined || now - this.#printed.at >= this.#cacheMs)
      this.#printed = { text: this.#print(services, server), at: now }
    return this.#printed.text
  }

  async #print(services: Measured, server: Server): Promise<string> {
    const { engine, bodies, replyRoom, valueRoom } = services
    const now = new Registry()
    addGauge(
      now,
      'stela_info',
      'Always 1; the labels contain the version and the engine.',
      ['version'],
    ).set({ version: this.#version }, 1)
    this.#addCommands(now)
    this.#addRequests(now)
    this.#addArrivals(now, services)
    addGauge(now, 'stela_http_connections', 'Open connections.').set(
      await countConnections(server),
    )
    addGauge(now, 'stela_body_memory_bytes', 'Memory for request bodies in bytes.').set(
      bodies.room.held,
    )
    addGauge(
      now,
      'stela_reply_memory_bytes',
      'Memory for replies that clients have not read yet, in bytes.',
    ).set(replyRoom.held)
    addGauge(
      now,
      'stela_value_memory_bytes',
      'Memory for parsed values of large texts, in bytes.',
    ).set(valueRoom.held)
    return [await now.metrics(), printDurations(this.#commands), await gather(engine)].join(
      '\n',
    )
  }

  #addCommands(registry: Registry): void {
    const counter = addCounter(
      registry,
      'stela_commands_total',
      'Answered commands, by outcome.',
      ['command', 'outcome'],
    )
    for (const [command, tally] of this.#commands)
      for (const outcome of outcomes)
        if (tally[outcome] > 0) counter.inc({ command, outcome }, tally[outcome])
    const refused = addCounter(
      registry,
      'stela_commands_refused_total',
      'Rejected commands, by reason.',
      ['reason'],
    )
    for (const [reason, count] of this.#refused) refused.inc({ reason }, count)
    addCounter(
      registry,
      'stela_replies_unread_total',
      'Connections closed because the client did not read a reply.',
    ).inc(this.#unread)
  }

  #addRequests(registry: Registry): void {
    const counter = addCounter(
      registry,
      'stela_http_requests_total',
      'Completed HTTP requests, by status; "none" if the client disconnected before the reply.',
      ['status'],
    )
    for (const [status, count] of this.#statuses) counter.inc({ status }, count)
    addGauge(registry, 'stela_http_requests_in_flight', 'Requests in progress.').set(
      this.#inFlight,
    )
  }

  #addArrivals(registry: Registry, { arrivals }: Measured): void {
    addCounter(
      registry,
      'stela_http_arrivals_delayed_total',
      'Delayed TLS handshakes and unauthenticated requests.',
    ).inc(arrivals.delayed)
    const closed = addCounter(
      registry,
      'stela_http_connections_closed_total',
      'Connections closed because their address exceeded a limit.',
      ['reason'],
    )
    for (const [reason, count] of this.#closed) closed.inc({ reason }, count)
  }
}

const outcomes: readonly Outcome[] = ['ok', 'request_error', 'server_error', 'client_left']

function emptyTally(): Tally {
  const durations = new Float64Array(durationBounds.length + 1)
  return { ok: 0, request_error: 0, server_error: 0, client_left: 0, seconds: 0, durations }
}

/**
 * Prints histograms as text, because a histogram of the library accepts only values that it
 * observes itself.
 */
function printDurations(commands: ReadonlyMap<string, Tally>): string {
  const name = 'stela_command_duration_seconds'
  const lines = [
    `# HELP ${name} Time from the arrival of a command to its reply, in seconds.`,
    `# TYPE ${name} histogram`,
  ]
  for (const [command, { durations, seconds }] of commands) {
    let count = 0
    for (const [i, more] of durations.entries()) {
      count += more
      const bound = durationBounds[i] ?? '+Inf'
      lines.push(`${name}_bucket{le="${bound}",command="${command}"} ${count}`)
    }
    lines.push(`${name}_sum{command="${command}"} ${seconds}`)
    lines.push(`${name}_count{command="${command}"} ${count}`)
  }
  return `${lines.join('\n')}\n`
}

/**
 * The outcome of a command, for its counter. If the client disconnected, the command ended with an
 * error that is not sent.
 */
function outcomeOf({ errors }: Reply, clientLeft: boolean): Outcome {
  const first = errors?.[0]
  if (first === undefined) return 'ok'
  if (first.family === 'REQUEST') return 'request_error'
  return clientLeft ? 'client_left' : 'server_error'
}

async function gather(engine: Engine): Promise<string> {
  const now = new Registry()
  // If the engine fails, only the metrics of the engine are missing: operators need the other
  // metrics especially then.
  await addEngineMetrics(now, engine).catch(() => undefined)
  return [await now.metrics(), await processMetrics().metrics()].join('\n')
}

async function addEngineMetrics(registry: Registry, engine: Engine): Promise<void> {
  const traffic = engine.traffic?.()
  if (traffic !== undefined) addTraffic(registry, traffic)
  const statistics = await engine.operations?.statistics()
  if (statistics === undefined) return
  const { keyspaces, collections, tables, openStores, indexedVectors } = statistics
  const { commits, writes, waitingWrites, waitingReads, movedReads } = statistics
  addGauge(registry, 'stela_keyspaces', 'Keyspaces.').set(keyspaces)
  addGauge(registry, 'stela_collections', 'Collections in all keyspaces.').set(collections)
  addGauge(registry, 'stela_tables', 'Tables in all keyspaces.').set(tables)
  addGauge(registry, 'stela_open', 'Open collections and tables.').set(openStores)
  addGauge(
    registry,
    'stela_indexed_vectors',
    'Vectors in the vector indexes of open collections and tables.',
  ).set(indexedVectors)
  addGauge(
    registry,
    'stela_vector_index_memory_bytes',
    'Memory of these vector indexes in bytes.',
  ).set(statistics.vectorMemory)
  const disk = addGauge(registry, 'stela_disk_bytes', 'Disk space in bytes, by use.', [
    'kind',
  ])
  for (const [kind, size] of Object.entries(statistics.diskUse)) disk.set({ kind }, size)
  const heap = addGauge(
    registry,
    'stela_thread_heap_bytes',
    'Heap memory of the other threads in bytes: used, and reserved.',
    ['thread', 'part'],
  )
  for (const { thread, used, size } of statistics.threads) {
    heap.set({ thread, part: 'used' }, used)
    heap.set({ thread, part: 'size' }, size)
  }
  const { recent, waiting, runs, terms } = statistics.indexDebt
  addGauge(
    registry,
    'stela_index_recent_changes',
    'Index changes that are not part of a run yet.',
  ).set(recent)
  addGauge(
    registry,
    'stela_index_waiting_entries',
    'Entries in runs that wait for a merge.',
  ).set(waiting)
  const levels = addGauge(registry, 'stela_index_runs', 'Runs of indexes, by level.', [
    'level',
  ])
  for (const [level, count] of runs.entries()) levels.set({ level }, count)
  addGauge(
    registry,
    'stela_terms_recent_texts',
    'Changed texts that are not part of a segment of the term index yet.',
  ).set(terms.recent)
  addGauge(
    registry,
    'stela_terms_waiting_postings',
    'Postings in segments that wait for a merge.',
  ).set(terms.waiting)
  addGauge(registry, 'stela_terms_segments', 'Segments of term indexes.').set(
    terms.segments,
  )
  addGauge(registry, 'stela_writes_waiting', 'Pending requests to the writer thread.').set(
    waitingWrites,
  )
  addGauge(
    registry,
    'stela_reads_waiting',
    'Reads that run on or wait for reader threads.',
  ).set(waitingReads)
  addCounter(registry, 'stela_commits_total', 'Group commits.').inc(commits)
  addCounter(
    registry,
    'stela_commit_writes_total',
    'Documents and rows inserted, updated or deleted in group commits.',
  ).inc(writes)
  addCounter(
    registry,
    'stela_reads_moved_to_threads_total',
    'Reads that exceeded the budget of the request thread and moved to a reader thread.',
  ).inc(movedReads)
  addCounter(
    registry,
    'stela_damaged_records_total',
    'Reads of a record or index that did not match its checksum.',
  ).inc(statistics.damagedRecords)
  addCounter(
    registry,
    'stela_lost_writes_total',
    'Acknowledged writes that stores had lost at the start of the server.',
  ).inc(statistics.lostWrites)
}

/** Adds metrics of the traffic to a database cluster. */
function addTraffic(
  registry: Registry,
  { statements, retries, nodes }: StoreTraffic,
): void {
  const labels = ['purpose', 'outcome']
  const counts = addCounter(
    registry,
    'stela_cql_statements_total',
    'CQL statements, by purpose and outcome.',
    labels,
  )
  const seconds = addCounter(
    registry,
    'stela_cql_statement_seconds_total',
    'Time of CQL statements until their reply or abort, in seconds.',
    labels,
  )
  for (const statement of statements) {
    const { purpose, outcome } = statement
    counts.inc({ purpose, outcome }, statement.count)
    seconds.inc({ purpose, outcome }, statement.seconds)
  }
  addCounter(
    registry,
    'stela_cql_retries_total',
    'CQL statements that were retried because a node did not execute them.',
  ).inc(retries)
  const ofCenter = (name: string, help: string, labelNames: readonly string[] = []) =>
    addGauge(registry, name, help, ['datacenter', ...labelNames])
  const nodeCount = ofCenter('stela_cql_nodes', 'Known nodes of the cluster.', ['state'])
  const connections = ofCenter('stela_cql_connections', 'Open connections to nodes.')
  const waiting = ofCenter('stela_cql_waiting', 'CQL statements that wait for a reply.')
  for (const node of nodes) {
    const { dataCenter: datacenter, isUp } = node
    for (const state of ['up', 'down'])
      nodeCount.inc({ datacenter, state }, (state === 'up') === isUp ? 1 : 0)
    connections.inc({ datacenter }, node.connections)
    waiting.inc({ datacenter }, node.waiting)
  }
}

function addGauge(
  registry: Registry,
  name: string,
  help: string,
  labelNames: readonly string[] = [],
): Gauge {
  return new Gauge({ name, help, labelNames, registers: [registry] })
}

function addCounter(
  registry: Registry,
  name: string,
  help: string,
  labelNames: readonly string[] = [],
): Counter {
  return new Counter({ name, help, labelNames, registers: [registry] })
}

function countConnections(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) =>
      error === null ? resolve(count) : reject(error),
    )
  })
}

let knownProcessMetrics: Registry | undefined

/**
 * Metrics of the process: memory, processor, event loop and garbage collection. All servers of
 * a process share them.
 */
function processMetrics(): Registry {
  if (knownProcessMetrics === undefined) {
    knownProcessMetrics = new Registry()
    collectDefaultMetrics({ register: knownProcessMetrics })
  }
  return knownProcessMetrics
}

export function readVersion(): string {
  const file = new URL('../../package.json', import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}
