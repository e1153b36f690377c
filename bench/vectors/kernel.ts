/**
 * Compares Stela's vector index with other indexes, in this process and without a server. The other
 * indexes keep full vectors.
 */
import { mkdirSync } from 'node:fs'
import { arch } from 'node:os'
import { join } from 'node:path'
import { sizeOnDisk } from '../dataset.ts'
import type { Line } from '../plot.ts'
import { decimal, whole } from '../report.ts'
import type { Figure } from '../run.ts'
import type { Findings, Table } from '../workloads/study.ts'
import type { VectorSet } from './clusters.ts'
import { atRecallTable, curveTable, measureCurve, rateAt } from './curve.ts'
import type { Truth } from './exact.ts'
import { measureFiltered } from './filtered.ts'
import { openIndexes } from './indexes.ts'
import type { StelaIndex } from './stela-index.ts'
import type { TestedIndex } from './tested-index.ts'
import { measureThreads } from './threads.ts'

export interface KernelSettings {
  readonly seconds: number
  readonly folder: string
  readonly progress: (line: string) => void
}

/** Minimum rate relative to the faster of the other indexes, by CPU architecture. */
const targets = arch() === 'arm64' ? { search: 4, build: 5 } : { search: 2, build: 2.5 }

export async function studyKernel(
  set: VectorSet,
  truth: Truth,
  { seconds, folder, progress }: KernelSettings,
): Promise<Findings> {
  const { ours, others, missing } = openIndexes(set)
  const indexes = [ours, ...others]
  for (const name of missing) progress(`${name} is not installed, so it is left out`)
  progress('building')
  const buildRates = build(indexes, set.vectors.length)
  progress('saving and opening')
  const opened = await saveAndOpen(indexes, folder)
  const lines = await measureCurve(indexes, set, truth, seconds, progress)
  const filtered = await measureFiltered(indexes, truth, seconds, progress)
  progress('searching in other threads')
  const threads = await measureThreads(ours, set, seconds)
  const size = whole(set.vectors.length)
  return {
    tables: [
      buildTable(indexes, set, buildRates, opened),
      curveTable(lines),
      atRecallTable(lines, missing),
      filtered,
      threads,
    ],
    figures: [
      ...againstOthers(lines, buildRates),
      ...memoryFigures(ours, set),
      {
        what: `opening ${size} vectors from a snapshot, the index alone`,
        value: opened[0]!.loadMs,
        unit: 'ms',
        max: 1000,
      },
    ],
    curve: { title: `${size} vectors of ${set.dimension} numbers, one thread`, lines },
  }
}

/** Number of slices of the vectors. The indexes insert the slices in turns. */
const buildSlices = 20

/** Vectors per second, by index. */
function build(indexes: readonly TestedIndex[], size: number): number[] {
  const elapsed = indexes.map(() => 0)
  for (let slice = 0; slice < buildSlices; slice++) {
    const start = Math.floor((size * slice) / buildSlices)
    const end = Math.floor((size * (slice + 1)) / buildSlices)
    for (const [i, index] of indexes.entries()) elapsed[i]! += index.build(start, end)
  }
  return elapsed.map((ms) => (size / ms) * 1000)
}

interface Opened {
  readonly size: number
  readonly loadMs: number
}

const loadsMeasured = 3

async function saveAndOpen(
  indexes: readonly TestedIndex[],
  parent: string,
): Promise<Opened[]> {
  const opened: Opened[] = []
  for (const index of indexes) {
    const folder = join(parent, `saved-${index.name}`)
    mkdirSync(folder)
    await index.save(folder)
    const times: number[] = []
    for (let i = 0; i < loadsMeasured; i++) {
      const startedAt = performance.now()
      index.load(folder)
      times.push(performance.now() - startedAt)
    }
    const loadMs = times.sort((a, b) => a - b)[Math.floor(loadsMeasured / 2)]!
    opened.push({ size: sizeOnDisk(folder), loadMs })
  }
  return opened
}

function buildTable(
  indexes: readonly TestedIndex[],
  { vectors }: VectorSet,
  rates: readonly number[],
  opened: readonly Opened[],
): Table {
  return {
    title: 'Building and opening',
    head: ['index', 'vectors/s', 'of ours', 'saved, bytes a vector', 'opened in ms'],
    rows: indexes.map(({ name }, i) => [
      name,
      whole(rates[i]!),
      decimal(rates[i]! / rates[0]!),
      whole(opened[i]!.size / vectors.length),
      whole(opened[i]!.loadMs),
    ]),
  }
}

function againstOthers(lines: readonly Line[], buildRates: readonly number[]): Figure[] {
  const [ours, ...others] = lines
  if (others.length === 0) return []
  const figures: Figure[] = []
  for (const recall of [0.95, 0.99]) {
    const own = rateAt(ours!, recall)
    const best = Math.max(...others.map((line) => rateAt(line, recall) ?? 0))
    if (own === undefined || best === 0) continue
    figures.push({
      what: `queries/s at recall@10 ${recall} relative to the faster of the others`,
      value: own / best,
      unit: 'times',
      ...(recall === 0.95 && { min: targets.search }),
    })
  }
  figures.push({
    what: 'building relative to the faster of the others',
    value: buildRates[0]! / Math.max(...buildRates.slice(1)),
    unit: 'times',
    min: targets.build,
  })
  return figures
}

function memoryFigures(
  { segment }: StelaIndex,
  { vectors, dimension }: VectorSet,
): Figure[] {
  const size = segment.size / vectors.length
  return [
    { what: 'memory of the index', value: size, unit: 'bytes/vector' },
    {
      what: `the same, over dimension + 160`,
      value: size / (dimension + 160),
      unit: 'times',
      max: 1.3,
    },
  ]
}
