/** `stela check`: checks the data folder of a stopped server, or a cluster. */
import { Command } from 'commander'
import { dataOption, engineOption } from '../settings/serve-options.ts'
import { EngineError } from '../engine/errors.ts'
import type { checkEverything } from '../server.ts'
import type { ClusterConfig } from '../settings/cluster-settings.ts'
import { describeCluster } from './check-cluster.ts'
import { targetsText } from './backup/size-text.ts'
import { addClusterOptions, readCluster } from './cluster-options.ts'

export const check = addClusterOptions(
  new Command('check')
    .description(
      'Check the data folder of a stopped server for damage, or check a cluster.',
    )
    .helpOption('--help', 'show this help')
    .addOption(engineOption())
    .addOption(dataOption()),
  'With --engine cassandra:',
)
  .addHelpText(
    'after',
    `
Verifies every page, row, index entry, write-ahead log and snapshot in the data folder, and compares
redundant data: indexes with documents and rows, counters with the records they count. The check
changes nothing on disk. No server can start on the folder while it runs.

The exit status is
  0  no damage found
  1  damage found; the output names each file and problem
  2  the folder, or a part of it, cannot be checked: it does not exist, a server uses it, the
     disk is full or read-only, there is no permission, or no file handles are left

With a cluster, the check prints supported features, nodes that are up, schema agreement, and
collections that lack a column or an index. Servers may be running.

Examples:
  stela check                         check the folder stela-data
  stela check --data /var/lib/stela   check another folder
  stela check --engine cassandra --contact-points 10.0.0.1
`,
  )
  .action(async (options: { readonly data: string }, command: Command) => {
    const cluster = readCluster(command, { ...options })
    try {
      process.exitCode = await runCheck(options.data, cluster)
    } catch (error) {
      const obstacle = obstacleIn(error)
      if (obstacle === undefined) throw error
      process.stderr.write(`stela: ${obstacle}\n`)
      process.exitCode = 2
    }
  })

/** The reason why the check cannot run; undefined if the error is internal. */
function obstacleIn(error: unknown): string | undefined {
  if (error instanceof EngineError) return error.message
  // The process may reach its limit of open files anywhere in the check, even while it loads a
  // module.
  const { code } = Object(error) as { code?: unknown }
  return code === 'EMFILE' || code === 'ENFILE'
    ? 'this process has too many open files. Raise the limit (ulimit -n), then check again'
    : undefined
}

/** Checks a data folder or a cluster, and prints a report. Returns the exit status. */
async function runCheck(data: string, cluster: ClusterConfig | undefined): Promise<number> {
  if (cluster === undefined) {
    const { checkEverything } = await import('../server.ts')
    return report(checkEverything(data))
  }
  const { checkCluster } = await import('../open-engine.ts')
  const [text, wrong] = describeCluster(await checkCluster(cluster))
  process.stdout.write(text)
  return wrong === 0 ? 0 : 1
}

/** Prints one line per target and per finding. Returns the exit status. */
function report(checked: ReturnType<typeof checkEverything>): number {
  let problems = 0
  let unchecked = 0
  let count = 0
  for (const { name, file, findings, notes, obstacle } of checked) {
    if (name !== undefined) count++
    if (obstacle !== undefined) unchecked++
    problems += findings.length
    const verdict =
      findings.length > 0
        ? `${problemsText(findings.length)} in ${file}`
        : obstacle === undefined
          ? 'ok'
          : 'not checked'
    print(`${name ?? 'catalog'}: ${verdict}`)
    for (const finding of findings) print(`  ${finding}`)
    for (const note of notes) print(`  note: ${note}`)
    if (obstacle !== undefined) process.stderr.write(`stela: ${obstacle}\n`)
  }
  const all = `the catalog and ${targetsText(count)}`
  if (problems > 0) print(`${problemsText(problems)} in ${all}.`)
  else if (unchecked === 0) print(`No problems in ${all}.`)
  if (unchecked > 0) print(`${unchecked} of ${targetsText(count)} could not be checked.`)
  return problems > 0 ? 1 : unchecked > 0 ? 2 : 0
}

function problemsText(count: number): string {
  return count === 1 ? '1 problem' : `${count} problems`
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
