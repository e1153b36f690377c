/**
 * Rows of the tables: sensor readings of about 160 bytes of JSON. Each sensor is a partition in
 * descending order of time. It has a hundred readings, however many rows the table has. Sensors
 * report ten readings at a time in rotation, so inserts are spread over the key. A row depends only
 * on the seed and its number, so that all runs and baselines have the same rows.
 */
import { randomNumbers } from '../documents.ts'

const readingsPerSensor = 100
const readingsAtOnce = 10
/** Maximum number of rows that a find returns. */
export const foundMax = 20
const gatewayCount = 100
const epochMs = 1_700_000_000_000
const minuteMs = 60_000

const remarks = [
  'as usual',
  'battery low',
  'after a restart',
  'door was open',
  'calibrated',
]

export interface ReadingKey {
  readonly sensor: string
  readonly atMs: number
}

export interface Reading extends ReadingKey {
  /**
   * The gateway that forwarded the reading: an indexed column with pseudo-random values.
   */
  readonly gateway: string
  readonly level: number
  readonly value: number
  readonly valid: boolean
  readonly remark: string
}

export function readingsTable(size: number): string {
  return `readings_${size}`
}

/**
 * Bodies of the requests that create the table and its index. The first request is sent to the
 * keyspace, the second to the table.
 */
export function readingsSchema(name: string): readonly [string, string] {
  return [
    `{"createTable":{"name":"${name}","definition":{"columns":{"sensor":"text",` +
      `"at":"timestamp","gateway":"text","level":"int","value":"double",` +
      `"valid":"boolean","remark":"text"},"primaryKey":{"partitionBy":["sensor"],` +
      `"partitionSort":{"at":-1}}}}}`,
    `{"createIndex":{"name":"${name}_gateway","definition":{"column":"gateway"}}}`,
  ]
}

export function readingText(reading: Reading): string {
  const { sensor, atMs, gateway, level, value, valid, remark } = reading
  return (
    `{"sensor":"${sensor}","at":"${instant(atMs)}","gateway":"${gateway}",` +
    `"level":${level},"value":${value},"valid":${valid},"remark":"${remark}"}`
  )
}

export function instant(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z')
}

/** Picks loaded readings and creates new ones. */
export class Readings {
  readonly #seed: number
  readonly #size: number
  readonly #sensors: number
  readonly #random: () => number
  #next: number

  /**
   * `size` determines the number of sensors, and from which readings the methods pick. The first
   * `loaded` readings exist; new readings follow them.
   */
  constructor(seed: number, size: number, loaded = size) {
    this.#seed = seed
    this.#size = size
    this.#sensors = Math.ceil(size / readingsPerSensor)
    this.#random = randomNumbers(seed)
    this.#next = loaded
  }

  key(): ReadingKey {
    return this.#keyOf(this.#below(this.#size))
  }

  /** A time range that contains as many readings of a sensor as a find returns. */
  range(): ReadingKey & { readonly endMs: number } {
    const rounds = Math.floor(this.#size / readingsAtOnce / this.#sensors)
    const { sensor } = this.key()
    const starts = Math.max(1, rounds * readingsAtOnce - foundMax + 1)
    const atMs = timeOf(this.#below(starts))
    return { sensor, atMs, endMs: atMs + foundMax * minuteMs }
  }

  /** A gateway with readings. */
  gateway(): string {
    return this.#readingOf(this.#below(this.#size)).gateway
  }

  /** The next new reading. */
  new(): Reading {
    return this.#readingOf(this.#next++)
  }

  /** The body of the next insert. */
  readonly insertBody = (count: number): string => {
    const rows = Array.from({ length: count }, () => readingText(this.new()))
    return `{"insertMany":{"documents":[${rows.join(',')}]}}`
  }

  #readingOf(number: number): Reading {
    const random = randomNumbers(this.#seed + number * 2_654_435_761)
    const below = (bound: number) => Math.floor(random() * bound)
    return {
      ...this.#keyOf(number),
      gateway: `Gateway ${String(below(gatewayCount)).padStart(2, '0')}`,
      level: below(1000),
      value: below(1e9) / 1e4,
      valid: random() < 0.9,
      remark: `${remarks[below(remarks.length)]!}, checked by ${below(1e6)}`,
    }
  }

  #keyOf(number: number): ReadingKey {
    const report = Math.floor(number / readingsAtOnce)
    const round = Math.floor(report / this.#sensors)
    return {
      sensor: `sensor-${String(report % this.#sensors).padStart(7, '0')}`,
      atMs: timeOf(round * readingsAtOnce + (number % readingsAtOnce)),
    }
  }

  #below(bound: number): number {
    return Math.floor(this.#random() * bound)
  }
}

function timeOf(reading: number): number {
  return epochMs + reading * minuteMs
}
