/**
 * `npm run fuzz -- --minutes 20 --seed 3`: starts a server, sends it random and invalid input, and
 * checks the replies. Exits with 1 when it has findings.
 */
import { parseArgs } from 'node:util'
import { keep, readCorpus } from './corpus.ts'
import { fuzz, type Report } from './fuzzer.ts'
import { showInput, type CommandInput } from './input.ts'
import { catalogCodes } from './oracle.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    /** Lists the error codes of the catalog that no reply contained. */
    codes: { type: 'boolean', default: false },
  },
})
const minutes = Number(values.minutes)
const seed = Number(values.seed)
if (!(minutes > 0) || !Number.isSafeInteger(seed)) {
  process.stderr.write('usage: npm run fuzz -- [--minutes <number>] [--seed <integer>]\n')
  process.exit(2)
}

print(`seed ${seed}, ${minutes} minutes`)
const endsAt = performance.now() + minutes * 60_000
const corpus = readCorpus()
  .map(({ input }) => input)
  .filter((input): input is CommandInput => input.kind === 'command' && 'tree' in input)
const report = await fuzz({
  seed,
  corpus,
  isOver: () => performance.now() >= endsAt,
  tell: print,
})
await printReport(report)
process.exitCode = report.findings.length === 0 ? 0 : 1

async function printReport({
  requests,
  byKind,
  statuses,
  codes,
  findings,
  memory,
}: Report): Promise<void> {
  const counts = (map: ReadonlyMap<unknown, number>) =>
    [...map]
      .toSorted(([, a], [, b]) => b - a)
      .map(([key, count]) => `${String(key)} ${count}`)
      .join(', ')
  const megabytes = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MB`
  print(`requests    ${requests}: ${counts(byKind)}`)
  print(`statuses    ${counts(statuses)}`)
  print(`error codes ${codes.size} of the ${catalogCodes.size} in the catalog`)
  if (values.codes)
    print(`not seen    ${[...catalogCodes.difference(codes)].toSorted().join(' ')}`)
  const { before, most, after } = memory
  print(`memory      ${[before, most, after].map(megabytes).join(', ')}: first, most, last`)
  print(`findings    ${findings.length}`)
  for (const { kind, detail, input, isAlone } of findings) {
    print(`\n${kind}\n  ${detail.slice(0, 1_000)}`)
    if (isAlone) print(`  kept as ${await keep(kind, input)}`)
    else print(`  not by itself: ${showInput(input)}`)
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
