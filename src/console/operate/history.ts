/** Data of the plots: one point per poll of the metrics. */
import { total, type Metrics, type Sample } from './parse-metrics.ts'
import { percentile, rate } from './rates.ts'

export interface HealthSample {
  /** Seconds since 1970. */
  readonly time: number
  readonly metrics: Metrics
}

/** A line of a plot. */
export interface Series {
  readonly name: string
  readonly points: readonly (number | undefined)[]
}

export type Unit = 'count' | 'perSecond' | 'ms' | 'bytes'

export interface Plot {
  readonly title: string
  readonly unit: Unit
  readonly series: readonly Series[]
}

/**
 * Maximum number of stored polls: ten minutes at the fastest pace of one poll every two seconds.
 */
export const looksMax = 300

export function addLook(
  looks: readonly HealthSample[],
  look: HealthSample,
): readonly HealthSample[] {
  return [...looks.slice(-(looksMax - 1)), look]
}

/**
 * Times of the points that plotsOf returns. The first poll has no point, because rates need two
 * polls.
 */
export function timesOf(looks: readonly HealthSample[]): readonly number[] {
  return looks.slice(1).map(({ time }) => time)
}

export function plotsOf(looks: readonly HealthSample[]): readonly Plot[] {
  return plots
    .map(({ title, unit, lines }) => ({
      title,
      unit,
      series: lines
        .map(({ name, of }) => ({ name, points: pointsOf(looks, of) }))
        .filter(({ points }) => points.some((point) => point !== undefined)),
    }))
    .filter(({ series }) => series.length > 0)
}

type Measure = (now: Metrics, before: Metrics, seconds: number) => number | undefined

function pointsOf(
  looks: readonly HealthSample[],
  of: Measure,
): readonly (number | undefined)[] {
  return looks.slice(1).map(({ metrics, time }, position) => {
    const before = looks[position]!
    return of(metrics, before.metrics, time - before.time)
  })
}

interface Planned {
  readonly title: string
  readonly unit: Unit
  readonly lines: readonly { readonly name: string; readonly of: Measure }[]
}

const isOk = ({ labels }: Sample) => labels.get('outcome') === 'ok'

const gauge =
  (name: string, isWanted?: (sample: Sample) => boolean): Measure =>
  (now) =>
    total(now, name, isWanted)

const diskOf = (kind: string) =>
  gauge('stela_disk_bytes', ({ labels }) => labels.get('kind') === kind)

const perSecond =
  (name: string, isWanted?: (sample: Sample) => boolean): Measure =>
  (now, before, seconds) =>
    rate(before, now, seconds, name, isWanted)

const plots: readonly Planned[] = [
  {
    title: 'Commands per second',
    unit: 'perSecond',
    lines: [
      { name: 'succeeded', of: perSecond('stela_commands_total', isOk) },
      {
        name: 'failed',
        of: perSecond('stela_commands_total', (sample) => !isOk(sample)),
      },
      { name: 'rejected', of: perSecond('stela_commands_refused_total') },
    ],
  },
  {
    title: 'Latency',
    unit: 'ms',
    lines: [
      { name: 'p50', of: (now, before) => percentile(before, now, 0.5) },
      { name: 'p95', of: (now, before) => percentile(before, now, 0.95) },
      { name: 'p99', of: (now, before) => percentile(before, now, 0.99) },
    ],
  },
  {
    title: 'Memory',
    unit: 'bytes',
    lines: [
      { name: 'process', of: gauge('process_resident_memory_bytes') },
      { name: 'heap', of: gauge('nodejs_heap_size_used_bytes') },
      { name: 'vector indexes', of: gauge('stela_vector_index_memory_bytes') },
    ],
  },
  {
    title: 'On disk',
    unit: 'bytes',
    lines: [
      { name: 'data', of: diskOf('data') },
      { name: 'logs', of: diskOf('logs') },
      { name: 'vector indexes', of: diskOf('vectors') },
    ],
  },
  {
    title: 'Indexed vectors',
    unit: 'count',
    lines: [{ name: 'vectors', of: gauge('stela_indexed_vectors') }],
  },
  {
    title: 'Queues',
    unit: 'count',
    lines: [
      { name: 'requests in progress', of: gauge('stela_http_requests_in_flight') },
      { name: 'reads waiting', of: gauge('stela_reads_waiting') },
      { name: 'writes waiting', of: gauge('stela_writes_waiting') },
      { name: 'statements waiting', of: gauge('stela_cql_waiting') },
    ],
  },
]
