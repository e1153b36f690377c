/**
 * What two looks at the metrics tell of the time between them. Counters begin at zero when the
 * server starts: where one went back, all that it counts is of the new server.
 */
import { total, type Metrics, type Sample } from './parse-metrics.ts'

/** Of a counter, in a second; undefined: it is not told. */
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
  /** Seconds, of the longest that is counted here. */
  readonly bound: number
  readonly count: number
}

/** How many commands took how long, of those that ended between the two. */
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
 * Milliseconds that this part of the commands took at most. Within a bucket durations are taken
 * to be spread evenly, as Prometheus does it. Undefined: none ended.
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
  // Of those that took longer than any bound, only that is known.
  if (bound === Infinity) return below.bound * 1000
  const share = (wanted - below.count) / (count - below.count)
  return (below.bound + share * (bound - below.bound)) * 1000
}
