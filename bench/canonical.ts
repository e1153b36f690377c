/** The main benchmark: `npm run bench`. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command, InvalidArgumentError } from 'commander'
import { plotCurve } from './plot.ts'
import { printFindings, printMachine, printResults, printVersions } from './report.ts'
import { runBench } from './run.ts'
import { compareVersions } from './versions.ts'
import { studies, workloads } from './workloads/registry.ts'
import type { Study } from './workloads/study.ts'
import type { Workload } from './workloads/workload.ts'

interface Flags {
  readonly sizes?: readonly number[]
  readonly vectors?: readonly number[]
  readonly connections?: readonly number[]
  readonly seconds: number
  readonly seed: number
  readonly keep?: string
  readonly against?: string
  readonly starts: number
  readonly rounds?: number
  readonly parts?: readonly string[]
  readonly program?: string
  readonly profile?: string
  readonly markdown?: true
  readonly plot: string
}

interface Named {
  readonly workloads: readonly Workload[]
  readonly studies: readonly Study[]
}

const defaultSizes = [10_000, 1_000_000]
const defaultConnections = [1, 32]
/** Turns of each version per start. */
const defaultRounds = 20

await new Command('bench')
  .description('Measures the server, each workload against a baseline in the same run.')
  .argument('[name...]', 'what to run; all workloads when none is named', addNamed)
  .option(
    '--sizes <list>',
    `documents to start with (default: ${defaultSizes.join(',')}; studies have their own)`,
    wholeNumbers,
  )
  .option('--vectors <list>', 'rows with vectors, for tables', wholeNumbers)
  .option(
    '--connections <list>',
    `requests at a time (default: ${defaultConnections.join(',')}; a study may have its own)`,
    wholeNumbers,
  )
  .option('--seconds <number>', 'time for each workload and each baseline', positive, 5)
  .option('--seed <number>', 'seed of documents and requests', positive, 7)
  .option('--keep <folder>', 'keep loaded documents in this folder, or use its documents')
  .option(
    '--against <folder>',
    'compare CPU time with another version, whose sources are in this folder',
  )
  .option('--starts <number>', 'starts of each version, with --against', positive, 3)
  .option(
    '--rounds <number>',
    'turns of each version per start, with --against (default: 20); of each server in a study',
    positive,
  )
  .option('--parts <list>', 'requests to measure, in a study that has several', names)
  .option('--program <file>', 'start this program instead of the source, for postgres')
  .option('--profile <folder>', 'write CPU profiles of the server to this folder')
  .option('--markdown', 'also print facts of the machine, and draw the curve of a study')
  .option('--plot <file>', 'file for the curve', join(import.meta.dirname, 'recall.svg'))
  .addHelpText(
    'after',
    `\nWorkloads: ${namesOf(workloads)}\nStudies, run by name: ${namesOf(studies)}`,
  )
  .action(async (named: Named | [], flags: Flags, command: Command) => {
    // commander passes the default, an unparsed empty list, if no arguments are given.
    const chosen = Array.isArray(named) ? { workloads, studies: [] } : named
    if (flags.markdown)
      print(
        printMachine(
          `${flags.seconds} s for each workload and baseline, seed ${flags.seed}`,
        ),
      )
    if (chosen.workloads.length > 0) await runWorkloads(chosen.workloads, flags)
    for (const study of chosen.studies) {
      const missing = study.missing?.()
      if (missing !== undefined) {
        print(`${study.name} is left out. ${missing}\n`)
        continue
      }
      const problem = partsProblem(study, flags.parts)
      if (problem !== undefined) command.error(problem)
      for (const sizes of sizesOf(study, flags.sizes)) await runStudy(study, sizes, flags)
    }
  })
  .parseAsync()

async function runWorkloads(named: readonly Workload[], flags: Flags): Promise<void> {
  const { sizes = defaultSizes, connections = defaultConnections } = flags
  const { seconds, seed, keep, against, starts, profile } = flags
  const { rounds = defaultRounds } = flags
  if (against !== undefined) {
    const measured = { workloads: named, sizes, connections, seconds, seed }
    const rows = await compareVersions({ ...measured, against, starts, rounds, progress })
    print(printVersions(rows))
    return
  }
  const results = await runBench({
    workloads: named,
    sizes,
    connections,
    seconds,
    seed,
    keepDir: keep,
    profileDir: profile,
    progress,
  })
  print(printResults(results))
}

/**
 * The sizes of each run. A study of growth needs all sizes in one run; other studies run once per
 * size.
 */
function sizesOf(
  { size, smaller }: Study,
  asked: readonly number[] | undefined,
): readonly (readonly number[])[] {
  if (smaller === undefined) return (asked ?? [size]).map((one) => [one])
  return [asked ?? [...smaller, size]]
}

async function runStudy(
  study: Study,
  sizes: readonly number[],
  flags: Flags,
): Promise<void> {
  const { vectors, seconds, seed, rounds, parts, program } = flags
  const { keep, profile, markdown, plot } = flags
  const { connections = study.connections ?? defaultConnections } = flags
  const folder = mkdtempSync(join(tmpdir(), 'stela-bench-'))
  try {
    const findings = await study.run({
      size: Math.max(...sizes),
      sizes: ascending(sizes),
      vectors: vectors === undefined ? undefined : ascending(vectors),
      connections,
      seconds,
      seed,
      rounds,
      parts,
      program,
      folder,
      keepDir: keep,
      profileDir: profile,
      progress,
    })
    print(`## ${study.name}: ${study.says}\n\n${printFindings(findings)}\n`)
    if (markdown && findings.curve !== undefined)
      writeFileSync(plot, plotCurve(findings.curve))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function ascending(numbers: readonly number[]): number[] {
  return numbers.toSorted((a, b) => a - b)
}

/** The reason why a study cannot run only these parts; undefined if it can. */
function partsProblem(
  { name, parts = [] }: Study,
  asked: readonly string[] = [],
): string | undefined {
  const unknown = asked.filter((part) => !parts.includes(part))
  if (unknown.length === 0) return undefined
  return `${name} has no part ${unknown.join(', ')}; it has ${parts.join(', ') || 'none'}`
}

function print(text: string): void {
  process.stdout.write(text)
}

function progress(line: string): void {
  process.stderr.write(`${line}\n`)
}

function addNamed(name: string, others: Named | undefined): Named {
  const { workloads: moreWorkloads = [], studies: moreStudies = [] } = others ?? {}
  const workload = workloads.find((workload) => workload.name === name)
  const study = studies.find((study) => study.name === name)
  if (workload === undefined && study === undefined)
    throw new InvalidArgumentError(`There are ${namesOf([...workloads, ...studies])}.`)
  return {
    workloads: workload === undefined ? moreWorkloads : [...moreWorkloads, workload],
    studies: study === undefined ? moreStudies : [...moreStudies, study],
  }
}

function namesOf(named: readonly { readonly name: string }[]): string {
  return named.map(({ name }) => name).join(', ')
}

function wholeNumbers(text: string): number[] {
  const numbers = text.split(',').map(Number)
  if (!numbers.every((number) => Number.isSafeInteger(number) && number > 0))
    throw new InvalidArgumentError('It takes whole numbers with commas between them.')
  return numbers
}

function names(text: string): string[] {
  return text.split(',')
}

function positive(text: string): number {
  const number = Number(text)
  if (!(number > 0)) throw new InvalidArgumentError('It takes a number above 0.')
  return number
}
