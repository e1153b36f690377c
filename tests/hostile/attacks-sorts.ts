/** Sorts, projections, updates and single documents that are as large as a request may be. */
import { answersOf, load, statusesOn, write, type Attack } from './attack.ts'
import { hostileToken, type HostileServer } from './hostile-server.ts'
import { requestOf } from './requests.ts'

const keyspace = '/default_keyspace'
const target = `${keyspace}/target`

/** The same body on so many connections at once. */
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

function bodyOf(command: object): Buffer {
  return Buffer.from(JSON.stringify(command))
}

function fields<T>(count: number, value: (n: number) => T, name = 'f'): Record<string, T> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, n) => [`${name}${n}`, value(n)]),
  )
}

function list<T>(count: number, value: (n: number) => T): T[] {
  return Array.from({ length: count }, (_, n) => value(n))
}

/** Nothing is indexed, so that a document may be as long as the server takes it. */
const unindexed = { indexing: { deny: ['*'] } }

async function createCollection(
  server: HostileServer,
  options: object = {},
): Promise<void> {
  await server.command(keyspace, { createCollection: { name: 'target', options } })
}

async function createTable(
  server: HostileServer,
  columnDefinitions: object,
): Promise<void> {
  const definition = { columns: { id: 'int', ...columnDefinitions }, primaryKey: 'id' }
  await server.command(keyspace, { createTable: { name: 'target', definition } })
}

async function insert(server: HostileServer, document: object): Promise<void> {
  await server.command(target, { insertOne: { document } })
}

/** One command against what `prepare` made, on so many connections. */
function attack(
  name: string,
  request: string,
  prepare: (server: HostileServer) => Promise<void>,
  command: () => object | Buffer,
  connections = 1,
): Attack {
  return {
    name,
    request: connections > 1 ? `${request}, ${connections} at once` : request,
    prepare,
    run(server) {
      const made = command()
      return send(server, made instanceof Buffer ? made : bodyOf(made), connections)
    },
  }
}

/** An update of one document that holds a long array. */
function arrayUpdate(name: string, request: string, update: () => object): Attack {
  return attack(
    `array-${name}`,
    request,
    async (server) => {
      await createCollection(server, unindexed)
      await insert(server, { _id: 1, a: list(450_000, (n) => n) })
    },
    () => ({ updateOne: { filter: { _id: 1 }, update: update() } }),
  )
}

/** An update of a row, whose list, set and map are long. */
function rowUpdate(name: string, request: string, update: () => object): Attack {
  return attack(
    `row-${name}`,
    request,
    async (server) => {
      await createTable(server, longColumns)
      await insert(server, { id: 1, ...longRow() })
    },
    () => ({ updateOne: { filter: { id: 1 }, update: update() } }),
  )
}

const longColumns = {
  l: { type: 'list', valueType: 'int' },
  s: { type: 'set', valueType: 'text' },
  m: { type: 'map', keyType: 'text', valueType: 'int' },
}

function longRow() {
  return {
    l: list(120_000, (n) => n),
    s: list(80_000, (n) => `v${(n * 7_919) % 80_000}`),
    m: fields(60_000, (n) => n),
  }
}

async function largeDocument(server: HostileServer): Promise<void> {
  await createCollection(server, unindexed)
  await insert(server, { _id: 1, ...fields(300_000, () => 1) })
}

export const attacksOnSorts: readonly Attack[] = [
  ...[1, 4].map((connections) =>
    attack(
      `sort-keys-${connections}`,
      '`find` of 200 documents sorted by 9 900 keys',
      async (server) => {
        await createCollection(server)
        await load(server, 'target', 200, (n) => ({ _id: n, a: 1 }))
      },
      () => ({ find: { sort: fields(9_900, () => 1) } }),
      connections,
    ),
  ),
  attack(
    'sort-ties',
    '`find` of 450 documents that tie in 63 keys',
    async (server) => {
      await createCollection(server)
      await load(server, 'target', 450, (n) => ({
        _id: (n * 37) % 450,
        ...fields(63, () => 1),
      }))
    },
    () => ({ find: { sort: fields(64, () => 1) } }),
    16,
  ),
  attack(
    'sort-path',
    '`find` sorted by a path of 9 000 000 segments',
    (server) => createCollection(server),
    () => ({ find: { sort: { [`a${'.a'.repeat(9_000_000)}`]: 1 } } }),
  ),
  attack(
    'filter-path',
    '`find` filtered by a path of 9 000 000 segments',
    (server) => createCollection(server),
    () => ({ find: { filter: { [`a${'.a'.repeat(9_000_000)}`]: 1 } } }),
  ),
  attack(
    'projection-path',
    '`find` of a path of 9 000 000 segments',
    (server) => createCollection(server),
    () => ({ find: { projection: { [`a${'.a'.repeat(9_000_000)}`]: 1 } } }),
  ),
  attack(
    'update-path',
    '`$set` of a path of 9 000 000 segments',
    async (server) => {
      await createCollection(server)
      await insert(server, { _id: 1 })
    },
    () => ({
      updateOne: {
        filter: { _id: 1 },
        update: { $set: { [`a${'.a'.repeat(9_000_000)}`]: 1 } },
      },
    }),
  ),
  attack(
    'update-paths',
    '`$set` of 9 900 paths of 1 900 characters',
    async (server) => {
      await createCollection(server)
      await insert(server, { _id: 1 })
    },
    () => ({
      updateOne: {
        filter: { _id: 1 },
        update: { $set: fields(9_900, () => 1, 'a.'.repeat(950)) },
      },
    }),
  ),
  attack(
    'projection-paths',
    '`find` of 20 documents of 3.8 MB with 9 900 paths',
    async (server) => {
      await createCollection(server, unindexed)
      const a = list(60_000, (n) => ({ [`f${n % 9_900}`]: n, other: 'x'.repeat(30) }))
      await load(server, 'target', 20, (n) => ({ _id: n, a }), 5)
    },
    () => ({ find: { projection: { a: fields(9_900, () => 1) } } }),
  ),
  attack(
    'projection-exclude',
    '`find` of a document of 300 000 fields without 9 900',
    largeDocument,
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
  attack('fields-set', '`$set` of 9 900 fields beside 300 000', largeDocument, () => ({
    updateOne: { filter: { _id: 1 }, update: { $set: fields(9_900, () => 2) } },
  })),
  attack('fields-rename', '`$rename` of 4 900 fields of 300 000', largeDocument, () => ({
    updateOne: {
      filter: { _id: 1 },
      update: { $rename: fields(4_900, (n) => `g${n}`) },
    },
  })),
  attack(
    'fields-find-and-update',
    '`findOneAndUpdate` of 300 000 fields, all but 9 900 shown',
    largeDocument,
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
    largeDocument,
    () => ({
      findOneAndReplace: {
        filter: { _id: 1 },
        replacement: fields(300_000, () => 2),
        options: { returnDocument: 'after' },
      },
    }),
  ),
  attack('fields-delete', '`findOneAndDelete` of 300 000 fields', largeDocument, () => ({
    findOneAndDelete: { filter: { _id: 1 } },
  })),
  attack(
    'fields-refused',
    '`insertOne` of 900 000 fields',
    (server) => createCollection(server),
    () => ({ insertOne: { document: fields(900_000, () => 1) } }),
  ),
  attack(
    'fields-insert',
    '`insertOne` of 350 000 fields, none of them indexed',
    (server) => createCollection(server, unindexed),
    () => ({ insertOne: { document: fields(350_000, () => 1) } }),
  ),
  attack(
    'objects-insert',
    '`insertOne` of an array of 200 000 objects, none indexed',
    (server) => createCollection(server, unindexed),
    () => ({ insertOne: { document: { a: list(200_000, (n) => ({ a: [n], b: {} })) } } }),
  ),
  attack(
    'fields-many',
    '`insertMany` of 100 documents with 190 fields',
    (server) => createCollection(server),
    () => ({
      insertMany: {
        documents: list(100, (n) => fields(190, (m) => `value ${n} of field ${m}`)),
      },
    }),
    16,
  ),
  attack(
    'whitespace',
    'body of 20 MB of white space before a command',
    (server) => createCollection(server),
    () => Buffer.from(`${' \n'.repeat(9_990_000)}{"find":{}}`),
  ),
  attack(
    'whitespace-only',
    'body of 20 MB of white space',
    (server) => createCollection(server),
    () => Buffer.alloc(20_000_000, ' '),
  ),
  attack(
    'long-key',
    '`insertOne` of a field whose name has 19 000 000 characters',
    (server) => createCollection(server),
    () => ({ insertOne: { document: { ['k'.repeat(19_000_000)]: 1 } } }),
  ),
  attack(
    'long-keys',
    '`insertOne` of 19 000 fields whose names have 1 000 characters',
    (server) => createCollection(server, unindexed),
    () => ({ insertOne: { document: fields(19_000, () => 1, 'k.&'.repeat(330)) } }),
  ),
  attack(
    'nested',
    '`insertOne` of 60 000 objects 15 levels deep',
    (server) => createCollection(server, unindexed),
    () => {
      const nested = `${'{"a":'.repeat(13)}1${'}'.repeat(13)}`
      const a = Array<string>(60_000).fill(nested).join()
      return Buffer.from(`{"insertOne":{"document":{"a":[${a}]}}}`)
    },
  ),
  attack(
    'ids',
    '`find` of 9 900 ids',
    async (server) => {
      await createCollection(server)
      await load(server, 'target', 200, (n) => ({ _id: n }))
    },
    () => ({ find: { filter: { _id: { $in: list(9_900, (n) => n) } } } }),
  ),
  attack(
    'rows-insert',
    '`insertMany` of 20 rows with lists, sets and maps of 10 000 elements',
    (server) => createTable(server, longColumns),
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
    (server) => createTable(server, longColumns),
    () => ({ insertOne: { document: { id: 1, ...longRow() } } }),
  ),
  attack(
    'row-unknown',
    '`insertOne` of a row with 900 000 unknown columns',
    (server) => createTable(server, {}),
    () => ({ insertOne: { document: { id: 1, ...fields(900_000, () => 1) } } }),
  ),
  attack(
    'row-find',
    '`find` of 20 rows with a list, a set and a map of 260 000 elements',
    async (server) => {
      await createTable(server, longColumns)
      await load(server, 'target', 20, (id) => ({ id, ...longRow() }), 3)
    },
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
