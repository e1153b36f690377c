import {
  compareCommand,
  Metered,
  warmUp,
  type ComparedCommand,
  type RawCassandra,
} from '../cassandra/compared.ts'
import { commands, insertManyBody } from '../cassandra/commands.ts'
import { ClusterPicks, dimension } from '../cassandra/documents.ts'
import { takeNode, type MeasuredNode } from '../cassandra/node.ts'
import { countStatements } from '../cassandra/statements.ts'
import { createCollection, insertAll } from '../dataset.ts'
import { Baseline, Stela } from '../processes.ts'
import { decimal, short, whole } from '../report.ts'
import type { Figure } from '../run.ts'
import { takeTurns } from '../turns.ts'
import { clientOf, type ConnectOptions } from '../../tests/cassandra/connect.ts'
import type { Findings, Study, StudySettings, Table } from './study.ts'

/**
 * Names of the keyspace and the collection that each run creates. The run drops both at the end.
 */
const place = { systemKeyspace: 'stela_bench', collection: 'bench' }
const path = `/v1/default_keyspace/${place.collection}`

export const cassandra: Study = {
  name: 'cassandra',
  says: 'documents on a cluster over HTTP, compared with the driver',
  size: 20_000,
  connections: [1, 16],

  async run(settings): Promise<Findings> {
    const { progress, profileDir } = settings
    progress('starting Cassandra')
    const node = await takeNode()
    try {
      await dropAll(node.connect)
      const server = await Stela.start(undefined, {
        profileDir,
        settings: serverSettings(node.connect),
      })
      try {
        return await measure(node, server, settings)
      } finally {
        await server.stop()
        await dropAll(node.connect)
      }
    } finally {
      await node.remove()
    }
  },
}

function serverSettings({ contactPoints, port, user, password }: ConnectOptions) {
  return {
    STELA_ENGINE: 'cassandra',
    STELA_CONTACT_POINTS: contactPoints.join(','),
    STELA_CASSANDRA_PORT: String(port),
    STELA_CASSANDRA_USER: user,
    STELA_CASSANDRA_PASSWORD: password,
    STELA_SYSTEM_KEYSPACE: place.systemKeyspace,
    // Suppresses warnings about slow commands, which are expected here.
    STELA_LOG_LEVEL: 'error',
  }
}

async function measure(
  node: MeasuredNode,
  server: Stela,
  { size, connections, seconds, seed, progress }: StudySettings,
): Promise<Findings> {
  const loaded = await load(server.port, size, seed, progress)
  await node.settle()
  const picks = new ClusterPicks(seed, size)
  progress('counting statements')
  const { statements, collection } = await countStatements(node.connect, place, picks)
  const raw: RawCassandra = new Baseline(
    new URL('../baselines/raw-cassandra.ts', import.meta.url),
  )
  try {
    const { port: rawPort } = await raw.ask({ open: node.connect, collection, seed, size })
    const contest = { server, node, raw, rawPort, picks, path, seconds }
    const most = Math.max(...connections)
    progress('warming up')
    await warmUp(commands[0]!, most, contest)
    // Measures the common costs first, because later commands add documents.
    const parts = await measureParts(node, raw, most, seconds)
    const compared: ComparedCommand[] = []
    for (const command of commands)
      for (const count of connections) {
        const one = await compareCommand(command, count, contest)
        compared.push(one)
        progress(comparedCells(one).join(', '))
        if (command.requests === 'once') await node.settle()
      }
    return {
      tables: [
        {
          title: 'Requests per second',
          head: comparedHead,
          rows: compared.map(comparedCells),
        },
        costTable(compared, statements),
      ],
      figures: [loaded, ...parts, ...statementFigures(statements)],
    }
  } finally {
    await raw.stop()
  }
}

async function load(
  port: number,
  size: number,
  seed: number,
  progress: (line: string) => void,
): Promise<Figure> {
  progress(`loading ${size} documents`)
  await createCollection(
    port,
    place.collection,
    `{"vector":{"dimension":${dimension},"metric":"cosine"},"lexical":{"enabled":false},` +
      '"rerank":{"enabled":false}}',
  )
  const picks = new ClusterPicks(seed, 0)
  const tally = await insertAll(port, path, size, progress, (count) =>
    insertManyBody(picks, count),
  )
  return {
    what: `loading ${whole(size)} documents by insertMany`,
    value: (size / tally.elapsedMs) * 1000,
    unit: 'documents/s',
  }
}

/**
 * Costs that are common to several kinds of statements. They are additional parameters of the
 * capacity model.
 */
const parts = [
  { kind: 'floor', what: 'minimum cost of a statement, CPU time of a node' },
  { kind: 'lookup', what: 'an index lookup without a match, CPU time of a node' },
] as const

async function measureParts(
  node: MeasuredNode,
  raw: RawCassandra,
  connections: number,
  seconds: number,
): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const { kind, what } of parts) {
    const run = (forMs: number) => raw.ask({ run: kind, connections, forMs })
    const metered = new Metered({ name: kind, run }, [node.processorMs])
    await takeTurns([metered], seconds)
    const [ms] = metered.perRequest()
    // In a very short run, the reported CPU time may not have advanced.
    if (ms) figures.push({ what, value: ms * 1000, unit: 'µs' })
  }
  return figures
}

const comparedHead = [
  'command',
  'connections',
  'requests/s',
  'p50 ms',
  'p99 ms',
  "driver's requests/s",
  'ratio',
  'target',
  '',
  "bare HTTP's requests/s",
  'ratio to it',
  'reference, requests/s',
  'times the reference',
]

function comparedCells(compared: ComparedCommand): string[] {
  const { command, connections, requestsPerSecond, p50Ms, p99Ms } = compared
  const { driverPerSecond, barePerSecond } = compared
  const { says, target, reference } = command
  const ratio = requestsPerSecond / driverPerSecond
  const given = reference[connections]
  return [
    says,
    whole(connections),
    short(requestsPerSecond),
    short(p50Ms),
    short(p99Ms),
    short(driverPerSecond),
    ratio.toFixed(2),
    target === undefined ? '-' : `at least ${target}`,
    target === undefined ? '' : ratio >= target ? 'met' : 'missed',
    short(barePerSecond),
    (requestsPerSecond / barePerSecond).toFixed(2),
    given === undefined ? '-' : String(given),
    given === undefined ? '-' : (requestsPerSecond / given).toFixed(1),
  ]
}

function costTable(
  compared: readonly ComparedCommand[],
  statements: ReadonlyMap<string, number>,
): Table {
  return {
    title: 'What a request costs',
    head: [
      'command',
      'connections',
      'statements',
      'server, CPU ms',
      'node, CPU ms',
      'node by the driver, CPU ms',
    ],
    rows: compared.map(({ command, connections, serverMs, nodeMs, driverNodeMs }) => [
      command.says,
      whole(connections),
      shownCount(statements.get(command.kind)!),
      ...[serverMs, nodeMs, driverNodeMs].map((ms) =>
        ms === undefined ? '-' : decimal(ms),
      ),
    ]),
  }
}

function shownCount(count: number): string {
  return Number.isInteger(count) ? String(count) : count.toFixed(2)
}

function statementFigures(statements: ReadonlyMap<string, number>): Figure[] {
  return commands.flatMap(({ kind, says, statementsMax }) =>
    statementsMax === undefined
      ? []
      : [
          {
            what: `statements of ${says}`,
            value: statements.get(kind)!,
            unit: 'statements',
            max: statementsMax,
          },
        ],
  )
}

/** Drops the collection and the keyspace of the benchmark. */
async function dropAll(connect: ConnectOptions): Promise<void> {
  const client = clientOf(connect)
  try {
    await client.execute(`DROP TABLE IF EXISTS default_keyspace.${place.collection}`)
    await client.execute(`DROP KEYSPACE IF EXISTS ${place.systemKeyspace}`)
  } catch {
    // The keyspace does not exist yet.
  } finally {
    await client.shutdown()
  }
}
