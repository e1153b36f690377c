/** Results as tables that are read in a terminal and rendered as Markdown. */
import { arch, cpus, totalmem } from 'node:os'
import type { Memory } from './processes.ts'
import type { Figure, Results, Row } from './run.ts'

/** The table of workloads and the table of single figures. */
export function printResults({ rows, figures }: Results): string {
  return `${table(workloadHead, rows.map(workloadCells))}\n\n${table(figureHead, figures.map(figureCells))}\n`
}

/** The same with what it was measured on, to be kept. */
export function printMarkdown(results: Results, settings: string): string {
  const processors = cpus()
  const facts = [
    `Measured on ${new Date().toISOString().slice(0, 10)}`,
    `${processors.length} cores of ${processors[0]?.model ?? 'an unknown processor'} (${arch()})`,
    `${Math.round(totalmem() / 2 ** 30)} GiB of memory`,
    `${process.platform}, Node ${process.version}`,
    settings,
  ]
  return `${facts.map((fact) => `- ${fact}`).join('\n')}\n\n${printResults(results)}`
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

/** Reads are compared by request, writes by document. */
function baselineRate(row: Row): string {
  return row.workload.against[0]!.to === 'fastify'
    ? `${whole(row.baselineRequestsPerSecond)} requests/s`
    : `${whole(row.baselineDocumentsPerSecond)} documents/s`
}

const figureHead = ['figure', 'value', 'target', '']

function figureCells({ what, value, unit, max }: Figure): string[] {
  return [
    what,
    `${unit === 'times' ? value.toFixed(2) : whole(value)} ${unit}`,
    max === undefined ? '-' : `at most ${unit === 'times' ? max.toFixed(2) : max}`,
    max === undefined ? '' : verdict(value <= max),
  ]
}

function verdict(met: boolean): string {
  return met ? 'met' : 'missed'
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

/** Three digits, as far as they are behind the point. */
function short(value: number): string {
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
