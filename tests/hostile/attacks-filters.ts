/** Filters that are expensive to compare with even a few documents or rows. */
import { answersOf, load, single, type Attack } from './attack.ts'
import { hostileToken, type HostileServer } from './hostile-server.ts'

const keyspace = '/default_keyspace'
const target = `${keyspace}/target`

function numbers(from: number, count: number): number[] {
  return Array.from({ length: count }, (_, n) => from + n)
}

/** Creates documents with an array of 1 000 numbers each. */
async function prepareArrays(server: HostileServer): Promise<void> {
  const options = { vector: { dimension: 2 } }
  await server.command(keyspace, { createCollection: { name: 'target', options } })
  await load(
    server,
    'target',
    200,
    (n) => ({ _id: n, a: numbers(0, 1_000), $vector: [1, n] }),
    20,
  )
}

/**
 * Conditions that hold for every document, followed by one that holds for no document. So all
 * conditions are evaluated.
 */
function manyConditions(count: number): object {
  const all = Array.from({ length: count - 1 }, () => ({ a: { $all: numbers(900, 100) } }))
  return { $and: [...all, { a: { $nin: numbers(0, 100) } }] }
}

async function atOnce(server: HostileServer, count: number, path: string, command: object) {
  const body = Buffer.from(JSON.stringify(command))
  const send = async () => [...(await single(server, hostileToken, path, body)).keys()]
  return answersOf((await Promise.all(Array.from({ length: count }, send))).flat())
}

const onArrays = {
  find: (filter: object) => ({ find: { filter } }),
  count: (filter: object) => ({ countDocuments: { filter } }),
  update: (filter: object) => ({ updateMany: { filter, update: { $set: { b: 1 } } } }),
  delete: (filter: object) => ({ deleteMany: { filter } }),
  upsert: (filter: object) => ({
    updateOne: { filter, update: { $set: { b: 1 } }, options: { upsert: true } },
  }),
  search: (filter: object) => ({ find: { filter, sort: { $vector: [1, 1] } } }),
} as const

export const filterAttacks: readonly Attack[] = [
  ...Object.entries(onArrays).map(([name, commandOf]): Attack => ({
    name: `all-${name}`,
    request: `${name} with 63 \`$all\` of 100 numbers and a \`$nin\`, on arrays of 1 000 numbers`,
    prepare: prepareArrays,
    run: (server) => atOnce(server, 1, target, commandOf(manyConditions(64))),
  })),
  {
    name: 'all-few',
    request:
      'find with 5 `$all` of 100 numbers and a `$nin`, on arrays of 1 000 numbers, 16 at once',
    prepare: prepareArrays,
    run: (server) => atOnce(server, 16, target, onArrays.find(manyConditions(6))),
  },
  {
    name: 'nin-many',
    request: 'countDocuments with 64 `$nin` of 100 values, on 20 000 documents, 8 at once',
    async prepare(server) {
      await server.command(keyspace, { createCollection: { name: 'target' } })
      await load(server, 'target', 20_000, (n) => ({ _id: n, a: [n, -n], b: `${n}` }))
    },
    run(server) {
      const conditions = numbers(0, 64).map((n) => ({
        [n % 2 === 0 ? 'a' : 'b']: { $nin: numbers(100_000 * n + 50_000, 100) },
      }))
      const countDocuments = { filter: { $and: conditions } }
      return atOnce(server, 8, target, { countDocuments })
    },
  },
  {
    name: 'all-lists',
    request:
      'find with 64 `$all` of 100 numbers, on 4 rows with a list of 200 000 numbers, 4 at once',
    async prepare(server) {
      const columns = { k: 'int', l: { type: 'list', valueType: 'int' } }
      const definition = { columns, primaryKey: 'k' }
      await server.command(keyspace, { createTable: { name: 'target', definition } })
      for (const k of numbers(0, 4))
        await server.command(target, {
          insertOne: { document: { k, l: numbers(0, 200_000) } },
        })
    },
    run(server) {
      const condition = { l: { $all: numbers(199_900, 100) } }
      const of = [...numbers(0, 63).map(() => condition), { l: { $nin: numbers(0, 100) } }]
      return atOnce(server, 4, target, { find: { filter: { $and: of } } })
    },
  },
]
