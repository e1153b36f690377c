/**
 * Random values of each type in the form of requests. Each has a model of its meaning, which tests
 * compare without the code under test.
 */
import fc from 'fast-check'
import {
  primitiveNames,
  type PrimitiveName,
} from '../../../src/language/columns/column-type.ts'
import { readNumeral } from '../../../src/json/decimal.ts'
import type { Value } from '../../../src/json/value.ts'

export interface Sample {
  readonly input: Value
  readonly model: unknown
}

export interface Samples {
  readonly of: fc.Arbitrary<Sample>
  /**
   * The order of the models. Undefined means that the type has no order; then models are compared
   * as texts.
   */
  readonly compare: ((a: never, b: never) => number) | undefined
}

type Writable = Exclude<PrimitiveName, 'counter'>

export const writable = primitiveNames.filter(
  (name): name is Writable => name !== 'counter',
)

function natively(a: bigint | number | string, b: bigint | number | string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function inTurn(a: readonly number[], b: readonly number[]): number {
  for (const [position, part] of a.entries())
    if (part !== b[position]) return part - b[position]!
  return 0
}

function byBytes(a: Buffer, b: Buffer): number {
  return Buffer.compare(a, b)
}

/** Whole numbers of `bits` bits in all notations of JSON. */
function wholes(bits: bigint): Samples {
  const bound = 2n ** (bits - 1n)
  const models = fc.oneof(
    fc.bigInt({ min: -bound, max: bound - 1n }),
    fc.bigInt({ min: -3n, max: 3n }),
    fc.constantFrom(-bound, bound - 1n, bound - 2n),
  )
  return {
    of: fc
      .tuple(models, fc.constantFrom('', '.00', 'e0', 'E+00'))
      .map(([model, end]) => ({ input: readNumeral(`${model}${end}`), model })),
    compare: natively,
  }
}

/** Decimals as digits and a power of ten. Models count in units of 10^-60. */
const decimals: Samples = {
  of: fc
    .tuple(
      fc.oneof(fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }), fc.bigInt(-12n, 12n)),
      fc.integer({ min: -60, max: 60 }),
    )
    .map(([digits, power]) => ({
      input: readNumeral(`${digits}e${power}`),
      model: digits * 10n ** BigInt(power + 60),
    })),
  compare: natively,
}

function floats(
  doubles: fc.Arbitrary<number>,
  narrow: (double: number) => number,
): Samples {
  const odd = fc.constantFrom(
    0,
    -0,
    0.1,
    1e38,
    1e39,
    -1e39,
    5e-324,
    NaN,
    Infinity,
    -Infinity,
  )
  return {
    of: fc.oneof(doubles, odd).map((double) => ({
      input: Number.isFinite(double) ? readNumeral(String(double)) : String(double),
      model: narrow(double) + 0,
    })),
    compare: (a: number, b: number) =>
      Number.isNaN(a) || Number.isNaN(b)
        ? Number(Number.isNaN(a)) - Number(Number.isNaN(b))
        : natively(a, b),
  }
}

export function digits(number: number, count: number): string {
  return String(number).padStart(count, '0')
}

function yearText(year: number): string {
  if (year < 0) return `-${digits(-year, 4)}`
  return year > 9999 ? `+${year}` : digits(year, 4)
}

/** Random year, month and day. The day is at most 28, because every month has this many days. */
function days(yearMin: number, yearMax: number) {
  const years = fc.oneof(
    fc.integer({ min: yearMin, max: yearMax }),
    fc.integer({ min: -2, max: 2 }),
    fc.integer({ min: 9997, max: 10_002 }),
    fc.integer({ min: 1969, max: 1971 }),
  )
  const months = fc.integer({ min: 1, max: 12 })
  return fc.tuple(years, months, fc.integer({ min: 1, max: 28 }))
}

function dayText([year, month, day]: readonly number[]): string {
  return `${yearText(year!)}-${digits(month!, 2)}-${digits(day!, 2)}`
}

const dates: Samples = {
  of: days(-5_877_640, 5_881_579).map((model) => ({ input: dayText(model), model })),
  compare: inTurn,
}

const clock = fc.tuple(
  fc.integer({ min: 0, max: 23 }),
  fc.integer({ min: 0, max: 59 }),
  fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 59 })),
)

const times: Samples = {
  of: fc
    .tuple(
      clock,
      fc.oneof(fc.constantFrom(0, 5e8, 1000), fc.nat(999_999_999)),
      fc.boolean(),
    )
    .map(([[hour, minute, second], nanos, long]) => {
      const seconds = long || second + nanos > 0 ? `:${digits(second, 2)}` : ''
      const fraction = nanos > 0 ? `.${digits(nanos, 9).replace(/0+$/, '')}` : ''
      return {
        input: `${digits(hour, 2)}:${digits(minute, 2)}${seconds}${fraction}`,
        model: [hour, minute, second, nanos],
      }
    }),
  compare: inTurn,
}

/**
 * Timestamps as texts with an offset, and as typed values. The model is the instant in
 * milliseconds, as Date computes it within its range.
 */
const timestamps: Samples = {
  of: fc.oneof(
    fc
      .tuple(days(-200_000, 200_000), clock, fc.nat(999), fc.integer({ min: -64, max: 64 }))
      .map(([day, time, ms, quarters]) => {
        const [hour, minute, second] = time
        const [year, month, dayOfMonth] = day
        const date = new Date(0)
        date.setUTCFullYear(year, month - 1, dayOfMonth)
        date.setUTCHours(hour, minute, second, ms)
        const model = BigInt(date.getTime()) - BigInt(quarters) * 900_000n
        const away = Math.abs(quarters)
        const offset = `${digits(Math.floor(away / 4), 2)}:${digits((away % 4) * 15, 2)}`
        const written = `${digits(hour, 2)}:${digits(minute, 2)}:${digits(second, 2)}`
        const sign = quarters < 0 ? '-' : '+'
        return {
          input: `${dayText(day)}T${written}.${digits(ms, 3)}9${sign}${offset}`,
          model,
        }
      }),
    fc
      .oneof(fc.maxSafeInteger(), fc.integer({ min: -5, max: 5 }))
      .map((ms) => ({ input: new Map([['$date', ms]]), model: BigInt(ms) })),
  ),
  compare: natively,
}

export const hex = (length: number) =>
  fc.oneof(
    fc.constant('0'.repeat(length)),
    fc.stringMatching(new RegExp(`^[0-9a-fA-F]{${length}}$`)),
  )

/** UUIDs of the given versions. `compareRest` orders UUIDs of version 1 with equal times. */
function uuids(
  versions: readonly string[],
  compareRest = (a: Buffer, b: Buffer): number => Buffer.compare(a, b),
): Samples {
  return {
    of: fc
      .tuple(hex(8), hex(4), fc.constantFrom(...versions), hex(3), hex(4), hex(12))
      .map(([low, mid, version, high, clockSequence, node]) => ({
        input: `${low}-${mid}-${version}${high}-${clockSequence}-${node}`,
        model: Buffer.from(low + mid + version + high + clockSequence + node, 'hex'),
      })),
    compare: (a: Buffer, b: Buffer) => {
      const version = (bytes: Buffer) => bytes[6]! >> 4
      if (version(a) !== version(b)) return version(a) - version(b)
      if (version(a) !== 1) return Buffer.compare(a, b)
      const time = (bytes: Buffer) =>
        (BigInt(bytes.readUInt16BE(6) & 0xfff) << 48n) |
        (BigInt(bytes.readUInt16BE(4)) << 32n) |
        BigInt(bytes.readUInt32BE(0))
      return natively(time(a), time(b)) || compareRest(a.subarray(8), b.subarray(8))
    },
  }
}

function compareSigned(a: Buffer, b: Buffer): number {
  const at = a.findIndex((byte, i) => byte !== b[i])
  return at < 0 ? 0 : a.readInt8(at) - b.readInt8(at)
}

const bytes = (length: number) =>
  fc.oneof(
    fc.array(fc.constantFrom(0, 1, 255), { minLength: length, maxLength: length }),
    fc.array(fc.nat(255), { minLength: length, maxLength: length }),
  )

const inets: Samples = {
  of: fc.oneof(
    bytes(4).map((model) => ({ input: model.join('.'), model: Buffer.from(model) })),
    bytes(4).map((model) => ({
      input: `::FFFF:${model.join('.')}`,
      model: Buffer.from(model),
    })),
    fc.tuple(bytes(14), fc.boolean()).map(([end, short]) => {
      // The first group is not zero, so the address is not an IPv4-mapped one.
      const model = Buffer.from([0x20, 0x01, ...end])
      const groups = [...model.toString('hex').matchAll(/.{4}/g)].map(([group]) => group)
      const full = groups.map((group) => group.replace(/^0{1,3}/, '')).join(':')
      return {
        input: short ? full.replace(/(?::0)+(?::|$)/, '::') : groups.join(':'),
        model,
      }
    }),
  ),
  compare: byBytes,
}

const blobs: Samples = {
  of: fc.uint8Array({ maxLength: 5 }).map((array) => {
    const model = Buffer.from(array)
    return { input: new Map([['$binary', model.toString('base64')]]), model }
  }),
  compare: byBytes,
}

/**
 * The model of a duration is its three counts: months, days and nanoseconds. Their units may differ
 * from the written units.
 */
const durations: Samples = {
  of: fc
    .tuple(
      fc.boolean(),
      fc.array(fc.oneof(fc.constant(0), fc.nat(99)), { minLength: 10, maxLength: 10 }),
    )
    .map(([negative, amounts]) => {
      const units = ['y', 'mo', 'w', 'd', 'h', 'm', 's', 'ms', 'us', 'ns']
      const [y, mo, w, d, h, m, s, ms, us, ns] = amounts as [
        ...[number, number, number, number, number],
        ...[number, number, number, number, number],
      ]
      const months = y * 12 + mo
      const seconds = (h * 60 + m) * 60 + s
      const nanos = ((seconds * 1000 + ms) * 1000 + us) * 1000 + ns
      const counts = [months, w * 7 + d, nanos]
      const text = amounts.map((amount, i) => (amount > 0 ? `${amount}${units[i]!}` : ''))
      return {
        input: (negative ? '-' : '') + (text.join('') || '0s'),
        model: counts.map((count) => (negative ? -count : count) + 0).join(),
      }
    }),
  compare: undefined,
}

const texts = (unit: 'binary' | 'binary-ascii'): Samples => ({
  of: fc.string({ unit, maxLength: 4 }).map((text) => ({ input: text, model: text })),
  compare: natively,
})

export const samples: Readonly<Record<Writable, Samples>> = {
  ascii: texts('binary-ascii'),
  bigint: wholes(64n),
  blob: blobs,
  boolean: {
    of: fc.boolean().map((model) => ({ input: model, model })),
    compare: (a: boolean, b: boolean) => Number(a) - Number(b),
  },
  date: dates,
  decimal: decimals,
  double: floats(fc.double(), (double) => double),
  duration: durations,
  float: floats(fc.double({ min: -1e40, max: 1e40 }), Math.fround),
  inet: inets,
  int: wholes(32n),
  smallint: wholes(16n),
  text: texts('binary'),
  time: times,
  timestamp: timestamps,
  timeuuid: uuids(['1'], compareSigned),
  tinyint: wholes(8n),
  uuid: uuids(['1', '1', '4', '7', '0', 'f']),
  varint: wholes(300n),
}
