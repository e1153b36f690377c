/** The schema of a table: columns with their kinds of values, key and indexes. */
import type { Random } from '../faults/random.ts'
import { randomText, times, words, type Json } from './random-documents.ts'

/** A value as requests send it and replies return it. */
export type Cell = string | number | boolean | readonly unknown[] | Json

export interface ColumnKind {
  readonly type: string | Json
  readonly random: (random: Random) => Cell
  /** Comparison of two values in filters; absent: filters test for equality only. */
  readonly compare?: (a: Cell, b: Cell) => number
  readonly is: 'scalar' | 'list' | 'set' | 'map' | 'opaque'
}

export const vectorDimension = 4

const byNumber = (a: Cell, b: Cell) => (a as number) - (b as number)
const byText = (a: Cell, b: Cell) => (a === b ? 0 : (a as string) < (b as string) ? -1 : 1)

function scalar(
  type: string,
  random: ColumnKind['random'],
  compare?: ColumnKind['compare'],
): ColumnKind {
  return { type, random, is: 'scalar', ...(compare && { compare }) }
}

const whole = (random: Random) => random.below(40) - 20
const quarter = (random: Random) => (random.below(400) - 200) / 4
const twoDigits = (number: number) => String(number).padStart(2, '0')

/**
 * Kinds of columns by name. Values are written in the form in which the server returns them, so
 * that texts can be compared.
 */
export const columnKinds = {
  int: scalar('int', whole, byNumber),
  tinyint: scalar('tinyint', whole, byNumber),
  smallint: scalar('smallint', (random) => whole(random) * 100, byNumber),
  bigint: scalar('bigint', (random) => 9_007_199_254_740_000 + whole(random), byNumber),
  varint: scalar('varint', whole, byNumber),
  double: scalar('double', quarter, byNumber),
  float: scalar('float', quarter, byNumber),
  decimal: scalar('decimal', quarter, byNumber),
  boolean: scalar('boolean', (random) => random.oneIn(2)),
  text: scalar('text', (random) => random.pick(words), byText),
  ascii: scalar('ascii', (random) => random.pick(words), byText),
  body: scalar('text', randomText),
  long: scalar('text', (random) =>
    'y'.repeat(random.oneIn(40) ? 20_000 : random.below(200)),
  ),
  date: scalar('date', (random) => `2024-02-${twoDigits(1 + random.below(28))}`, byText),
  time: scalar('time', (random) => `10:${twoDigits(random.below(60))}:30`, byText),
  timestamp: scalar(
    'timestamp',
    (random) => `2024-09-24T14:${twoDigits(random.below(60))}:59Z`,
    byText,
  ),
  duration: scalar('duration', (random) => `PT${1 + random.below(9)}H45M`),
  uuid: scalar('uuid', (random) => `c0ffee00-0000-4000-8000-00000000000${random.below(9)}`),
  inet: scalar('inet', (random) => `10.0.0.${random.below(20)}`),
  blob: {
    type: 'blob',
    random: (random) => ({ $binary: Buffer.from(random.pick(words)).toString('base64') }),
    is: 'opaque',
  },
  list: {
    type: { type: 'list', valueType: 'int' },
    random: (random) => times(random.below(4), () => random.below(9)),
    is: 'list',
  },
  set: {
    type: { type: 'set', valueType: 'text' },
    random: (random) => sortedSet(times(random.below(4), () => random.pick(words))),
    is: 'set',
  },
  map: {
    type: { type: 'map', keyType: 'text', valueType: 'int' },
    random: (random) =>
      Object.fromEntries(
        times(random.below(4), () => [random.pick(words), random.below(9)]),
      ),
    is: 'map',
  },
  vector: {
    type: { type: 'vector', dimension: vectorDimension },
    random: (random) => times(vectorDimension, () => (random.below(33) - 16) / 8 || 1),
    is: 'opaque',
  },
  /** A vector of two dimensions, like vectors that the server computes by counting letters. */
  pair: {
    type: { type: 'vector', dimension: 2 },
    random: (random) => [1 + random.below(5), random.below(5)],
    is: 'opaque',
  },
} satisfies Record<string, ColumnKind>

export type KindName = keyof typeof columnKinds

export interface IndexShape {
  readonly name: string
  readonly column: string
  readonly create: object
}

/** The schema of a table. It is mutable, because tables of a single client are altered. */
export interface TableShape {
  readonly name: string
  readonly columns: Map<string, KindName>
  readonly partitionBy: readonly string[]
  readonly partitionSort: Readonly<Record<string, 1 | -1>>
  /** Indexes by name. */
  readonly indexes: Map<string, IndexShape>
}

export function keyColumns({ partitionBy, partitionSort }: TableShape): string[] {
  return [...partitionBy, ...Object.keys(partitionSort)]
}

export function definitionOf(shape: TableShape): object {
  const { columns, partitionBy, partitionSort } = shape
  const described = [...columns].map(([name, kind]) => [name, columnKinds[kind].type])
  return {
    columns: Object.fromEntries(described) as Json,
    primaryKey: { partitionBy, partitionSort },
  }
}

export function regularIndex(table: string, column: string): IndexShape {
  const name = `${table}_by_${column}`
  return { name, column, create: { createIndex: { name, definition: { column } } } }
}

export function textIndex(table: string, column: string): IndexShape {
  const name = `${table}_text_${column}`
  return { name, column, create: { createTextIndex: { name, definition: { column } } } }
}

export function vectorIndex(table: string, column: string): IndexShape {
  const name = `${table}_near_${column}`
  const definition = { column, options: { metric: vectorMetric } }
  return { name, column, create: { createVectorIndex: { name, definition } } }
}

export const vectorMetric = 'euclidean'

function indexed(shape: TableShape, ...indexes: readonly IndexShape[]): TableShape {
  for (const index of indexes) shape.indexes.set(index.name, index)
  return shape
}

/** Tables that all clients share. The column `owner` says which client owns a row. */
export const sharedTables: readonly TableShape[] = [
  indexed(
    {
      name: 'people',
      columns: new Map<string, KindName>([
        ['id', 'text'],
        ['owner', 'int'],
        ...(Object.keys(columnKinds) as KindName[])
          .filter((kind) => kind !== 'vector' && kind !== 'pair')
          .map((kind) => [`a_${kind}`, kind] as [string, KindName]),
      ]),
      partitionBy: ['id'],
      partitionSort: {},
      indexes: new Map(),
    },
    regularIndex('people', 'owner'),
    regularIndex('people', 'a_int'),
    regularIndex('people', 'a_set'),
    regularIndex('people', 'a_timestamp'),
  ),
  {
    name: 'events',
    columns: new Map<string, KindName>([
      ['owner', 'int'],
      ['day', 'date'],
      ['at', 'timestamp'],
      ['n', 'int'],
      ['kind', 'text'],
      ['size', 'decimal'],
      ['tags', 'set'],
      ['long', 'long'],
    ]),
    partitionBy: ['owner', 'day'],
    partitionSort: { at: -1, n: 1 },
    indexes: new Map(),
  },
  indexed(
    {
      name: 'notes',
      columns: new Map<string, KindName>([
        ['owner', 'int'],
        ['n', 'int'],
        ['v', 'vector'],
        ['body', 'body'],
        ['kind', 'text'],
        ['limits', 'map'],
      ]),
      partitionBy: ['owner'],
      partitionSort: { n: 1 },
      indexes: new Map(),
    },
    vectorIndex('notes', 'v'),
    textIndex('notes', 'body'),
    regularIndex('notes', 'kind'),
    regularIndex('notes', 'limits'),
  ),
]

export function sortedSet(values: readonly string[]): string[] {
  return [...new Set(values)].toSorted()
}
