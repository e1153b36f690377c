/**
 * Rates and percentiles between two polls of the metrics. Counters start at zero when the server
 * starts. If a counter has decreased, the server was restarted, so the whole value of the counter
 * is its increase.
 */
import { total, type Metrics, type Sample } from './parse-metrics.ts'

/** Increase of a counter per second; undefined when the server does not report the counter. */
export function rate(
  before: Metrics,
  now: Metrics,
  seconds: number,
  name: string,
  isWanted?: (sample: Sample) => boolean,
): number | undefined {
  const after = total(now, name, isWanted)
  if (after === undefined || seconds <= 0) return undefined
  return increase(total(before, name, isWanted) ?? 0, after) / seconds
}

function increase(before: number, after: number): number {
  return after < before ? after : after - before
}

const durations = 'stela_command_duration_seconds_bucket'

interface Bucket {
  /** Upper bound of the bucket in seconds. */
  readonly bound: number
  readonly count: number
}

/** Cumulative histogram of the commands that ended between two polls. */
function bucketsBetween(before: Metrics, now: Metrics): readonly Bucket[] {
  const counts = new Map<number, number>()
  const old = new Map(
    (before.get(durations) ?? []).map((sample) => [keyOf(sample), sample.value]),
  )
  for (const sample of now.get(durations) ?? []) {
    const bound = boundOf(sample)
    const more = increase(old.get(keyOf(sample)) ?? 0, sample.value)
    counts.set(bound, (counts.get(bound) ?? 0) + more)
  }
  return [...counts]
    .map(([bound, count]) => ({ bound, count }))
    .toSorted((one, other) => one.bound - other.bound)
}

function keyOf({ labels }: Sample): string {
  return `${labels.get('command') ?? ''} ${labels.get('le') ?? ''}`
}

function boundOf({ labels }: Sample): number {
  const bound = labels.get('le')
  return bound === '+Inf' ? Infinity : Number(bound)
}

/**
 * A percentile of durations, in milliseconds. Like Prometheus, it assumes that durations are
 * distributed evenly within a bucket. Undefined when no command ended.
 */
export function percentile(
  before: Metrics,
  now: Metrics,
  part: number,
): number | undefined {
  const buckets = bucketsBetween(before, now)
  const all = buckets.at(-1)?.count ?? 0
  if (all === 0) return undefined
  const wanted = part * all
  const at = buckets.findIndex(({ count }) => count >= wanted)
  const { bound, count } = buckets[at]!
  const below = buckets[at - 1] ?? { bound: 0, count: 0 }
  // The last bucket has no upper bound, so the result is its lower bound.
  if (bound === Infinity) return below.bound * 1000
  const share = (wanted - below.count) / (count - below.count)
  return (below.bound + share * (bound - below.bound)) * 1000
}
