/**
 * Random documents, filters and sorts from small vocabularies, so that filters often match and
 * sort keys are often equal. One seed determines all of them.
 */
import { readNumeral } from '../../src/json/decimal.ts'
import { extendedOf } from '../../src/json/extended.ts'
import { isObject, type JsonObject, type Value } from '../../src/json/value.ts'
import type { Comparison, Filter } from '../../src/language/filters/filter.ts'
import type { IndexingRule } from '../../src/language/filters/indexing.ts'
import { escapeSegment, parsePath, type Path } from '../../src/language/values/path.ts'
import type { SortKey } from '../../src/language/values/sort-key.ts'
import type { SearchFields } from '../../src/engine/contract.ts'

/** The seed of the run. Set SEED to repeat a run. */
export const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31)

/**
 * Factor for the length of a run. Set TIMES for long runs. They are rarely necessary: every run has
 * a new seed, so many short runs test as much.
 */
export const times = Number(process.env['TIMES'] ?? 1)

export class Random {
  #state: number

  constructor(start: number) {
    this.#state = start >>> 0
  }

  /** Uniform in [0, 1). Mulberry32, by Tommy Ettinger. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** A whole number from `min` up to and including `max`. */
  integer(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1))
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.integer(0, choices.length - 1)]!
  }

  list<T>(min: number, max: number, make: () => T): T[] {
    return Array.from({ length: this.integer(min, max) }, make)
  }
}

const uuid = 'ABCDEF01-2345-6789-abcd-ef0123456789'

const scalars: readonly Value[] = [
  null,
  true,
  false,
  0,
  1,
  2,
  3,
  -1,
  2.5,
  0.1,
  readNumeral('0.1000000000000000001'),
  readNumeral('1e400'),
  readNumeral('-1e-400'),
  readNumeral('9007199254740993'),
  9007199254740992,
  '',
  'a',
  'b',
  'B',
  '1',
  'ä',
  '\ud83d',
  '😀',
  '\uffff',
  'b\0',
  uuid.toLowerCase(),
  new Map([['$uuid', uuid]]),
  new Map([['$date', 0]]),
  new Map([['$date', 1700000000000]]),
  new Map([['$objectId', '0123456789ABCDEF01234567']]),
]

const fieldNames = ['a', 'b', 'c', 'd', '0', '1', 'x.y', '&', '__proto__', 'p\0']

export const pathTexts = [
  ...['a', 'a', 'b', 'b', 'c', 'd', 'a.b', 'a.c', 'b.a', 'a.b.c', 'c.d', 'a.x&.y', 'b.&&'],
  ...[
    'a.0',
    'a.1',
    'b.0',
    'a.0.b',
    'a.1.b',
    'b.0.0',
    'a.0.1',
    'a.b.0',
    '0',
    '0.1',
    'a.0.b.1',
  ],
  ...['a.1.0.1', '__proto__', '__proto__.a', 'p\0', 'a.p\0', 'nowhere', 'a.0.1.0.1.0'],
]

export interface Shape {
  /** Probability that a value is an array or object. */
  readonly nested: number
  /** Number of different scalars. If there are few, many sort keys are equal. */
  readonly scalars: number
  readonly fields: number
}

export function randomValue(random: Random, shape: Shape, depth = 0): Value {
  if (depth < 3 && random.chance(shape.nested))
    return random.chance(0.5)
      ? random.list(0, 3, () => randomValue(random, shape, depth + 1))
      : randomFields(random, shape, depth + 1)
  if (random.chance(0.01)) return new Map([['$binary', 'AAAA']])
  return randomScalar(random, shape)
}

export function randomScalar(random: Random, shape: Shape): Value {
  return scalars[random.integer(0, Math.min(shape.scalars, scalars.length) - 1)]!
}

export function randomFields(random: Random, shape: Shape, depth = 0): JsonObject {
  const fields: JsonObject = new Map()
  const count = random.integer(0, depth === 0 ? shape.fields : 3)
  for (let i = 0; i < count; i++)
    fields.set(random.pick(fieldNames), randomValue(random, shape, depth))
  return fields
}

export function randomId(random: Random, max: number): Value {
  if (random.chance(0.7)) return random.integer(0, max)
  if (random.chance(0.6)) return `id-${random.integer(0, max)}`
  const scalar = random.pick(scalars)
  return scalar === '' ? 'empty' : scalar
}

export function randomSearch(random: Random): SearchFields {
  if (random.chance(0.8)) return {}
  return {
    ...(random.chance(0.5) && {
      vector: random.chance(0.2)
        ? null
        : { numbers: Float64Array.of(0.1, random.next()), form: 'array' as const },
    }),
    ...(random.chance(0.3) && { vectorize: random.pick(['text', '', null]) }),
    ...(random.chance(0.3) && { lexical: random.pick(['words', '', null]) }),
  }
}

export function pathOf(text: string): Path {
  const path = parsePath(text)
  if ('problem' in path) throw new Error(`${text}: ${path.problem}`)
  return path
}

/**
 * A random filter that the parser can produce: with indexed paths only, and with values that the
 * parser accepts.
 */
export function randomFilter(
  random: Random,
  shape: Shape,
  rule: IndexingRule,
  depth = 0,
): Filter {
  if (depth < 3 && random.chance(depth === 0 ? 0.5 : 0.25)) {
    const of = random.list(0, 3, () => randomFilter(random, shape, rule, depth + 1))
    return { kind: random.chance(0.6) ? 'and' : 'or', of }
  }
  for (;;) {
    const comparison = randomComparison(random, shape)
    if (isCovered(comparison, rule)) return comparison
  }
}

function randomComparison(random: Random, shape: Shape): Comparison {
  if (random.chance(0.06))
    return {
      kind: 'exists',
      path: pathOf(random.pick(['$vector', '$vectorize', '$lexical'])),
      exists: random.chance(0.5),
    }
  const isId = random.chance(0.1)
  const path = pathOf(isId ? '_id' : random.pick(pathTexts))
  const operand = (): Value =>
    isId
      ? randomId(random, 30)
      : withoutBinary(random, shape, () => randomValue(random, shape))
  const kind = random.pick([
    ...(['eq', 'eq', 'eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'in', 'nin'] as const),
    ...(['exists', 'all', 'notAll', 'size', 'notSize'] as const),
  ])
  switch (kind) {
    case 'eq':
    case 'ne':
      return { kind, path, value: operand() }
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte': {
      let value = isId ? randomId(random, 30) : randomScalar(random, shape)
      while (value === null) value = random.pick(scalars)
      return { kind, path, value }
    }
    case 'in':
    case 'nin':
      return { kind, path, values: random.list(0, 3, operand) }
    case 'all':
    case 'notAll':
      return { kind, path, values: random.list(1, 3, operand) }
    case 'exists':
      return { kind, path, exists: random.chance(0.6) }
    case 'size':
    case 'notSize':
      return { kind, path, size: random.integer(0, 3) }
  }
}

/** A value that is not binary, because the parser rejects binary operands. */
function withoutBinary(random: Random, shape: Shape, make: () => Value): Value {
  const value = make()
  return isObject(value) && value.has('$binary') ? randomScalar(random, shape) : value
}

function isCovered(comparison: Comparison, rule: IndexingRule): boolean {
  const { kind, path } = comparison
  if (rule.all || (path.text === '_id' && (kind === 'eq' || kind === 'in'))) return true
  const operands =
    'value' in comparison
      ? [comparison.value]
      : 'values' in comparison
        ? comparison.values
        : []
  const start =
    kind === 'all' || kind === 'notAll' ? [...path.segments, '0'] : path.segments
  return rule.covers(path) && operands.every((value) => isInnerCovered(start, value, rule))
}

function isInnerCovered(
  segments: readonly string[],
  value: Value,
  rule: IndexingRule,
): boolean {
  if (Array.isArray(value))
    return value.every((element) => isInnerCovered([...segments, '0'], element, rule))
  if (!isObject(value) || extendedOf(value) !== undefined) return true
  return [...value].every(([name, field]) => {
    const inner = [...segments, name]
    const text = inner.map(escapeSegment).join('.')
    return rule.covers({ text, segments: inner }) && isInnerCovered(inner, field, rule)
  })
}

export function randomSort(random: Random, rule: IndexingRule): SortKey[] {
  if (random.chance(0.3)) return []
  const keys = random.list(1, 3, (): SortKey => {
    const text = random.chance(0.1) ? '_id' : random.pick(pathTexts)
    return { path: pathOf(text), direction: random.chance(0.5) ? 1 : -1 }
  })
  const covered = keys.filter(({ path }) => rule.covers(path))
  return covered.filter(
    ({ path }, i) => covered.findIndex((other) => other.path.text === path.text) === i,
  )
}
