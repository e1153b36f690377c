/** Prints results as tables, readable in a terminal and as Markdown. */
import { arch, cpus, totalmem } from 'node:os'
import type { Memory } from './processes.ts'
import type { Figure, Results, Row } from './run.ts'
import type { VersionRow } from './versions.ts'
import type { Findings } from './workloads/study.ts'

/** Prints the table of workloads and the table of figures. */
export function printResults({ rows, figures }: Results): string {
  return `${table(workloadHead, rows.map(workloadCells))}\n\n${figureTable(figures)}\n`
}

/** The table that compares two versions. */
export function printVersions(rows: readonly VersionRow[]): string {
  return `${table(versionHead, rows.map(versionCells))}\n`
}

const versionHead = [
  'workload',
  'documents',
  'connections',
  'µs now',
  'µs before',
  'before / now',
  '95 %',
  'of all rounds',
  'rounds',
]

function versionCells(row: VersionRow): string[] {
  return [
    row.workload.says,
    whole(row.size),
    whole(row.connections),
    short(row.nowUs),
    short(row.beforeUs),
    decimal(row.ratio),
    `${decimal(row.low)} to ${decimal(row.high)}`,
    decimal(row.whole),
    whole(row.rounds),
  ]
}

/** Prints the tables of a study and its figures. */
export function printFindings({ tables, figures }: Findings): string {
  const parts = tables.map(
    ({ title, head, rows }) => `### ${title}\n\n${table(head, rows)}`,
  )
  return `${[...parts, `### Figures\n\n${figureTable(figures)}`].join('\n\n')}\n`
}

/** Describes the machine, so that stored results contain it. */
export function printMachine(settings: string): string {
  const processors = cpus()
  const facts = [
    `Measured on ${new Date().toISOString().slice(0, 10)}`,
    `${processors.length} cores of ${processors[0]?.model ?? 'an unknown processor'} (${arch()})`,
    `${Math.round(totalmem() / 2 ** 30)} GiB of memory`,
    `${process.platform}, Node ${process.version}`,
    settings,
  ]
  return `${facts.map((fact) => `- ${fact}`).join('\n')}\n\n`
}

const workloadHead = [
  'workload',
  'documents',
  'connections',
  'requests/s',
  'documents/s',
  'p50 ms',
  'p99 ms',
  'server MB own + mapped',
  'against',
  'its rate',
  'ratio',
  'target',
  '',
]

function workloadCells(row: Row): string[] {
  return [
    row.workload.says,
    whole(row.size),
    whole(row.connections),
    whole(row.requestsPerSecond),
    whole(row.documentsPerSecond),
    short(row.p50Ms),
    short(row.p99Ms),
    row.memory === undefined ? '-' : megabytes(row.memory),
    row.baseline,
    baselineRate(row),
    row.ratio < 0.1 ? row.ratio.toPrecision(1) : row.ratio.toFixed(2),
    row.target === undefined ? '-' : `at least ${row.target}`,
    row.target === undefined ? '' : verdict(row.ratio >= row.target),
  ]
}

function megabytes({ own, mapped }: Memory): string {
  return `${whole(own / 1e6)} + ${whole(mapped / 1e6)}`
}

/** The rate of the baseline: requests per second for reads, documents per second for writes. */
function baselineRate(row: Row): string {
  return row.workload.against[0]!.to === 'fastify'
    ? `${whole(row.baselineRequestsPerSecond)} requests/s`
    : `${whole(row.baselineDocumentsPerSecond)} documents/s`
}

const figureHead = ['figure', 'value', 'target', '']

function figureTable(figures: readonly Figure[]): string {
  return table(figureHead, figures.map(figureCells))
}

function figureCells({ what, value, unit, min, max }: Figure): string[] {
  const shown = (number: number) => {
    if (unit === 'times') return number.toFixed(2)
    return unit === 'recall@10' ? decimal(number) : whole(number)
  }
  const target =
    min !== undefined
      ? `at least ${shown(min)}`
      : max !== undefined
        ? `at most ${shown(max)}`
        : '-'
  const isMet = value >= (min ?? -Infinity) && value <= (max ?? Infinity)
  return [what, `${shown(value)} ${unit}`, target, target === '-' ? '' : verdict(isMet)]
}

function verdict(met: boolean): string {
  return met ? 'met' : 'missed'
}

export function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

/** Three decimal places, for recalls and ratios. */
export function decimal(value: number): string {
  return value.toFixed(3)
}

/** Three significant digits; no decimals for values of at least 100. */
export function short(value: number): string {
  return value >= 100 ? whole(value) : value.toPrecision(3)
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, i) =>
    Math.max(3, title.length, ...rows.map((row) => row[i]!.length)),
  )
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, i) => cell.padEnd(widths[i]!)).join(' | ')} |`
  return [
    line(head),
    line(widths.map((width) => '-'.repeat(width))),
    ...rows.map(line),
  ].join('\n')
}
