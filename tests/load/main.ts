/**
 * `npm run load -- --connections 10000 --minutes 30`: holds 10 000 connections, then loads the
 * server fully for 30 minutes. Exits with 1 if a reply was wrong, a connection was lost, or memory
 * grew.
 */
import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { loadFully, type Loaded } from './full-load.ts'
import { findGrowth, slopeOf, tableOf } from './growth.ts'
import { holdConnections, type Held } from './held-connections.ts'
import { LoadedServer, megabytes, type Usage } from './loaded-server.ts'

const { values } = parseArgs({
  options: {
    connections: { type: 'string', default: '10000' },
    /** Seconds to hold the connections. */
    hold: { type: 'string', default: '60' },
    minutes: { type: 'string', default: '5' },
  },
})
const connections = Number(values.connections)
const holdSeconds = Number(values.hold)
const minutes = Number(values.minutes)
if (!Number.isSafeInteger(connections) || !(holdSeconds >= 0) || !(minutes >= 0)) {
  print('usage: npm run load -- [--connections <n>] [--hold <seconds>] [--minutes <n>]')
  process.exit(2)
}

const raised = 'STELA_LOAD_LIMIT_RAISED'
if (process.env[raised] === undefined) {
  // Restarts this script with a higher limit of open files, which child processes inherit.
  const again = [process.execPath, ...process.execArgv, ...process.argv.slice(1)]
  const { status } = spawnSync(
    'sh',
    ['-c', 'ulimit -n 65536 2>/dev/null; exec "$0" "$@"', ...again],
    { stdio: 'inherit', env: { ...process.env, [raised]: 'yes' } },
  )
  process.exit(status ?? 1)
}

const held = connections > 0 ? await hold() : []
const loaded = minutes > 0 ? await load() : []
const problems = [...held, ...loaded]
for (const problem of problems) print(`FAILED: ${problem}`)
process.exitCode = problems.length === 0 ? 0 : 1

async function hold(): Promise<string[]> {
  const server = await LoadedServer.start()
  const result = await holdConnections(server, connections, holdSeconds)
  const { complaints } = server
  await server.stop()
  printHeld(result)
  return [
    ...result.problems,
    ...(result.stayed < connections ? [`${connections - result.stayed} were cut off`] : []),
    ...(complaints === '' ? [] : [complaints]),
  ]
}

function printHeld({ stayed, answered, wrong, before, during, after }: Held): void {
  print(`${connections} connections, held for ${holdSeconds} s`)
  print(`  stayed open ${stayed}, commands answered right ${answered}, wrong ${wrong}`)
  const show = (when: string, usage: Usage) =>
    print(
      `  ${when.padEnd(7)} ${megabytes(usage.memory)} MB memory, ` +
        `${megabytes(usage.heap)} MB heap, ${usage.connections} connections`,
    )
  show('before', before)
  show('with', during)
  show('after', after)
  const each = (during.memory - before.memory) / connections / 1024
  print(`  ${each.toFixed(1)} KB for each connection`)
}

async function load(): Promise<string[]> {
  const server = await LoadedServer.start()
  const result = await loadFully(server, minutes * 60)
  const { complaints } = server
  await server.stop()
  printLoaded(result)
  return [
    ...result.problems,
    ...findGrowth(result.samples),
    ...(complaints === '' ? [] : [complaints]),
  ]
}

function printLoaded({ requests, samples }: Loaded): void {
  print(`full load for ${minutes} minutes`)
  for (const line of tableOf(samples)) print(`  ${line}`)
  print(`  ${requests} requests, ${Math.round(requests / minutes / 60)} a second`)
  const slope = `${slopeOf(samples).toFixed(1)} MB an hour`
  const note = minutes < 10 ? ' (10 minutes are needed to judge it)' : ''
  print(`  memory over the last two thirds: ${slope}${note}`)
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
