/** `stela migrate`: copies all data from a data folder to a cluster, or back. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Command, Option } from 'commander'
import type { Engine } from '../engine/contract.ts'
import { EngineError } from '../engine/errors.ts'
import type { CopyReport, Examples } from '../migrate/copy-records.ts'
import type { Migrated, MigratedTarget, MigrationListener } from '../migrate/migrate.ts'
import type { ClusterConfig } from '../settings/cluster-settings.ts'
import { defaultConfig } from '../settings/config.ts'
import { dataOption } from '../settings/serve-options.ts'
import { targetsText } from './backup/size-text.ts'
import { findingsIn } from './check-cluster.ts'
import { addClusterOptions, readCluster } from './cluster-options.ts'
import { CommandFailure, reportFailures } from './records/failure.ts'
import { Meter } from './records/progress-meter.ts'

type EngineName = 'embedded' | 'cassandra'

interface MigrateOptions {
  readonly from: EngineName
  readonly to: EngineName
  readonly data: string
}

export const migrateCommand = addClusterOptions(
  new Command('migrate')
    .description('Copy all data from a data folder to a cluster, or back.')
    .helpOption('--help', 'show this help')
    .addOption(engineOption('from', 'source engine'))
    .addOption(engineOption('to', 'destination engine'))
    .addOption(dataOption('data folder; its server must be stopped')),
  'The cluster:',
)
  .addHelpText(
    'after',
    `
Migrates all databases with their keyspaces, types, collections, tables, indexes, documents and
rows, and all tokens, roles and users; existing tokens stay valid. Features that the destination
does not support are listed before anything is copied. Existing records are compared and never
overwritten, so you can run an interrupted migration again. At the end both sides are compared.

The exit status is 0 when both sides are equal, 1 when they differ, and 2 when the migration was
refused before copying anything.

Examples:
  export STELA_CASSANDRA_USER=… STELA_CASSANDRA_PASSWORD=…
  stela migrate --from embedded --to cassandra --data /var/lib/stela --contact-points 10.0.0.1
  stela migrate --from cassandra --to embedded --data copy --contact-points 10.0.0.1
`,
  )
  .action((options: MigrateOptions, command: Command) =>
    reportFailures(async () => {
      if (options.from === options.to)
        command.error(`error: --from and --to are both ${options.from}. They must differ.`)
      const cluster = readCluster(command, { ...options, engine: 'cassandra' }, ['data'])!
      try {
        await run(options, cluster)
      } catch (error) {
        if (!(error instanceof EngineError)) throw error
        throw new CommandFailure(
          `${error.message}. Run the same command again to continue.`,
        )
      }
    }),
  )

function engineOption(name: 'from' | 'to', says: string): Option {
  return new Option(`--${name} <engine>`, says)
    .choices(['embedded', 'cassandra'])
    .makeOptionMandatory()
}

async function run(options: MigrateOptions, cluster: ClusterConfig): Promise<void> {
  const { checkCluster } = await import('../open-engine.ts')
  const { migrate } = await import('../migrate/migrate.ts')
  const from = await open(options.from, options, cluster)
  try {
    const to = await open(options.to, options, cluster)
    try {
      const migration = await migrate(from, to, new Progress())
      if ('obstacles' in migration) {
        refuse(migration.obstacles)
        return
      }
      const checked =
        options.to === 'cassandra' ? (await checkCluster(cluster)).targets : []
      const moved = new Set(migration.targets.map(({ name }) => name))
      const targets = checked.filter(({ keyspace, name }) =>
        moved.has(`${keyspace}.${name}`),
      )
      report(migration, findingsIn({ targets }), options)
    } finally {
      await to.close()
    }
  } finally {
    await from.close()
  }
}

async function open(
  name: EngineName,
  { from, data }: MigrateOptions,
  cluster: ClusterConfig,
): Promise<Engine> {
  const { openForMigration } = await import('../open-engine.ts')
  const log = () => undefined
  if (name === 'cassandra') return openForMigration({ ...defaultConfig, cluster }, log)
  if (from === 'embedded' && !existsSync(join(data, 'catalog.db')))
    throw new CommandFailure(
      `${data} is not a data folder: it has no catalog.db. Check --data.`,
    )
  const folder = { ...defaultConfig, dataDir: data, searchThreads: 1 }
  try {
    return await openForMigration(folder, log)
  } catch (error) {
    // The engine's message says what to do, for example to stop the server.
    throw error instanceof EngineError ? new CommandFailure(`${error.message}.`) : error
  }
}

/** Prints one line per target, and a progress line while a large target is copied. */
class Progress implements MigrationListener {
  #meter: Meter | undefined

  copying({ noun }: { readonly noun: string }, estimate: number) {
    let count = 0
    this.#meter = new Meter(noun, () => ({
      count,
      part: estimate === 0 ? undefined : Math.min(count / estimate, 1),
    }))
    return (done: number) => void (count = done)
  }

  copied(
    { name, noun }: { readonly name: string; readonly noun: string },
    copied: CopyReport,
  ) {
    const took = this.#meter!.finish(copied.source.count)
    const { moved, present, differing, refused } = copied
    const parts = [
      `${moved} ${noun} moved`,
      ...(present > 0 ? [`${present} already there`] : []),
      ...(differing.count > 0
        ? [`${differing.count} already there with other content`]
        : []),
      ...(refused.count > 0 ? [`${refused.count} rejected`] : []),
    ]
    say(`${name}: ${parts.join(', ')}; ${took}`)
    this.#list(differing, 'differs')
    this.#list(refused, 'rejected')
  }

  verifying({ name }: { readonly name: string }) {
    if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${name}: verifying`)
  }

  #list({ count, some }: Examples, word: string): void {
    for (const example of some) say(`  ${word}: ${example}`)
    if (count > some.length) say(`  and ${count - some.length} others`)
  }
}

function refuse(obstacles: readonly string[]): void {
  for (const obstacle of obstacles) say(obstacle)
  say(
    'nothing was moved. Resolve the conflicts above. If all of them are settings, ' +
      'you can choose another --system-keyspace instead.',
  )
  process.exitCode = 2
}

function report(
  { targets, settings, isSame }: Migrated,
  incomplete: readonly string[],
  { to }: MigrateOptions,
): void {
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K')
  for (const target of targets) print(verdictOf(target))
  for (const line of incomplete) print(line)
  const count = (of: (target: MigratedTarget) => number) =>
    targets.reduce((sum, target) => sum + of(target), 0)
  const moved = count((target) => target.moved)
  const present = count((target) => target.present)
  print(
    `${targetsText(targets.length)}: ${moved} documents and rows moved, ${present} ` +
      `already there. Settings moved: ${settings.join(', ') || 'none'}.`,
  )
  const isGood = isSame && incomplete.length === 0
  print(
    isGood
      ? 'Source and destination are equal.'
      : 'NOT EQUAL: the lines above list the differences.',
  )
  if (!isGood) process.exitCode = 1
  else if (to === 'cassandra')
    print('Start a server on it with: stela serve --engine cassandra')
}

function verdictOf({ name, noun, source, target, isSame }: MigratedTarget): string {
  return isSame
    ? `${name}: ${source.count} ${noun} with checksum ${source.sum} on both sides`
    : `${name}: source has ${source.count} ${noun} with checksum ${source.sum}, ` +
        `destination ${target.count} with ${target.sum}`
}

function say(line: string): void {
  process.stderr.write(`stela: ${line}\n`)
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
