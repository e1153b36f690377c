/**
 * Counts the statements of each command. It executes the commands in an engine of this process,
 * because the measured server runs in another process.
 */
import { openCassandraEngine } from '../../src/engine/cassandra/engine.ts'
import type { Collection, Engine } from '../../src/engine/contract.ts'
import { firstKeyspace } from '../../src/engine/schema.ts'
import { build } from '../../src/server.ts'
import { defaultConfig } from '../../src/settings/config.ts'
import { engineOptionsOf, type ConnectOptions } from '../../tests/cassandra/connect.ts'
import { noPollMs, StatementCounts } from '../../tests/cassandra/statement-counts.ts'
import { requestBytes } from '../client.ts'
import { token } from '../processes.ts'
import { askEach } from '../served.ts'
import { commands } from './commands.ts'
import type { ClusterPicks } from './documents.ts'

/** Number of counted requests per command. */
const countedEach = 20

export interface Counted {
  /** Statements per command, by kind. */
  readonly statements: ReadonlyMap<string, number>
  readonly collection: Collection
}

export interface Place {
  readonly systemKeyspace: string
  readonly collection: string
}

export async function countStatements(
  connect: ConnectOptions,
  { systemKeyspace, collection: name }: Place,
  picks: ClusterPicks,
): Promise<Counted> {
  const engine = await openCounting(connect, systemKeyspace)
  const counts = new StatementCounts(engine)
  const config = { ...defaultConfig, adminToken: token, logLevel: 'warn', port: 0 } as const
  const server = await build({ ...config, adminPort: 'off' }, engine)
  try {
    const port = Number(new URL((await server.listen()).url).port)
    const path = `/v1/${firstKeyspace}/${name}`
    const ask = (bodies: readonly string[]) =>
      askEach(
        port,
        bodies.map((body) => requestBytes(path, token, body)),
      )
    const statements = new Map<string, number>()
    for (const { kind, body } of commands) {
      // The first request also reads the schema.
      await ask([body(picks)])
      counts.take()
      await ask(Array.from({ length: countedEach }, () => body(picks)))
      statements.set(kind, counts.take().ofCommands / countedEach)
    }
    const collection = await engine.findTarget(firstKeyspace, name)
    return { statements, collection: collection as Collection }
  } finally {
    await server.close()
    await engine.close()
  }
}

function openCounting(connect: ConnectOptions, systemKeyspace: string): Promise<Engine> {
  return openCassandraEngine({
    ...engineOptionsOf(connect, systemKeyspace, firstKeyspace),
    settingsPollMs: noPollMs,
    defaults: { lexical: { enabled: false }, rerank: { enabled: false } },
  })
}
