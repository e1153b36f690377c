/** `stela repair`: builds the index of terms on a cluster anew. */
import { Command } from 'commander'
import { EngineError, type EngineErrorKind } from '../engine/errors.ts'
import type { RepairListener } from '../open-engine.ts'
import { addClusterOptions, readCluster } from './cluster-options.ts'
import { CommandFailure, reportFailures } from './records/failure.ts'
import { Meter } from './records/progress-meter.ts'

export const repair = addClusterOptions(
  new Command('repair')
    .description('Build the index of terms on a cluster anew.')
    .helpOption('--help', 'show this help'),
  'The cluster:',
)
  .addHelpText(
    'after',
    `
Apache Cassandra cannot search by terms, so servers keep an index of terms there. It is written
again from all texts of documents and rows, and what belongs to none is removed. Servers may be
running, and go on. Run it when rows of a table with a text index were written by others than
Stela, when a server died while it created a text index, or after a node has lost data.

Examples:
  export STELA_CASSANDRA_USER=… STELA_CASSANDRA_PASSWORD=…
  stela repair --contact-points 10.0.0.1
`,
  )
  .action((options: object, command: Command) =>
    reportFailures(async () => {
      const cluster = readCluster(command, { ...options, engine: 'cassandra' })!
      const { repairCluster } = await import('../open-engine.ts')
      try {
        const isDone = await repairCluster(cluster, progress())
        print(
          isDone
            ? 'The index of terms is whole.'
            : 'Nothing to do: this cluster keeps an index of terms itself.',
        )
      } catch (error) {
        if (!(error instanceof EngineError)) throw error
        const advice = mayPass.has(error.kind) ? '. Run the same command again.' : '.'
        throw new CommandFailure(error.message + advice)
      }
    }),
  )

const mayPass: ReadonlySet<EngineErrorKind> = new Set([
  ...(['overloaded', 'read', 'write', 'timeout', 'unavailable'] as const),
])

/** A line for each collection and text index, and how far it is while that takes long. */
function progress(): RepairListener {
  let meter: Meter
  return {
    indexing({ index }) {
      let count = 0
      meter = new Meter(nounOf(index), () => ({ count }))
      return (read) => void (count = read)
    },
    indexed({ keyspace, name, index }, count) {
      const took = meter.finish(count)
      const place = index === undefined ? name : `${name}, index ${index}`
      print(`${keyspace}.${place}: ${count} ${nounOf(index)} read ${took}`)
    },
  }
}

/** Only tables have several. */
function nounOf(index: string | undefined): string {
  return index === undefined ? 'documents' : 'rows'
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
