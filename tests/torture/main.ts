/** `npm run torture`: runs for the given time and prints a table at the end. */
import { parseArgs } from 'node:util'
import { faultNames, type FaultName } from './faults.ts'
import { torture } from './torture.ts'
import { Unexplained } from './unexplained.ts'

const usage = `npm run torture -- [--minutes 20] [--rounds n] [--seed n] [--clients 8]
  [--faults ${faultNames.join(',')}]`

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    rounds: { type: 'string' },
    seed: { type: 'string' },
    clients: { type: 'string', default: '8' },
    faults: { type: 'string', default: faultNames.join(',') },
    help: { type: 'boolean', default: false },
  },
})

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

function readNumber(text: string, name: string): number {
  const number = Number(text)
  if (Number.isFinite(number) && number > 0) return number
  say(`--${name} takes a number above 0.\n${usage}`)
  process.exit(2)
}

function readFaults(text: string): Set<FaultName> {
  const names = text.split(',').filter((name) => name !== '')
  const isKnown = (name: string): name is FaultName =>
    (faultNames as readonly string[]).includes(name)
  if (names.every(isKnown)) return new Set(names)
  say(`--faults takes a list of ${faultNames.join(', ')}.\n${usage}`)
  process.exit(2)
}

if (values.help) {
  say(usage)
  process.exit(0)
}

const seed = Math.floor(
  values.seed === undefined ? Date.now() % 2 ** 31 : readNumber(values.seed, 'seed'),
)
const minutes = readNumber(values.minutes, 'minutes')
const rounds = values.rounds === undefined ? Infinity : readNumber(values.rounds, 'rounds')
const end = performance.now() + minutes * 60_000

say(`seed ${seed}`)
const { tally, failure } = await torture({
  seed,
  clients: Math.floor(readNumber(values.clients, 'clients')),
  faults: readFaults(values.faults),
  goesOn: (done) => done === 0 || (done < rounds && performance.now() < end),
  say,
})
say(`\n${tally.table()}`)
if (failure !== undefined) {
  const { error, folder, log } = failure
  say(`\nseed ${seed}, round ${tally.rounds + 1}: ${error.stack ?? error.message}`)
  if (error instanceof Unexplained) say(`\nbefore:\n${error.trace ?? ''}`)
  say(`\ndata folder: ${folder}\n\nthe end of the server's log:\n${log.slice(-4_000)}`)
}
process.exit(failure === undefined ? 0 : 1)
