/**
 * Prints the metrics in the Prometheus text format. The module is loaded when metrics are first
 * needed, because loading the library takes a tenth of the server's start time.
 */
import type { Server } from 'node:http'
import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client'
import type { Engine } from '../engine/contract.ts'
import type { StoreTraffic } from '../engine/operations.ts'
import {
  durationBounds,
  type MetricSources,
  type MetricCounts,
  type CommandOutcome,
  type Tally,
} from './metrics.ts'

/** Prints all metrics in the text format. */
export async function printMetrics(
  counts: MetricCounts,
  services: MetricSources,
  server: Server,
): Promise<string> {
  const { engine, bodies, replyRoom, valueRoom } = services
  const now = new Registry()
  addGauge(now, 'stela_info', 'Always 1; the labels contain the version and the engine.', [
    'version',
  ]).set({ version: counts.version }, 1)
  addCommands(now, counts)
  addRequests(now, counts)
  addArrivals(now, counts, services)
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
  return [await now.metrics(), printDurations(counts.commands), await gather(engine)].join(
    '\n',
  )
}

function addCommands(registry: Registry, counts: MetricCounts): void {
  const counter = addCounter(
    registry,
    'stela_commands_total',
    'Answered commands, by outcome.',
    ['command', 'outcome'],
  )
  for (const [command, tally] of counts.commands)
    for (const outcome of outcomes)
      if (tally[outcome] > 0) counter.inc({ command, outcome }, tally[outcome])
  const refused = addCounter(
    registry,
    'stela_commands_refused_total',
    'Rejected commands, by reason.',
    ['reason'],
  )
  for (const [reason, count] of counts.refused) refused.inc({ reason }, count)
  addCounter(
    registry,
    'stela_replies_unread_total',
    'Connections closed because the client did not read a reply.',
  ).inc(counts.unread)
}

function addRequests(registry: Registry, counts: MetricCounts): void {
  const counter = addCounter(
    registry,
    'stela_http_requests_total',
    'Completed HTTP requests, by status; "none" if the client disconnected before the reply.',
    ['status'],
  )
  for (const [status, count] of counts.statuses) counter.inc({ status }, count)
  addGauge(registry, 'stela_http_requests_in_flight', 'Requests in progress.').set(
    counts.inFlight,
  )
}

function addArrivals(
  registry: Registry,
  counts: MetricCounts,
  { arrivals }: MetricSources,
): void {
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
  for (const [reason, count] of counts.closed) closed.inc({ reason }, count)
}

const outcomes: readonly CommandOutcome[] = [
  'ok',
  'request_error',
  'server_error',
  'client_left',
]

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
export function processMetrics(): Registry {
  if (knownProcessMetrics === undefined) {
    knownProcessMetrics = new Registry()
    collectDefaultMetrics({ register: knownProcessMetrics })
  }
  return knownProcessMetrics
}
