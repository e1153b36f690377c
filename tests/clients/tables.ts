/** Schemas and helpers of the tests of tables. */
import {
  BigNumber,
  DataAPIBlob,
  DataAPIDate,
  DataAPIDuration,
  DataAPIInet,
  DataAPITime,
  DataAPIVector,
  Table,
  UUID,
  type Db,
  type InferTableSchema,
} from '@datastax/astra-db-ts'

/** A schema with a key of one column. */
export const people = Table.schema({
  columns: {
    id: 'text',
    name: 'text',
    age: 'int',
    tags: { type: 'set', valueType: 'text' },
    days: { type: 'list', valueType: 'int' },
    notes: { type: 'map', keyType: 'text', valueType: 'text' },
  },
  primaryKey: 'id',
})

export type Person = InferTableSchema<typeof people>

/** A person with only a key, as the client returns it. */
export const nothingKnown = {
  name: null,
  age: null,
  tags: new Set<string>(),
  days: [],
  notes: new Map<string, string>(),
}

/** A schema with a partition column and two clustering columns. */
export const readings = Table.schema({
  columns: { place: 'text', day: 'int', hour: 'int', value: 'double' },
  primaryKey: { partitionBy: ['place'], partitionSort: { day: 1, hour: -1 } },
})

/** Creates empty tables of the schemas above, for tests that write. */
export class NewTables {
  readonly #db: Db
  #count = 0

  constructor(db: Db) {
    this.#db = db
  }

  people() {
    return this.#db.createTable(`people${++this.#count}`, { definition: people })
  }

  readings() {
    return this.#db.createTable(`readings${++this.#count}`, { definition: readings })
  }
}

/** All rows in an order that does not depend on the placement of partitions. */
export async function everyRow<Row extends object>(
  table: Table<Row>,
  by: keyof Row & string,
): Promise<unknown[]> {
  const rows = await table.find({}).toArray()
  const plainRows = rows.map((row) => plain(row) as Record<string, string | number>)
  return plainRows.toSorted((a, b) => (a[by]! < b[by]! ? -1 : 1))
}

/**
 * Converts instances of the classes of the client to text. Two equal instances may have different
 * internal state, which a comparison of objects would report as a difference.
 */
export function plain(value: unknown): unknown {
  if (value instanceof DataAPIBlob) return `blob ${value.asBase64()}`
  if (value instanceof DataAPIVector) return { vector: value.asArray() }
  if (value instanceof Map)
    return new Map([...value].map(([key, held]) => [plain(key), plain(held)]))
  if (value instanceof Set) return new Set([...value].map(plain))
  if (Array.isArray(value)) return value.map(plain)
  if (BigNumber.isBigNumber(value)) return `decimal ${value.toFixed()}`
  for (const [name, kind] of [
    ['date', DataAPIDate],
    ['duration', DataAPIDuration],
    ['inet', DataAPIInet],
    ['time', DataAPITime],
    ['uuid', UUID],
  ] as const)
    if (value instanceof kind) return `${name} ${value.toString()}`
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  return Object.fromEntries(Object.entries(value).map(([key, held]) => [key, plain(held)]))
}
