/** Parses /metrics in the Prometheus text format. */

export interface Sample {
  readonly labels: ReadonlyMap<string, string>
  readonly value: number
}

/** Samples by metric name. */
export type Metrics = ReadonlyMap<string, readonly Sample[]>

const line = /^([\w:]+)(?:\{(.*)\})? (\S+)$/
const label = /([\w]+)="((?:[^"\\]|\\.)*)"/g

export function parseMetrics(text: string): Metrics {
  const found = new Map<string, Sample[]>()
  for (const each of text.split('\n')) {
    const [, name, labels = '', value] = line.exec(each) ?? []
    if (name === undefined || each.startsWith('#')) continue
    const pairs = [...labels.matchAll(label)].map(([, key, of]) => [key!, of!] as const)
    const sample = { labels: new Map(pairs), value: Number(value) }
    const samples = found.get(name)
    if (samples === undefined) found.set(name, [sample])
    else samples.push(sample)
  }
  return found
}

/** The sum over all labels; undefined when the server does not report the metric. */
export function total(
  metrics: Metrics,
  name: string,
  isWanted: (sample: Sample) => boolean = () => true,
): number | undefined {
  const samples = metrics.get(name)
  if (samples === undefined) return undefined
  return samples.filter(isWanted).reduce((sum, { value }) => sum + value, 0)
}
