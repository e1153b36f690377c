/** Invalid commands on tables: valid commands, each with one change, at every place. */
import type { Random } from './random.ts'

/** A command for a keyspace, or for its table "fuzzed". */
export interface TableCommand {
  readonly level: 'keyspace' | 'table'
  readonly command: object
}

const service = { provider: 'openai', modelName: 'text-embedding-3-small' }

const row = {
  id: 'a',
  n: 1,
  t: 'some words',
  b: { $binary: 'AAAA' },
  day: '2024-02-29',
  at: { $date: 1_700_000_000_000 },
  took: 'P1DT2H',
  host: '127.0.0.1',
  u: '00000000-0000-4000-8000-000000000000',
  big: 123456789012,
  d: 1.5,
  flag: true,
  l: ['x', 'y'],
  s: [3, 1],
  m: { k: 1 },
  pairs: [[1, 'one']],
  v: [0.1, 0.2, 0.3],
  a: { street: 'Main', zip: 5 },
  as: [{ street: 'Side' }],
}

export const fuzzedTable = {
  columns: {
    id: 'text',
    n: 'int',
    t: 'text',
    note: 'text',
    b: 'blob',
    day: 'date',
    at: 'timestamp',
    took: 'duration',
    host: 'inet',
    u: 'uuid',
    big: 'varint',
    d: 'decimal',
    flag: 'boolean',
    l: { type: 'list', valueType: 'text' },
    s: { type: 'set', valueType: 'int' },
    m: { type: 'map', keyType: 'text', valueType: 'int' },
    pairs: { type: 'map', keyType: 'int', valueType: 'text' },
    v: { type: 'vector', dimension: 3 },
    w: { type: 'vector', dimension: 3 },
    a: { type: 'userDefined', udtName: 'address' },
    as: { type: 'list', valueType: { type: 'userDefined', udtName: 'address' } },
  },
  primaryKey: { partitionBy: ['id'], partitionSort: { n: -1 } },
}

const keyspaceCommands: readonly object[] = [
  { listTables: { options: { explain: true } } },
  { listTypes: { options: { explain: true } } },
  {
    createTable: {
      name: 'spare',
      definition: {
        columns: {
          id: 'text',
          n: { type: 'int' },
          m: { type: 'map', keyType: 'text', valueType: 'int' },
          l: { type: 'list', valueType: { type: 'userDefined', udtName: 'address' } },
          v: { type: 'vector', dimension: 3, service },
        },
        primaryKey: { partitionBy: ['id'], partitionSort: { n: -1 } },
      },
      options: { ifNotExists: true },
    },
  },
  { dropTable: { name: 'spare', options: { ifExists: true } } },
  {
    createType: {
      name: 'color',
      definition: { fields: { hue: 'int', name: { type: 'text' } } },
      options: { ifNotExists: true },
    },
  },
  {
    alterType: {
      name: 'address',
      rename: { fields: { street: 'road' } },
      add: { fields: { city: 'text', state: { type: 'text' } } },
    },
  },
  { dropType: { name: 'color', options: { ifExists: true } } },
  { dropIndex: { name: 'by_spare', options: { ifExists: true } } },
]

const tableCommands: readonly object[] = [
  { listIndexes: { options: { explain: true } } },
  {
    alterTable: {
      operation: { add: { columns: { x: 'text', y: { type: 'set', valueType: 'int' } } } },
    },
  },
  { alterTable: { operation: { drop: { columns: ['flag', 'host'] } } } },
  { alterTable: { operation: { addVectorize: { columns: { w: service } } } } },
  { alterTable: { operation: { dropVectorize: { columns: ['w'] } } } },
  {
    createIndex: {
      name: 'by_day',
      definition: { column: 'day', options: {} },
      indexType: 'regular',
      options: { ifNotExists: true },
    },
  },
  {
    createIndex: {
      name: 'by_key',
      definition: {
        column: { m: '$keys' },
        options: { caseSensitive: false, ascii: true },
      },
    },
  },
  {
    createVectorIndex: {
      name: 'by_w',
      definition: { column: 'w', options: { metric: 'cosine', sourceModel: 'other' } },
      options: { ifNotExists: true },
    },
  },
  {
    createTextIndex: {
      name: 'by_text',
      definition: {
        column: 'note',
        options: {
          analyzer: { tokenizer: { name: 'standard' }, filters: [{ name: 'lowercase' }] },
        },
      },
    },
  },
  { insertOne: { document: row } },
  {
    insertMany: {
      documents: [row, { id: 'b', n: 2, w: [1, 2, 3] }],
      options: { ordered: true, returnDocumentResponses: true },
    },
  },
  {
    find: {
      filter: {
        n: { $gt: 0, $lte: 100 },
        $or: [
          { l: { $in: ['x'] } },
          { m: { $keys: { $all: ['k'] } } },
          { pairs: { $nin: [[1, 'one']] } },
        ],
        $not: { t: { $ne: 'a' } },
      },
      sort: { d: 1, day: -1 },
      projection: { id: 1, v: 1 },
      options: { limit: 10, skip: 1, includeSortVector: true },
    },
  },
  {
    find: {
      filter: { id: { $in: ['a', 'b'] }, u: row.u, b: row.b, at: row.at, took: row.took },
      options: { pageState: '' },
    },
  },
  { find: { sort: { v: [1, 2, 3] }, options: { limit: 5, includeSimilarity: true } } },
  { find: { filter: { t: { $match: 'some' } }, sort: { t: 'words' } } },
  {
    findOne: {
      filter: { id: 'a', n: 1, flag: true, host: '127.1' },
      sort: { n: 1 },
      projection: { t: false },
      options: { includeSimilarity: true },
    },
  },
  {
    updateOne: {
      filter: { id: 'a', n: 1 },
      update: { $set: { ...row, id: undefined, n: undefined }, $unset: { w: '' } },
      options: { upsert: true },
    },
  },
  {
    updateOne: {
      filter: { id: 'a', n: 1 },
      update: {
        $push: { l: 'z', s: { $each: [4, 5] }, m: { key: 2 }, pairs: [2, 'two'] },
        $pullAll: { as: [{ street: 'Side' }] },
      },
    },
  },
  { deleteOne: { filter: { id: 'a', n: 1 } } },
  { deleteMany: { filter: { id: 'a', n: { $gt: 0, $lt: 10 } } } },
]

export const validCommands: readonly TableCommand[] = [
  ...keyspaceCommands.map((command) => ({ level: 'keyspace', command }) as const),
  ...tableCommands.map((command) => ({ level: 'table', command }) as const),
]

/** JSON values that are invalid in most places. */
const oddTexts: readonly string[] = [
  'null',
  'true',
  '0',
  '-1',
  '1.5',
  '9007199254740993',
  '9'.repeat(100),
  '9'.repeat(101),
  '1e400',
  '-1e-400',
  '1e999999999',
  '""',
  '" "',
  '"$x"',
  '"x"',
  '"NaN"',
  '"__proto__"',
  '"\\ud800\\u0000"',
  JSON.stringify('é'.repeat(40_000)),
  '[]',
  '{}',
  '[[[]]]',
  '[null]',
  '[1,2,3]',
  '[["k",1],["k",2]]',
  '{"":1}',
  '{"a":1,"a":2}',
  '{"$date":1}',
  '{"$binary":"AAAA"}',
  '{"$binary":"!"}',
  '{"$uuid":5}',
  '{"$in":[1,null]}',
  '{"$each":[1,"x"]}',
  '{"__proto__":{"type":"int"}}',
  '{"type":"list","valueType":{"type":"list","valueType":"int"}}',
  `[${Array.from({ length: 1_200 }, (_, n) => n).join()}]`,
  '['.repeat(450) + ']'.repeat(450),
  '{"$not":'.repeat(450) + '{}' + '}'.repeat(450),
]

const oddKeys = [
  '',
  ' ',
  '$x',
  '$eq',
  '*',
  'a.b',
  '__proto__',
  'constructor',
  '\ud800',
  'nobody',
]

/** Marks the changed place in a tree. The JSON text of an odd value then replaces the mark. */
const mark = 'changed place'

/**
 * Variants of a command as JSON, each with one change. At every place, each odd value is inserted
 * with a probability of 1/8.
 */
export function* variantsOf(command: object, random: Random): Generator<string> {
  const whole = JSON.parse(JSON.stringify(command)) as Record<string, unknown>
  const [name] = Object.keys(whole)
  for (const change of changesIn(whole[name!])) {
    const text = JSON.stringify({ [name!]: change.tree })
    if (!change.isMarked) yield text
    else
      for (const odd of oddTexts)
        if (random.oneIn(8)) yield text.replace(`"${mark}"`, () => odd)
  }
}

interface Change {
  readonly tree: unknown
  /** Whether the tree contains `mark`, which the JSON text of an odd value has to replace. */
  readonly isMarked: boolean
}

function* changesIn(tree: unknown): Generator<Change> {
  yield { tree: mark, isMarked: true }
  if (typeof tree !== 'object' || tree === null) return
  const entries = Object.entries(tree)
  const rebuilt = (changed: readonly (readonly [string, unknown])[]) =>
    Array.isArray(tree) ? changed.map(([, value]) => value) : Object.fromEntries(changed)
  for (const [at, [key, value]] of entries.entries()) {
    for (const { tree: inner, isMarked } of changesIn(value))
      yield { tree: rebuilt(entries.with(at, [key, inner])), isMarked }
    yield { tree: rebuilt(entries.toSpliced(at, 1)), isMarked: false }
    if (!Array.isArray(tree))
      for (const odd of oddKeys)
        yield { tree: rebuilt(entries.with(at, [odd, value])), isMarked: false }
  }
  if (!Array.isArray(tree))
    for (const odd of oddKeys)
      yield { tree: rebuilt([...entries, [odd, 1]]), isMarked: false }
}
