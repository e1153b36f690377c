/**
 * `npm run hostile`: runs each attack against a separate server while another client works. Prints
 * how much longer this client waits than on the idle server, and what the attack costs the server.
 * Exits with 1 if a wait, memory or an answer exceeds its bound. With --generate, the load is
 * generated from a seed; see generated/generator.ts.
 */
import { parseArgs } from 'node:util'
import { attacks } from './attacks.ts'
import type { Attack } from './attack.ts'
import type { ConnectOptions } from '../cassandra/connect.ts'
import { testNode } from '../cassandra/test-node.ts'
import { generate } from './generated/generator.ts'
import { measure, problemsOf, rowOf } from './measure.ts'

const usage = `usage: npm run hostile -- [--only <names>] [--engine cassandra]
       npm run hostile -- --generate [--minutes <n>] [--seed <n>] [--episode <n>] [--engine cassandra]`

const { values } = parseArgs({
  options: {
    /** Names of attacks, separated by commas. */
    only: { type: 'string' },
    generate: { type: 'boolean', default: false },
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string' },
    /** If set, only the episode with this number runs. */
    episode: { type: 'string' },
    engine: { type: 'string', default: 'embedded' },
  },
})
if (values.generate) process.exitCode = (await runGenerated()) === 0 ? 0 : 1
else await runAttacks(values.only?.split(','))

function cluster(): Promise<ConnectOptions> | undefined {
  return values.engine === 'cassandra' ? testNode() : undefined
}

async function runGenerated(): Promise<number> {
  return generate(
    {
      seed: numberOf(values.seed) ?? Date.now() % 2 ** 31,
      minutes: numberOf(values.minutes)!,
      episode: numberOf(values.episode),
      cluster: await cluster(),
    },
    print,
  )
}

function numberOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (/^\d+$/.test(text)) return Number(text)
  print(`${text} is not a whole number\n${usage}`)
  process.exit(2)
}

async function runAttacks(names: readonly string[] | undefined): Promise<void> {
  const chosen = attacks.filter(({ name }) => names?.includes(name) ?? true)
  if (chosen.length === 0) {
    const known = attacks.map(({ name }) => name).join(', ')
    print(`${usage}\nknown: ${known}`)
    process.exit(2)
  }

  print(
    '| request | answers | longest wait: health | findOne | search | upload | CPU | longest turn | memory |',
  )
  print('|---|---|---|---|---|---|---|---|---|')
  let failed = 0
  const node = await cluster()
  for (const attack of chosen) {
    const measured = await measure(attack, node)
    print(rowOf(attack, measured))
    for (const problem of problemsOf(measured)) {
      failed++
      print(`FAILED: ${nameOf(attack)}: ${problem}`)
    }
  }
  process.exitCode = failed === 0 ? 0 : 1
}

function nameOf({ name }: Attack): string {
  return name
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
