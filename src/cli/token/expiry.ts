import { InvalidArgumentError } from 'commander'

const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/**
 * Converts an expiry to a timestamp. A duration such as "30d" or "12h" counts from `now`. A date
 * means the start of the day in UTC.
 */
export function readExpiry(text: string, now = Date.now()): string {
  const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? []
  const ms =
    count === undefined
      ? momentOf(text)
      : now + Number(count) * unitMs[unit as keyof typeof unitMs]
  if (Number.isNaN(ms))
    throw new InvalidArgumentError(
      'It must be a duration such as 30d, 12h or 45m, or a time such as 2030-01-31T00:00:00Z.',
    )
  if (ms <= now) throw new InvalidArgumentError('It must be in the future.')
  return new Date(ms).toISOString()
}

function momentOf(text: string): number {
  const isMoment = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/
  return isMoment.test(text) ? Date.parse(text) : NaN
}
