/** Formats numbers, sizes and durations. */

export function formatCount(count: number): string {
  return count.toLocaleString('en')
}

/** A count for narrow columns: `1.2 k`, `3 M`. */
export function formatShortCount(count: number): string {
  if (count < 1000) return String(count)
  const [size, unit] =
    count < 999_500 ? [1e3, 'k'] : count < 999.5e6 ? [1e6, 'M'] : [1e9, 'G']
  const value = count / size
  return `${value < 9.95 ? value.toFixed(1).replace(/\.0$/, '') : Math.round(value)} ${unit}`
}

export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  const units = ['kB', 'MB', 'GB', 'TB']
  let value = bytes / 1000
  let unit = 0
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000
    unit++
  }
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)} ${units[unit]!}`
}

export function formatMs(ms: number): string {
  if (ms < 1) return `${ms.toFixed(2)} ms`
  if (ms < 10) return `${ms.toFixed(1)} ms`
  return ms < 10_000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`
}

/** A count with its noun, such as `3 documents` or `1 document`. */
export function formatMany(count: number, one: string): string {
  return `${formatCount(count)} ${one}${count === 1 ? '' : 's'}`
}

/** A duration: `2.5 s`, `42 s`, `3 min` or `1.5 h`. */
export function formatSeconds(seconds: number): string {
  if (seconds < 10) return `${seconds.toFixed(1)} s`
  if (seconds < 90) return `${Math.round(seconds)} s`
  const minutes = seconds / 60
  if (minutes < 90) return `${Math.round(minutes)} min`
  return `${(minutes / 60).toFixed(1)} h`
}
