/**
 * `stela repair`: rebuilds the catalog of a data folder, or the term index in a cluster.
 */
import { Command } from 'commander'
import { EngineError, type EngineErrorKind } from '../engine/errors.ts'
import type { RepairListener } from '../open-engine.ts'
import { addClusterOptions, readCluster } from './cluster-options.ts'
import { dataOption } from '../settings/serve-options.ts'
import { targetsText } from './backup/size-text.ts'
import { counted } from '../errors/catalog-entry.ts'
import { CommandFailure, fileFailure, reportFailures } from './records/failure.ts'
import { Meter } from './records/progress-meter.ts'

export const repair = addClusterOptions(
  new Command('repair')
    .description('Rebuild the catalog of a data folder, or the term index of a cluster.')
    .helpOption('--help', 'show this help')
    .option('--catalog', 'rebuild catalog.db of a data folder from its stores')
    .addOption(dataOption('data folder; its server must be stopped')),
  'The cluster:',
)
  .addHelpText(
    'after',
    `
With --catalog: rebuilds the catalog of a data folder from its stores. A server refuses a folder
whose catalog is damaged or has lost changes. Nothing is deleted: the old catalog stays beside the
new one, and stores that cannot be listed move to quarantine.stores. The exit status is 0 even when
something could not be restored; the output names it.

Without --catalog: rebuilds the term index of a cluster. Apache Cassandra has no BM25 search, so
servers store a term index there. The repair writes it again from all texts and removes orphaned
entries. Servers may be running. Run it after another program wrote rows of a table with a text
index, after a server crashed while creating a text index, or after a node lost data.

Examples:
  stela repair --catalog --data /var/lib/stela
  export STELA_CASSANDRA_USER=… STELA_CASSANDRA_PASSWORD=…
  stela repair --contact-points 10.0.0.1
`,
  )
  .action((options: RepairOptions, command: Command) =>
    reportFailures(async () => {
      if (options.catalog === true) return repairCatalog(options.data)
      const cluster = readCluster(command, { ...options, engine: 'cassandra' }, ['data'])!
      const { repairCluster } = await import('../open-engine.ts')
      try {
        const isDone = await repairCluster(cluster, progress())
        print(
          isDone
            ? 'The term index is complete.'
            : 'Nothing to repair: this cluster supports lexical search without a term index.',
        )
      } catch (error) {
        if (!(error instanceof EngineError)) throw error
        const advice = mayPass.has(error.kind) ? '. Run the same command again.' : '.'
        throw new CommandFailure(error.message + advice)
      }
    }),
  )

interface RepairOptions {
  readonly catalog?: true
  readonly data: string
}

async function repairCatalog(dataDir: string): Promise<void> {
  const { rebuildCatalog } = await import('../server.ts')
  try {
    const { targets, keyspaces, types, settings, losses, kept } = rebuildCatalog(dataDir)
    for (const target of targets) print(target)
    for (const loss of losses) print(`lost: ${loss}`)
    if (kept !== undefined) print(`The old catalog is kept as ${kept}.`)
    print(
      `The catalog was rebuilt: ${targetsText(targets.length)} in ` +
        `${counted(keyspaces, 'keyspace')}, ${counted(types, 'type')}, ` +
        `${counted(settings, 'setting')}, ${losses.length} lost.`,
    )
  } catch (error) {
    if (error instanceof EngineError) throw new CommandFailure(error.message)
    throw fileFailure(error)
  }
}

const mayPass: ReadonlySet<EngineErrorKind> = new Set([
  ...(['overloaded', 'read', 'write', 'timeout', 'unavailable', 'unreachable'] as const),
])

/** Prints one line per collection and text index, and a progress line while a large one is read. */
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

/**
 * Noun for the records that an index covers. `index` is undefined for the term index of a
 * collection, and otherwise names a text index of a table.
 */
function nounOf(index: string | undefined): string {
  return index === undefined ? 'documents' : 'rows'
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
