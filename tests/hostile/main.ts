/**
 * `npm run hostile`: each attack against a server of its own, while another client goes on
 * with its work. Prints how much longer that client had to wait than on the same server when
 * it was idle, and what the attack cost the server. Exits with 1 where a wait, memory or an
 * answer is beyond its bound.
 */
import { parseArgs } from 'node:util'
import { attacks } from './attacks.ts'
import type { Attack } from './attack.ts'
import { measure, problemsOf, rowOf } from './measure.ts'

const { values } = parseArgs({
  options: {
    /** Names of attacks, with commas between them. */
    only: { type: 'string' },
  },
})
const names = values.only?.split(',')
const chosen = attacks.filter(({ name }) => names?.includes(name) ?? true)
if (chosen.length === 0) {
  const known = attacks.map(({ name }) => name).join(', ')
  print(`usage: npm run hostile -- [--only <names>]\nknown: ${known}`)
  process.exit(2)
}

print(
  '| request | answers | longest wait: health | findOne | search | upload | CPU | longest turn | memory |',
)
print('|---|---|---|---|---|---|---|---|---|')
let failed = 0
for (const attack of chosen) {
  const measured = await measure(attack)
  print(rowOf(attack, measured))
  for (const problem of problemsOf(measured)) {
    failed++
    print(`FAILED: ${nameOf(attack)}: ${problem}`)
  }
}
process.exitCode = failed === 0 ? 0 : 1

function nameOf({ name }: Attack): string {
  return name
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
