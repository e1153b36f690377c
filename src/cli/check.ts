/** `stela check`: looks whether the data of a stopped server is sound, or how a cluster is. */
import { Command } from 'commander'
import { dataOption, engineOption } from '../settings/config.ts'
import { EngineError } from '../engine/errors.ts'
import type { checkEverything } from '../server.ts'
import type { ClusterConfig } from '../settings/cluster-settings.ts'
import { describeCluster } from './check-cluster.ts'
import { targetsText } from './backup/size-text.ts'
import { addClusterOptions, readCluster } from './cluster-options.ts'

export const check = addClusterOptions(
  new Command('check')
    .description(
      'Look whether a data folder is sound, whose server must not be running; or how a cluster is.',
    )
    .helpOption('--help', 'show this help')
    .addOption(engineOption())
    .addOption(dataOption()),
  'With --engine cassandra:',
)
  .addHelpText(
    'after',
    `
Everything that is stored twice is compared: indexes with documents and rows, counts with
what is counted, searches with texts and vectors. Nothing is changed. The exit status is 0
where all is sound, 1 where something is not, and 2 where the folder cannot be checked.

Of a cluster it says what it can do, which nodes are up, whether they agree on the schema, and
which collections lack a column or an index. Servers may be running.

Examples:
  stela check                         the folder stela-data
  stela check --data /var/lib/stela   another one
  stela check --engine cassandra --contact-points 10.0.0.1
`,
  )
  .action(async (options: { readonly data: string }, command: Command) => {
    const cluster = readCluster(command, { ...options })
    try {
      process.exitCode = (await isSound(options.data, cluster)) ? 0 : 1
    } catch (error) {
      if (!(error instanceof EngineError)) throw error
      process.stderr.write(`stela: ${error.message}\n`)
      process.exitCode = 2
    }
  })

async function isSound(data: string, cluster: ClusterConfig | undefined): Promise<boolean> {
  if (cluster === undefined) {
    const { checkEverything } = await import('../server.ts')
    return report(checkEverything(data))
  }
  const { checkCluster } = await import('../open-engine.ts')
  const [text, wrong] = describeCluster(await checkCluster(cluster))
  process.stdout.write(text)
  return wrong === 0
}

/** A line for each target, and for each finding; true where there is none. */
function report(checked: ReturnType<typeof checkEverything>): boolean {
  let found = 0
  let count = 0
  for (const { name, findings, notes } of checked) {
    if (name !== undefined) count++
    const verdict = findings.length === 0 ? 'sound' : `${findings.length} found`
    print(`${name ?? 'catalog'}: ${verdict}`)
    for (const finding of findings) print(`  ${finding}`)
    for (const note of notes) print(`  note: ${note}`)
    found += findings.length
  }
  print(
    found === 0
      ? `All is sound: the catalog and ${targetsText(count)}.`
      : `${found} found, in the catalog and ${targetsText(count)}.`,
  )
  return found === 0
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
