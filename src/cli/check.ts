/** `stela check`: looks whether the data of a stopped server is sound. */
import { Command } from 'commander'
import { dataOption } from '../settings/config.ts'
import { EngineError } from '../engine/errors.ts'
import type { checkEverything } from '../server.ts'

export const check = new Command('check')
  .description('Look whether a data folder is sound. The server must not be running.')
  .helpOption('--help', 'show this help')
  .addOption(dataOption())
  .addHelpText(
    'after',
    `
Everything that is stored twice is compared: indexes with documents and rows, counts with
what is counted, searches with texts and vectors. Nothing is changed. The exit status is 0
where all is sound, 1 where something is not, and 2 where the folder cannot be checked.

Examples:
  stela check                         the folder stela-data
  stela check --data /var/lib/stela   another one
`,
  )
  .action(async ({ data }: { readonly data: string }) => {
    const { checkEverything } = await import('../server.ts')
    try {
      process.exitCode = report(checkEverything(data)) ? 0 : 1
    } catch (error) {
      if (!(error instanceof EngineError)) throw error
      process.stderr.write(`stela: ${error.message}\n`)
      process.exitCode = 2
    }
  })

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
      ? `All is sound: the catalog and ${count} collections and tables.`
      : `${found} found, in the catalog and ${count} collections and tables.`,
  )
  return found === 0
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
