/**
 * Values of columns in the model of tables: their meaning, the forms in which requests may contain
 * them, the form of replies, and their order. Nothing here uses the code of the service, because
 * the service is compared with it.
 */
import type { Value } from '../../src/json/value.ts'
import type { Random } from './random.ts'

/** JSON of a request. Numerals keep their digits. */
export type Json =
  string | boolean | null | Raw | readonly Json[] | ReadonlyMap<string, Json>

/** JSON text that is sent verbatim. */
export class Raw {
  readonly text: string

  constructor(text: string | number) {
    this.text = String(text)
  }
}

export function jsonText(json: Json): string {
  if (json instanceof Raw) return json.text
  if (isList(json)) return `[${json.map(jsonText).join(',')}]`
  if (!(json instanceof Map)) return JSON.stringify(json)
  const members = [...(json as ReadonlyMap<string, Json>)].map(
    ([name, value]) => `${JSON.stringify(name)}:${jsonText(value)}`,
  )
  return `{${members.join(',')}}`
}

function isList(json: Json): json is readonly Json[] {
  return Array.isArray(json)
}

/**
 * An object with the members that are not undefined. Do not use this function for columns: their
 * names may be special in JavaScript.
 */
export function object(members: Readonly<Record<string, Json | undefined>>): Json {
  const given = Object.entries(members).filter(([, value]) => value !== undefined)
  return new Map(given as [string, Json][])
}

/** A value of a primitive type. */
export interface Atom {
  readonly type: PrimitiveName
  readonly value: unknown
}

/** A value of a user-defined type. Null fields are absent. */
export interface Struct {
  readonly fields: ReadonlyMap<Field, Atom>
}

export type Element = Atom | Struct

/** The value of a column in a row. */
export type Cell =
  | { readonly kind: 'one'; readonly value: Element }
  | { readonly kind: 'list' | 'set'; readonly elements: readonly Element[] }
  | { readonly kind: 'map'; readonly entries: readonly Entry[] }
  | { readonly kind: 'vector'; readonly numbers: readonly number[] }

export type Entry = readonly [key: Atom, value: Element]

export type ColumnType =
  | { readonly kind: 'one'; readonly of: ElementType }
  | { readonly kind: 'list' | 'set'; readonly of: ElementType }
  | { readonly kind: 'map'; readonly key: PrimitiveName; readonly of: ElementType }
  | { readonly kind: 'vector'; readonly dimension: number }

export type ElementType = PrimitiveName | UserType

/** A user-defined type. A field stays the same object when it is renamed, and is never removed. */
export interface UserType {
  readonly name: string
  readonly fields: Field[]
}

export interface Field {
  name: string
  readonly type: PrimitiveName
}

interface Primitive<T> {
  /** Special values, such as the first and the last value in order. */
  readonly special: readonly T[]
  /**
   * Returns a value for each integer of at least 0. The values for small integers are far apart.
   */
  readonly ordinary: (n: number) => T
  readonly compare: (a: T, b: T) => number
  /** One of the JSON notations that a request may use for the value, chosen at random. */
  readonly spell: (value: T, random: Random) => Json
  /** The only notation of replies: JSON text, with numbers as readNumber() writes them. */
  readonly show: (value: T) => string
}

function primitive<T>(definition: Primitive<T>): Primitive<unknown> {
  return definition as Primitive<unknown>
}

const wholeNumbers = (...special: readonly bigint[]) =>
  primitive<bigint>({
    special: [0n, 1n, -1n, ...special],
    ordinary: (n) => BigInt(n * 3 - 20),
    compare,
    spell: (value, random) => new Raw(random.pick(spellings)({ units: value, scale: 0 })),
    show: (value) => printDecimal({ units: value, scale: 0 }),
  })

const texts = (...special: readonly string[]) =>
  primitive<string>({
    special: [
      '',
      'a',
      'a\0',
      'a\u0001',
      'b',
      'B',
      'b b',
      ' ',
      '10',
      '9',
      'NaN',
      ...special,
    ],
    ordinary: (n) => (n % 2 === 1 ? phrase(n) : `${n % 4 === 0 ? 'k' : 'K'}${n >> 2}`),
    // Texts are ordered by UTF-16 code units, as documented.
    compare,
    spell: (value) => value,
    show: (value) => JSON.stringify(value),
  })

const primitives = {
  ascii: texts('\0', '\u007f'),
  text: texts(
    'ä',
    'Ä',
    'a\u0308',
    'a\0\u00ff',
    'x'.repeat(2000),
    'é',
    'É',
    'b\0',
    '😀',
    '\ufffd',
    '\u2028',
    'b\'"\\',
  ),
  tinyint: wholeNumbers(127n, -128n),
  smallint: wholeNumbers(32_767n, -32_768n),
  int: wholeNumbers(2n ** 31n - 1n, -(2n ** 31n)),
  bigint: wholeNumbers(2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n + 1n, 2n ** 53n),
  varint: wholeNumbers(10n ** 40n, -(10n ** 21n), 10n ** 21n + 1n, 2n ** 70n),
  decimal: primitive<Decimal>({
    special: [
      { units: 0n, scale: 0 },
      { units: 1n, scale: 1 },
      { units: 1_000_000_000_000_000_001n, scale: 19 },
      { units: 1n, scale: -30 },
      { units: 1n, scale: -400 },
      { units: -1n, scale: 30 },
      { units: 2n ** 53n + 1n, scale: 0 },
    ],
    ordinary: (n) => reduced({ units: BigInt(n * 7 - 30), scale: n % 3 }),
    compare: (a, b) => compare(a.units * power(b, a), b.units * power(a, b)),
    spell: (value, random) => new Raw(random.pick(spellings)(value)),
    show: printDecimal,
  }),
  double: floating([0.1, 1e300, 5e-324, 2 ** 53], (number) => number),
  float: floating([0.1, 1e30, 16_777_216], Math.fround),
  boolean: primitive<boolean>({
    special: [false, true],
    ordinary: (n) => n % 2 === 1,
    compare: (a, b) => Number(a) - Number(b),
    spell: (value) => value,
    show: String,
  }),
  date: primitive<Day>({
    special: [
      [0, 1, 1],
      [-1, 12, 31],
      [9999, 12, 31],
      [10_000, 1, 1],
      [-5000, 6, 30],
      [500_000, 12, 31],
      [1970, 1, 1],
    ],
    ordinary: (n) => [1990 + ((n * 7) % 40), 1 + (n % 12), 1 + (n % 28)],
    compare: compareInTurn,
    spell: printDay,
    show: (day) => JSON.stringify(printDay(day)),
  }),
  time: primitive<bigint>({
    special: [0n, 86_399_999_999_999n, 1n, 1_000_000n, 43_200_000_000_000n],
    ordinary: (n) => BigInt(n) * 1_234_500_000_000n,
    compare,
    spell: (nanos, random) => printTime(nanos, random.chance(0.3)),
    show: (nanos) => JSON.stringify(printTime(nanos, false)),
  }),
  timestamp: primitive<number>({
    special: [0, -1, Date.UTC(1900, 0, 1), Date.UTC(9999, 11, 31, 23, 59, 59, 999), 1],
    ordinary: (n) => 1_700_000_000_000 + n * 12_345_500,
    compare,
    spell: spellInstant,
    show: (ms) => JSON.stringify(printInstant(ms)),
  }),
  duration: primitive<Duration>({
    special: [
      ['PT0S', '0s', '-0d', 'P0000-00-00T00:00:00'],
      ['P1Y3M10D', '15mo10d', '1y3mo1w3d', 'P1Y3M10D'],
      ['-PT8H10M', '-8h10m', '-490m'],
      ['P1DT24H', '1d24h'],
      ['P2D', '2d', 'P2D'],
      ['PT0.5S', '500ms', '500000us'],
      ['PT48H', '48h', '2880M'],
      ['P14D', 'P2W', '2w'],
    ],
    ordinary: (n) => [n < 60 ? `PT${n + 1}S` : 'PT2M', n < 60 ? `${n + 1}s` : '120s'],
    compare: ([a], [b]) => compare(a!, b!),
    spell: (duration, random) => random.pick(duration),
    show: ([text]) => JSON.stringify(text),
  }),
  uuid: primitive<string>({
    special: [
      '00000000-0000-0000-0000-000000000000',
      'ffffffff-ffff-ffff-ffff-ffffffffffff',
      '00000000-0001-1000-8000-000000000000',
      'ffffffff-0000-1000-8000-000000000000',
      '123e4567-e89b-42d3-a456-426614174000',
    ],
    ordinary: (n) => {
      const hex = ((n * 2_654_435_761) % 2 ** 32).toString(16).padStart(8, '0')
      return `${hex}-${n % 2 === 0 ? '0001-1' : 'beef-4'}abc-8123-0123456789ab`
    },
    compare: compareUuids,
    spell: (uuid, random) => (random.chance(0.3) ? uuid.toUpperCase() : uuid),
    show: (uuid) => JSON.stringify(uuid),
  }),
  inet: primitive<Address>({
    special: [
      ['127.0.0.1', '7f000001', '127.1', 'localhost', '::ffff:127.0.0.1'],
      ['0.0.0.0', '00000000', '0'],
      ['255.255.255.255', 'ffffffff'],
      ['0:0:0:0:0:0:0:1', `${'0'.repeat(31)}1`, '::1'],
      ['2001:db8:0:0:0:0:0:a', `20010db8${'0'.repeat(23)}a`, '2001:DB8::A'],
    ],
    ordinary: (n) => [`10.0.${n}.7`, `0a00${n.toString(16).padStart(2, '0')}07`],
    compare: ([, a], [, b]) => compare(a, b),
    spell: ([shown, , ...others], random) => random.pick([shown, ...others]),
    show: ([shown]) => JSON.stringify(shown),
  }),
  blob: primitive<Buffer>({
    special: [[], [0], [0, 0], [0, 255], [255], [255, 0], [127, 128]].map((bytes) =>
      Buffer.from(bytes),
    ),
    ordinary: (n) => Buffer.from([n * 6, n]),
    compare: (a, b) => Buffer.compare(a, b),
    spell: (bytes) => new Map([['$binary', bytes.toString('base64')]]),
    show: (bytes) => `{"$binary":"${bytes.toString('base64')}"}`,
  }),
}

export type PrimitiveName = keyof typeof primitives

export const primitiveNames = Object.keys(primitives) as PrimitiveName[]

export function isStruct(element: Element): element is Struct {
  return 'fields' in element
}

/**
 * Compares two elements; the result is negative, zero or positive. User-defined values are compared
 * field by field. Null fields sort first.
 */
export function compareElements(a: Element, b: Element, type: ElementType): number {
  if (typeof type === 'string')
    return primitives[type].compare((a as Atom).value, (b as Atom).value)
  for (const field of type.fields) {
    const [x, y] = [(a as Struct).fields.get(field), (b as Struct).fields.get(field)]
    if (x === undefined && y === undefined) continue
    if (x === undefined) return -1
    if (y === undefined) return 1
    const order = compareElements(x, y, field.type)
    if (order !== 0) return order
  }
  return 0
}

/** A text that is the same for equal elements of one type. */
export function identityOf(element: Element, type: ElementType): string {
  return showElement(element, type)
}

/**
 * A random value. With a small `spread`, there are few different values, so that filters often match
 * and sort keys are often equal.
 */
export function randomAtom(type: PrimitiveName, random: Random, spread: number): Atom {
  const { special, ordinary } = primitives[type]
  const value = random.chance(0.25)
    ? random.pick(special)
    : ordinary(random.integer(0, spread))
  return { type, value }
}

export function randomElement(type: ElementType, random: Random, spread: number): Element {
  if (typeof type === 'string') return randomAtom(type, random, spread)
  const fields = new Map<Field, Atom>()
  for (const field of type.fields)
    if (random.chance(0.7)) fields.set(field, randomAtom(field.type, random, spread))
  return { fields }
}

/** A random cell. Undefined represents null, or an empty collection or user-defined value. */
export function randomCell(
  type: ColumnType,
  random: Random,
  spread: number,
): Cell | undefined {
  if (random.chance(0.15)) return undefined
  switch (type.kind) {
    case 'one':
      return oneCell(randomElement(type.of, random, spread))
    case 'list':
    case 'set': {
      const elements = random.list(0, 4, () => randomElement(type.of, random, spread))
      return collected(type, elements)
    }
    case 'map': {
      const entries = random.list(0, 4, (): Entry => [
        randomAtom(type.key, random, spread),
        randomElement(type.of, random, spread),
      ])
      return mapCell(type.key, entries)
    }
    case 'vector':
      return { kind: 'vector', numbers: randomVector(type.dimension, random) }
  }
}

/** A vector of integers and halves, which are exact as 32-bit floats. It is never a zero vector. */
export function randomVector(dimension: number, random: Random): number[] {
  const numbers = random.list(dimension, dimension, () => random.integer(-4, 4) / 2)
  return numbers.every((number) => number === 0) ? numbers.map(() => 1) : numbers
}

/**
 * The cell of a single value. Undefined, which means null, for a user-defined value without any
 * field.
 */
export function oneCell(value: Element): Cell | undefined {
  return isStruct(value) && value.fields.size === 0 ? undefined : { kind: 'one', value }
}

/**
 * The cell of a list or set. Undefined, which means null, if it is empty. Sets are sorted, and have
 * no duplicates.
 */
export function collected(
  { kind, of }: { readonly kind: 'list' | 'set'; readonly of: ElementType },
  elements: readonly Element[],
): Cell | undefined {
  if (elements.length === 0) return undefined
  if (kind === 'list') return { kind, elements }
  const distinct = new Map(elements.map((element) => [identityOf(element, of), element]))
  const sorted = [...distinct.values()].sort((a, b) => compareElements(a, b, of))
  return { kind, elements: sorted }
}

/** The cell of a map, sorted by key. If several entries have the same key, the last one counts. */
export function mapCell(key: PrimitiveName, entries: readonly Entry[]): Cell | undefined {
  if (entries.length === 0) return undefined
  const distinct = new Map(entries.map((entry) => [identityOf(entry[0], key), entry]))
  const sorted = [...distinct.values()].sort(([a], [b]) => compareElements(a, b, key))
  return { kind: 'map', entries: sorted }
}

/** One of the JSON notations that a request may use for a cell, chosen at random. */
export function spellCell(cell: Cell, type: ColumnType, random: Random): Json {
  switch (cell.kind) {
    case 'one':
      return spellElement(cell.value, random, random.chance(0.2))
    case 'list':
      return cell.elements.map((element) => spellElement(element, random))
    case 'set': {
      const written = random.chance(0.3)
        ? cell.elements.concat(cell.elements)
        : cell.elements
      return shuffled(written, random).map((element) => spellElement(element, random))
    }
    case 'map': {
      const pairs = shuffled(cell.entries, random).map(
        ([key, value]) => [spellElement(key, random), spellElement(value, random)] as const,
      )
      const { key } = type as ColumnType & { kind: 'map' }
      const asObject =
        hasObjectForm(key) && pairs.every(([name]) => typeof name === 'string')
      if (!asObject || random.chance(0.3)) return pairs
      return new Map(pairs as (readonly [string, Json])[])
    }
    case 'vector':
      return spellVector(cell.numbers, random)
  }
}

/**
 * One of the JSON notations that a request may use for an element, chosen at random. If `asPairs`
 * is set, a user-defined value is written as pairs.
 */
export function spellElement(element: Element, random: Random, asPairs = false): Json {
  if (!isStruct(element)) return primitives[element.type].spell(element.value, random)
  const fields = shuffled([...element.fields], random).map(
    ([{ name }, atom]) => [name, spellElement(atom, random)] as const,
  )
  return asPairs && fields.length > 0 ? fields : new Map(fields)
}

/** The same element. If it is a text, its letter case may change. */
export function orInAnotherCase(element: Element, random: Random): Element {
  if (isStruct(element) || typeof element.value !== 'string') return element
  if ((element.type !== 'text' && element.type !== 'ascii') || random.chance(0.7))
    return element
  const { value } = element
  const upper = value.toUpperCase()
  return { ...element, value: upper === value ? value.toLowerCase() : upper }
}

/**
 * A random form of an operand in a filter. Filters accept one more form of UUIDs than other clauses.
 */
export function spellOperand(element: Element, random: Random): Json {
  const written = spellElement(element, random)
  return !isStruct(element) && element.type === 'uuid' && random.chance(0.2)
    ? new Map([['$uuid', written]])
    : written
}

export function spellVector(numbers: readonly number[], random: Random): Json {
  if (random.chance(0.7)) return numbers.map((number) => new Raw(number))
  const bytes = Buffer.alloc(numbers.length * 4)
  for (const [i, number] of numbers.entries()) bytes.writeFloatBE(number, i * 4)
  return new Map([['$binary', bytes.toString('base64')]])
}

/** Whether requests may write maps with keys of this type as objects. */
export function hasObjectForm(key: PrimitiveName): boolean {
  const types: readonly PrimitiveName[] = ['text', 'ascii', 'uuid', 'date', 'time', 'inet']
  return types.includes(key) || key === 'timestamp'
}

/** The expected reply form of a cell, as a text of the model. */
export function showCell(cell: Cell, type: ColumnType): string {
  switch (cell.kind) {
    case 'one':
      return showElement(cell.value, (type as { of: ElementType }).of)
    case 'list':
    case 'set': {
      const { of } = type as ColumnType & { kind: 'list' | 'set' }
      return showList(
        cell.elements.map((element) => showElement(element, of)),
        type,
      )
    }
    case 'map': {
      const { key, of } = type as ColumnType & { kind: 'map' }
      const entries = cell.entries.map(
        ([name, value]) => `${showElement(name, key)}:${showElement(value, of)}`,
      )
      return `${isTextual(key) ? 'object' : 'pairs'} ${entries.join(' ')}`
    }
    case 'vector':
      return JSON.stringify(cell.numbers)
  }
}

export function showElement(element: Element, type: ElementType): string {
  if (typeof type === 'string') return primitives[type].show((element as Atom).value)
  const shown = type.fields.flatMap((field) => {
    const atom = (element as Struct).fields.get(field)
    return atom ? [`${field.name}=${showElement(atom, field.type)}`] : []
  })
  return `{${shown.sort().join(' ')}}`
}

/** Converts a cell of a reply to a text of the model, for comparison with `showCell`. */
export function readCell(value: Value, type: ColumnType): string {
  switch (type.kind) {
    case 'one':
      return readElement(value, type.of)
    case 'list':
    case 'set':
      return showList(
        (value as Value[]).map((element) => readElement(element, type.of)),
        type,
      )
    case 'map': {
      const isObject = value instanceof Map
      const pairs = isObject ? [...value] : (value as [Value, Value][])
      const entries = pairs.map(
        ([name, mapped]) =>
          `${readElement(name, type.key)}:${readElement(mapped, type.of)}`,
      )
      return `${isObject ? 'object' : 'pairs'} ${entries.join(' ')}`
    }
    case 'vector':
      return JSON.stringify(value)
  }
}

export function readElement(value: Value, type: ElementType): string {
  if (typeof type === 'string') return readAtom(value)
  if (!(value instanceof Map)) return `not an object: ${JSON.stringify(value)}`
  const shown = [...value].map(([name, atom]) => `${name}=${readAtom(atom)}`)
  return `{${shown.sort().join(' ')}}`
}

function readAtom(value: Value): string {
  if (typeof value === 'number') return readNumber(String(value))
  if (typeof value === 'object' && value !== null && 'decimal' in value)
    return readNumber(value.decimal)
  return JSON.stringify(value instanceof Map ? Object.fromEntries(value) : value)
}

/**
 * The text of elements. Sets of durations have no defined order, so their elements are sorted
 * before the comparison.
 */
function showList(elements: string[], type: ColumnType): string {
  const isUnordered = type.kind === 'set' && type.of === 'duration'
  return `[${(isUnordered ? elements.sort() : elements).join(' ')}]`
}

function isTextual(key: PrimitiveName): boolean {
  return key === 'text' || key === 'ascii'
}

export const vocabulary = ['ant', 'bee', 'cat', 'dog', 'eel', 'fox']

/** Some words of the vocabulary, in different cases. */
function phrase(n: number): string {
  const words = Array.from({ length: 1 + (n % 4) }, (_, i) => {
    const word = vocabulary[(n * (i + 3)) % vocabulary.length]!
    return (n + i) % 3 === 0 ? word.toUpperCase() : word
  })
  return words.join(' ')
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  return items
    .map((item) => ({ item, place: random.next() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item)
}

function compare<T extends bigint | number | string>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function compareInTurn(a: readonly number[], b: readonly number[]): number {
  for (const [i, number] of a.entries()) if (number !== b[i]) return compare(number, b[i]!)
  return 0
}

/** `units` divided by 10 to the power of `scale`. */
interface Decimal {
  readonly units: bigint
  readonly scale: number
}

/**
 * 10 to the power of the number of decimal places that `b` has and `a` lacks; 1 if `a` lacks none.
 */
function power(b: Decimal, a: Decimal): bigint {
  return 10n ** BigInt(Math.max(0, b.scale - a.scale))
}

/** The same number without trailing zeros. */
function reduced({ units, scale }: Decimal): Decimal {
  if (units === 0n) return { units, scale: 0 }
  return units % 10n === 0n
    ? reduced({ units: units / 10n, scale: scale - 1 })
    : { units, scale }
}

function printDecimal(value: Decimal): string {
  const { units, scale } = reduced(value)
  return `${units}e${-scale}`
}

/** The normal form of a number in JSON, the same for equal numbers. */
function readNumber(text: string): string {
  const [, whole = '', fraction = '', exponent = '0'] =
    /^(-?\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(text) ?? []
  return printDecimal({
    units: BigInt(whole + fraction),
    scale: fraction.length - Number(exponent),
  })
}

/** Functions that write a decimal in different notations. */
const spellings: readonly ((value: Decimal) => string)[] = [
  ({ units, scale }) => (scale === 0 ? `${units}` : `${units}e${-scale}`),
  ({ units, scale }) => (units === 0n ? '0E7' : `${units}0E${-scale - 1}`),
  ({ units, scale }) => (scale === 0 ? `${units}.00` : `${units}e${-scale}`),
  ({ units, scale }) => (units === 0n ? '-0' : `${units}.0e${-scale}`),
]

function floating(special: readonly number[], round: (number: number) => number) {
  return primitive<number>({
    special: [0, -1.5, NaN, Infinity, -Infinity, ...special].map(round),
    ordinary: (n) => round((n - 5) * 1.1),
    // NaN is the greatest value, and equal to itself.
    compare: (a, b) =>
      Number.isNaN(a) || Number.isNaN(b)
        ? Number(Number.isNaN(a)) - Number(Number.isNaN(b))
        : compare(a, b),
    spell: (value, random) => {
      if (!Number.isFinite(value))
        return random.chance(0.2) && !Number.isNaN(value)
          ? new Raw(value > 0 ? '1e400' : '-1e400')
          : String(value)
      return new Raw(value === 0 && random.chance(0.3) ? '-0.0' : value)
    },
    show: (value) =>
      Number.isFinite(value)
        ? readNumber(shortest(value, round))
        : JSON.stringify(String(value)),
  })
}

/** The text of a number with the fewest digits that identify it. */
function shortest(value: number, round: (number: number) => number): string {
  for (let digits = 1; digits <= 17; digits++) {
    const text = value.toPrecision(digits)
    if (round(Number(text)) === value) return text
  }
  return String(value)
}

type Day = readonly [year: number, month: number, day: number]

function printDay([year, month, day]: Day): string {
  const digits = String(Math.abs(year)).padStart(4, '0')
  const sign = year < 0 ? '-' : year > 9999 ? '+' : ''
  return `${sign}${digits}-${twoDigits(month)}-${twoDigits(day)}`
}

function printTime(nanos: bigint, isLong: boolean): string {
  const seconds = Number(nanos / 1_000_000_000n)
  const fraction = String(nanos % 1_000_000_000n).padStart(9, '0')
  const hours = twoDigits(Math.floor(seconds / 3600))
  const minutes = twoDigits(Math.floor(seconds / 60) % 60)
  const rest = twoDigits(seconds % 60)
  if (isLong) return `${hours}:${minutes}:${rest}.${fraction}`
  const short = fraction.replace(/(?:000){1,3}$/, '')
  if (short !== '') return `${hours}:${minutes}:${rest}.${short}`
  return seconds % 60 === 0 ? `${hours}:${minutes}` : `${hours}:${minutes}:${rest}`
}

function twoDigits(number: number): string {
  return String(number).padStart(2, '0')
}

function printInstant(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z')
}

function spellInstant(ms: number, random: Random): Json {
  if (random.chance(0.2)) return new Map([['$date', new Raw(ms)]])
  // The local time in a zone east of Greenwich is ahead of UTC by the offset of the zone.
  const offset = random.chance(0.3) && ms < 4e12 ? random.integer(1, 12) : 0
  const text = new Date(ms + offset * 3_600_000).toISOString()
  return offset === 0 ? text : text.replace('Z', `+${twoDigits(offset)}:00`)
}

/** Forms of a duration: first the form in replies, then other forms for requests. */
type Duration = readonly string[]

/**
 * Forms of an address: first the form in replies, then the bytes, then other forms for requests.
 */
type Address = readonly [shown: string, bytes: string, ...others: string[]]

/**
 * Compares UUIDs by version, and UUIDs of version 1 by time. The text of a UUID has the most
 * significant digits of the time last.
 */
function compareUuids(a: string, b: string): number {
  const key = (uuid: string) => {
    const [low, mid, high, ...rest] = uuid.split('-') as [string, string, string]
    return high.startsWith('1') ? ['1', high, mid, low, ...rest].join('') : high[0]! + uuid
  }
  return compare(key(a), key(b))
}
