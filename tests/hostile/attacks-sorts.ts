/** Sorts, projections, updates and single documents of the largest size that a request may have. */
import { answersOf, load, statusesOn, write, type Attack } from './attack.ts'
import { hostileToken, type HostileServer } from './hostile-server.ts'
import { requestOf } from './requests.ts'

const keyspace = '/default_keyspace'
const target = `${keyspace}/target`

/** Sends the same body on `connections` connections concurrently. */
async function send(server: HostileServer, body: Buffer, connections = 1) {
  const one = async () => {
    const socket = await server.connect()
    const statuses = statusesOn(socket, 1)
    await write(socket, requestOf(hostileToken, target, body))
    const answered = await statuses
    socket.destroy()
    return answered
  }
  const answered = await Promise.all(Array.from({ length: connections }, one))
  return answersOf(answered.flat())
}

function fields<T>(count: number, value: (n: number) => T, name = 'f'): Record<string, T> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, n) => [`${name}${n}`, value(n)]),
  )
}

function list<T>(count: number, value: (n: number) => T): T[] {
  return Array.from({ length: count }, (_, n) => value(n))
}

/** Creates the target of an attack. */
type Prepare = (server: HostileServer) => Promise<void>

function collection(options: object = {}): Prepare {
  return async (server) => {
    await server.command(keyspace, { createCollection: { name: 'target', options } })
  }
}

/** Creates a collection without indexes, where a document may be as long as the server accepts. */
const unindexed = collection({ indexing: { deny: ['*'] } })

function table(columns: object): Prepare {
  const definition = { columns: { id: 'int', ...columns }, primaryKey: 'id' }
  return async (server) => {
    await server.command(keyspace, { createTable: { name: 'target', definition } })
  }
}

/** Returns a function that prepares the target and then inserts records into it, in batches. */
function holding(
  prepare: Prepare,
  record: (n: number) => object,
  count = 1,
  atATime?: number,
): Prepare {
  return async (server) => {
    await prepare(server)
    await load(server, 'target', count, record, atATime)
  }
}

/** An attack that sends one command to the prepared target on several connections. */
function attack(
  name: string,
  request: string,
  prepare: Prepare,
  command: () => object | Buffer,
  connections = 1,
): Attack {
  return {
    name,
    request: connections > 1 ? `${request}, ${connections} at once` : request,
    prepare,
    run(server) {
      const made = command()
      const body = made instanceof Buffer ? made : Buffer.from(JSON.stringify(made))
      return send(server, body, connections)
    },
  }
}

function updateOne(filter: object, update: () => object): () => object {
  return () => ({ updateOne: { filter, update: update() } })
}

function insertOne(document: () => object): () => object {
  return () => ({ insertOne: { document: document() } })
}

/** Prepares a collection with one document, whose field `a` is a long array. */
const longArray = holding(unindexed, () => ({ _id: 1, a: list(450_000, (n) => n) }))

const manyFields = holding(unindexed, () => ({ _id: 1, ...fields(300_000, () => 1) }))

const longColumns = table({
  l: { type: 'list', valueType: 'int' },
  s: { type: 'set', valueType: 'text' },
  m: { type: 'map', keyType: 'text', valueType: 'int' },
})

/** A row with a long list, set and map. */
function longRow(id = 1) {
  return {
    id,
    l: list(120_000, (n) => n),
    s: list(80_000, (n) => `v${(n * 7_919) % 80_000}`),
    m: fields(60_000, (n) => n),
  }
}

function arrayUpdate(name: string, request: string, update: () => object): Attack {
  return attack(`array-${name}`, request, longArray, updateOne({ _id: 1 }, update))
}

function rowUpdate(name: string, request: string, update: () => object): Attack {
  const prepare = holding(longColumns, () => longRow())
  return attack(`row-${name}`, request, prepare, updateOne({ id: 1 }, update))
}

const longPath = () => ({ [`a${'.a'.repeat(9_000_000)}`]: 1 })

export const attacksOnSorts: readonly Attack[] = [
  ...[1, 4].map((connections) =>
    attack(
      `sort-keys-${connections}`,
      '`find` of 200 documents sorted by 9 900 keys',
      holding(collection(), (n) => ({ _id: n, a: 1 }), 200),
      () => ({ find: { sort: fields(9_900, () => 1) } }),
      connections,
    ),
  ),
  attack(
    'sort-ties',
    '`find` of 450 documents that tie in 63 keys',
    holding(collection(), (n) => ({ _id: (n * 37) % 450, ...fields(63, () => 1) }), 450),
    () => ({ find: { sort: fields(64, () => 1) } }),
    16,
  ),
  attack(
    'sort-path',
    '`find` sorted by a path of 9 000 000 segments',
    collection(),
    () => ({ find: { sort: longPath() } }),
  ),
  attack(
    'filter-path',
    '`find` filtered by a path of 9 000 000 segments',
    collection(),
    () => ({ find: { filter: longPath() } }),
  ),
  attack('projection-path', '`find` of a path of 9 000 000 segments', collection(), () => ({
    find: { projection: longPath() },
  })),
  attack(
    'update-path',
    '`$set` of a path of 9 000 000 segments',
    holding(collection(), () => ({ _id: 1 })),
    updateOne({ _id: 1 }, () => ({ $set: longPath() })),
  ),
  attack(
    'update-paths',
    '`$set` of 9 900 paths of 1 900 characters',
    holding(collection(), () => ({ _id: 1 })),
    updateOne({ _id: 1 }, () => ({ $set: fields(9_900, () => 1, 'a.'.repeat(950)) })),
  ),
  attack(
    'projection-paths',
    '`find` of 20 documents of 3.8 MB with 9 900 paths',
    holding(
      unindexed,
      (id) => ({
        _id: id,
        a: list(60_000, (n) => ({ [`f${n % 9_900}`]: n, other: 'x'.repeat(30) })),
      }),
      20,
      5,
    ),
    () => ({ find: { projection: { a: fields(9_900, () => 1) } } }),
  ),
  attack(
    'projection-exclude',
    '`find` of a document of 300 000 fields without 9 900',
    manyFields,
    () => ({ find: { projection: fields(9_900, () => 0) } }),
  ),
  arrayUpdate('addToSet', '`$addToSet` of 450 000 numbers to 450 000', () => ({
    $addToSet: { a: { $each: list(450_000, (n) => n + 1) } },
  })),
  arrayUpdate('pullAll', '`$pullAll` of 450 000 numbers from 450 000', () => ({
    $pullAll: { a: list(450_000, (n) => n + 1) },
  })),
  arrayUpdate('pull', '`$pull` of a number from 450 000', () => ({
    $pull: { a: { $gt: 9 } },
  })),
  arrayUpdate('push', '`$push` of 100 000 numbers before 450 000', () => ({
    $push: { a: { $each: list(100_000, (n) => n), $position: 0 } },
  })),
  arrayUpdate('set', '`$set` of an array of 450 000 numbers to itself', () => ({
    $set: { a: list(450_000, (n) => n) },
  })),
  arrayUpdate('max', '`$max` of an array of 450 000 numbers', () => ({
    $max: { a: list(450_000, (n) => n) },
  })),
  arrayUpdate('set-elements', '`$set` of 9 900 elements of 450 000', () => ({
    $set: fields(9_900, () => -1, 'a.'),
  })),
  attack(
    'fields-set',
    '`$set` of 9 900 fields beside 300 000',
    manyFields,
    updateOne({ _id: 1 }, () => ({ $set: fields(9_900, () => 2) })),
  ),
  attack(
    'fields-rename',
    '`$rename` of 4 900 fields of 300 000',
    manyFields,
    updateOne({ _id: 1 }, () => ({ $rename: fields(4_900, (n) => `g${n}`) })),
  ),
  attack(
    'fields-find-and-update',
    '`findOneAndUpdate` of 300 000 fields, all but 9 900 shown',
    manyFields,
    () => ({
      findOneAndUpdate: {
        filter: { _id: 1 },
        update: { $unset: fields(9_900, () => '') },
        projection: fields(9_900, () => 0, 'f1'),
        options: { returnDocument: 'after' },
      },
    }),
  ),
  attack(
    'fields-find-and-replace',
    '`findOneAndReplace` of 300 000 fields by as many',
    manyFields,
    () => ({
      findOneAndReplace: {
        filter: { _id: 1 },
        replacement: fields(300_000, () => 2),
        options: { returnDocument: 'after' },
      },
    }),
  ),
  attack('fields-delete', '`findOneAndDelete` of 300 000 fields', manyFields, () => ({
    findOneAndDelete: { filter: { _id: 1 } },
  })),
  attack(
    'fields-refused',
    '`insertOne` of 900 000 fields',
    collection(),
    insertOne(() => fields(900_000, () => 1)),
  ),
  attack(
    'fields-insert',
    '`insertOne` of 350 000 fields, none of them indexed',
    unindexed,
    insertOne(() => fields(350_000, () => 1)),
  ),
  attack(
    'objects-insert',
    '`insertOne` of an array of 200 000 objects, none indexed',
    unindexed,
    insertOne(() => ({ a: list(200_000, (n) => ({ a: [n], b: {} })) })),
  ),
  attack(
    'fields-many',
    '`insertMany` of 100 documents with 190 fields',
    collection(),
    () => ({
      insertMany: {
        documents: list(100, (n) => fields(190, (m) => `value ${n} of field ${m}`)),
      },
    }),
    16,
  ),
  attack('whitespace', 'body of 20 MB of white space before a command', collection(), () =>
    Buffer.from(`${' \n'.repeat(9_990_000)}{"find":{}}`),
  ),
  attack('whitespace-only', 'body of 20 MB of white space', collection(), () =>
    Buffer.alloc(20_000_000, ' '),
  ),
  attack(
    'long-key',
    '`insertOne` of a field whose name has 19 000 000 characters',
    collection(),
    insertOne(() => ({ ['k'.repeat(19_000_000)]: 1 })),
  ),
  attack(
    'long-keys',
    '`insertOne` of 19 000 fields whose names have 1 000 characters',
    unindexed,
    insertOne(() => fields(19_000, () => 1, 'k.&'.repeat(330))),
  ),
  attack('nested', '`insertOne` of 60 000 objects 15 levels deep', unindexed, () => {
    const nested = `${'{"a":'.repeat(13)}1${'}'.repeat(13)}`
    const a = Array<string>(60_000).fill(nested).join()
    return Buffer.from(`{"insertOne":{"document":{"a":[${a}]}}}`)
  }),
  attack(
    'ids',
    '`find` of 9 900 ids',
    holding(collection(), (n) => ({ _id: n }), 200),
    () => ({ find: { filter: { _id: { $in: list(9_900, (n) => n) } } } }),
  ),
  attack(
    'rows-insert',
    '`insertMany` of 20 rows with lists, sets and maps of 10 000 elements',
    longColumns,
    () => ({
      insertMany: {
        documents: list(20, (id) => ({
          id,
          l: list(10_000, (n) => n),
          s: list(10_000, (n) => `v${(n * 7_919) % 10_000}`),
          m: fields(10_000, (n) => n),
        })),
      },
    }),
  ),
  attack(
    'row-insert',
    '`insertOne` of a row with a list, a set and a map of 260 000 elements',
    longColumns,
    insertOne(() => longRow()),
  ),
  attack(
    'row-unknown',
    '`insertOne` of a row with 900 000 unknown columns',
    table({}),
    insertOne(() => ({ id: 1, ...fields(900_000, () => 1) })),
  ),
  attack(
    'row-find',
    '`find` of 20 rows with a list, a set and a map of 260 000 elements',
    holding(longColumns, longRow, 20, 3),
    () => ({ find: { projection: { l: 1, m: 1 } } }),
  ),
  rowUpdate('push', '`$push` to a list, a set and a map of 260 000 elements', () => ({
    $push: {
      l: { $each: list(60_000, (n) => n) },
      s: { $each: list(40_000, (n) => `w${n}`) },
      m: { $each: list(30_000, (n) => ({ [`g${n}`]: n })) },
    },
  })),
  rowUpdate(
    'pullAll',
    '`$pullAll` from a list, a set and a map of 260 000 elements',
    () => ({
      $pullAll: {
        l: list(150_000, (n) => n + 1),
        s: list(100_000, (n) => `v${n + 1}`),
        m: list(80_000, (n) => `f${n + 1}`),
      },
    }),
  ),
]
