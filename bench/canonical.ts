/** The benchmark of the workloads we care about most: `npm run bench`. */
import { Command, InvalidArgumentError } from 'commander'
import { printMarkdown, printResults } from './report.ts'
import { runBench } from './run.ts'
import { workloads } from './workloads/registry.ts'
import type { Workload } from './workloads/workload.ts'

interface Flags {
  readonly sizes: readonly number[]
  readonly connections: readonly number[]
  readonly seconds: number
  readonly seed: number
  readonly keep?: string
  readonly profile?: string
  readonly markdown?: true
}

await new Command('bench')
  .description('Measures the server, each workload against a baseline in the same run.')
  .argument('[name...]', 'workloads to run; all when none is named', addWorkload)
  .option('--sizes <list>', 'documents to start with', wholeNumbers, [10_000, 1_000_000])
  .option('--connections <list>', 'requests at a time', wholeNumbers, [1, 32])
  .option('--seconds <number>', 'time for each workload, and each baseline', positive, 5)
  .option('--seed <number>', 'what the documents are made from', positive, 7)
  .option('--keep <folder>', 'keep loaded documents there, or use those that are')
  .option('--profile <folder>', 'leave CPU profiles of the server there')
  .option('--markdown', 'print machine facts, too')
  .addHelpText('after', `\nWorkloads: ${workloads.map(({ name }) => name).join(', ')}`)
  .action(async (named: readonly Workload[], flags: Flags) => {
    const { sizes, connections, seconds, seed, keep, profile } = flags
    const results = await runBench({
      workloads: named.length === 0 ? workloads : named,
      sizes,
      connections,
      seconds,
      seed,
      keepDir: keep,
      profileDir: profile,
      progress: (line) => process.stderr.write(`${line}\n`),
    })
    process.stdout.write(
      flags.markdown
        ? printMarkdown(
            results,
            `${seconds} s for each workload and baseline, seed ${seed}`,
          )
        : printResults(results),
    )
  })
  .parseAsync()

function addWorkload(name: string, others: readonly Workload[] | undefined): Workload[] {
  const workload = workloads.find((workload) => workload.name === name)
  if (workload === undefined)
    throw new InvalidArgumentError(
      `There are ${workloads.map(({ name }) => name).join(', ')}.`,
    )
  return [...(others ?? []), workload]
}

function wholeNumbers(text: string): number[] {
  const numbers = text.split(',').map(Number)
  if (!numbers.every((number) => Number.isSafeInteger(number) && number > 0))
    throw new InvalidArgumentError('It takes whole numbers with commas between them.')
  return numbers
}

function positive(text: string): number {
  const number = Number(text)
  if (!(number > 0)) throw new InvalidArgumentError('It takes a number above 0.')
  return number
}
