/** Rows of the tables that compare both servers. */
import { decimal, short, whole } from '../report.ts'
import type { Compared } from './compared.ts'

export const comparedHead = [
  'request',
  "PostgreSQL's indexes",
  'connections',
  'Stela, requests/s',
  'PostgreSQL, requests/s',
  'ratio',
  'ratio of rounds',
  'Stela, CPU ms',
  'PostgreSQL, CPU ms',
  'ratio of CPU',
  'Stela, p50 and p99 ms',
  'PostgreSQL, p50 and p99 ms',
  'Stela, MB',
  'PostgreSQL, MB',
]

export function comparedCells(
  says: string,
  indexes: string,
  connections: number,
  { measured: [ours, theirs], ratio, low, high }: Compared,
): string[] {
  return [
    says,
    indexes,
    whole(connections),
    whole(ours.requestsPerSecond),
    whole(theirs.requestsPerSecond),
    ratio.toFixed(2),
    `${low.toFixed(2)} to ${high.toFixed(2)}`,
    known(ours.processorMs, decimal),
    known(theirs.processorMs, decimal),
    quotient(ours.processorMs, theirs.processorMs),
    `${short(ours.p50Ms)}, ${short(ours.p99Ms)}`,
    `${short(theirs.p50Ms)}, ${short(theirs.p99Ms)}`,
    known(ours.memory / 1e6, whole),
    known(theirs.memory / 1e6, whole),
  ]
}

export const resourceHead = ['what', 'unit', 'Stela', 'PostgreSQL', 'ratio']

export function resourceCells(
  what: string,
  unit: string,
  ours: number,
  theirs: number,
): string[] {
  return [what, unit, known(ours, short), known(theirs, short), quotient(ours, theirs)]
}

/** Numbers that the system does not report are NaN. */
function known(value: number, shown: (value: number) => string): string {
  return Number.isFinite(value) ? shown(value) : '-'
}

function quotient(ours: number, theirs: number): string {
  return known(ours / theirs, (value) => value.toFixed(2))
}
