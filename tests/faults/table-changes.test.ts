/**
 * Schemas that change while rows are read and written. Every command uses the old or the new
 * schema, no row is lost, and at the end every index agrees with a scan.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkDataFolder } from '../engine/embedded/backup/check-data-folder.ts'
import { defaultLimits } from '../../src/limits.ts'
import { startServer } from '../harness.ts'
import { PatientProvider } from '../http/patient-provider.ts'
import { Random, seed } from './random.ts'
import { tablePath, TableLoad, type Commanded, type Row } from './table-load.ts'
import { SchemaLoad } from './table-schema-load.ts'

const changesMin = 40

type Documents = readonly Record<string, unknown>[]

/** A command that needs an index, column or type that may not exist when the command arrives. */
interface Visit {
  readonly command: object
  /** The error code if what the command needs does not exist. */
  readonly refusal?: string
  readonly check?: (found: Documents) => void
}

const each =
  (holds: (row: Row & Record<string, unknown>) => boolean) => (found: Documents) => {
    for (const row of found)
      assert(holds(row as unknown as Row & Record<string, unknown>), JSON.stringify(row))
  }

const vector = [1, -1, 0.5, 0.25, 1, 2, -2, 1]

/** A key of rows that only the commands of `visits` write, and that no other check reads. */
const stranger = (random: Random) => ({ w: -2, n: random.below(50) })

const visits: readonly ((random: Random) => Visit)[] = [
  () => ({
    command: { find: { filter: { kind: 'poem' } } },
    check: each(({ kind }) => kind === 'poem'),
  }),
  () => ({
    command: {
      find: { filter: { tags: { $all: ['red', 'blue'] }, kind: { $ne: 'poem' } } },
    },
    check: each(
      ({ tags, kind }) =>
        tags!.includes('red') && tags!.includes('blue') && kind !== 'poem',
    ),
  }),
  () => ({
    command: { find: { filter: { limits: { $keys: { $in: ['width'] } } } } },
    check: each(({ limits }) => limits!['width'] !== undefined),
  }),
  () => ({
    command: { find: { filter: { body: { $match: 'word3' } } } },
    refusal: 'CANNOT_LEXICAL_FILTER_NON_INDEXED_COLUMNS',
    check: each(({ body }) => body!.split(' ').includes('word3')),
  }),
  () => ({
    command: { find: { sort: { body: 'word4 word5' } } },
    refusal: 'CANNOT_LEXICAL_SORT_NON_INDEXED_COLUMNS',
    check: (found) => {
      const terms = found.map(({ body }) => {
        const words = String(body).split(' ')
        return Number(words.includes('word4')) + Number(words.includes('word5'))
      })
      const allTermsFirst = terms.toSorted((a, b) => b - a)
      assert.deepEqual(terms, allTermsFirst)
      assert(!terms.includes(0))
    },
  }),
  () => ({
    command: {
      find: { sort: { v: vector }, filter: { kind: 'play' }, options: { limit: 20 } },
    },
    refusal: 'CANNOT_VECTOR_SORT_NON_INDEXED_VECTOR_COLUMNS',
    check: each(({ kind, v }) => kind === 'play' && v!.length === vector.length),
  }),
  () => ({
    command: { find: { filter: { extra: { $gte: 0 } } } },
    refusal: 'UNKNOWN_TABLE_COLUMNS',
    check: each(({ w, extra }) => w === -1 && typeof extra === 'number'),
  }),
  () => ({
    command: { find: { filter: { w: -1 }, sort: { extra: 1 } } },
    refusal: 'CANNOT_SORT_UNKNOWN_COLUMNS',
  }),
  () => ({
    command: { find: { filter: { w: -1 }, projection: { extra_v: 1 } } },
    refusal: 'UNKNOWN_TABLE_COLUMNS',
    check: each((row) => Object.keys(row).every((name) => name === 'extra_v')),
  }),
  () => ({
    command: { find: { filter: { w: -1 } } },
    check: (found) => {
      assert.equal(found.length, 10)
      // The field of the type has the same name in all rows.
      const names = found.map((row) => Object.keys(row['place'] as object).join())
      assert.equal(new Set(names).size, 1, names.join(' '))
      assert(['city,zip', 'town,zip'].includes(names[0]!), names[0])
    },
  }),
  (random) => ({
    command: { insertOne: { document: { ...stranger(random), extra: -5 } } },
    refusal: 'UNKNOWN_TABLE_COLUMNS',
  }),
  (random) => ({
    command: {
      insertOne: { document: { ...stranger(random), place: { city: 'Uruk', zip: 1 } } },
    },
    refusal: 'INVALID_COLUMN_VALUES',
  }),
  (random) => ({
    command: {
      updateOne: { filter: stranger(random), update: { $set: { extra_v: [1, 2, 3] } } },
    },
    refusal: 'UNKNOWN_TABLE_COLUMNS',
  }),
  (random) => ({
    command: {
      updateOne: {
        filter: stranger(random),
        update: { $set: { place: { town: 'Kish' } } },
      },
    },
    refusal: 'INVALID_UPDATE_COLUMN_VALUES',
  }),
  (random) => ({ command: { deleteOne: { filter: stranger(random) } } }),
  () => ({ command: { deleteMany: { filter: { w: -2, n: { $gt: 40 } } } } }),
]

/**
 * Sends one command, and returns whether it succeeded. If it was rejected, asserts the expected
 * error code.
 */
async function visit(
  server: Commanded,
  make: (random: Random) => Visit,
  random: Random,
): Promise<'served' | 'refused'> {
  const { command, refusal, check } = make(random)
  const { codes, body, text } = await server.command(tablePath, command)
  const told = `${JSON.stringify(command)} => ${text.slice(0, 1_500)}`
  if (codes.length > 0) {
    assert.deepEqual(codes, [refusal], told)
    return 'refused'
  }
  if (body.data?.documents !== undefined) check?.(body.data.documents)
  return 'served'
}

test('each command uses the schema either before or after a concurrent change', async (t) => {
  t.diagnostic(`SEED=${seed}`)
  const random = new Random(seed)
  const limits = { ...defaultLimits, pageSize: 1_000 }
  const server = await startServer({ limits, durable: false })
  t.after(() => server.close())
  const schema = new SchemaLoad(random.fork())
  const rows = new TableLoad(random.fork())
  await schema.prepare(server)
  await rows.fill(server, 1_200)

  let failed = false
  const isOver = () => failed || schema.answered >= changesMin
  const served = new Map(visits.map((make) => [make, { served: 0, refused: 0 }]))
  const visiting = Array.from({ length: 4 }, async () => {
    const own = random.fork()
    while (!isOver()) {
      const make = own.pick(visits)
      served.get(make)![await visit(server, make, own)]++
    }
  })
  const work = [schema.run(server, isOver), rows.run(server, 4, isOver), ...visiting]
  for (const part of work) part.catch(() => (failed = true))
  await Promise.all(work)

  assert.equal(rows.inDoubt, 0)
  await schema.verify(server)
  await rows.verifyRows(server)
  await rows.verifyIndexes(server, schema.indexes)
  await schema.completeIndexes(server)
  await rows.verifyIndexes(server, schema.indexes)
  await server.stop()
  assert.deepEqual(checkDataFolder(server.dataDir), [])
  const counts = [...served.values()]
  const sum = (name: 'served' | 'refused') =>
    counts.reduce((n, count) => n + count[name], 0)
  t.diagnostic(
    `${schema.answered} changes, ${rows.answered} writes, ${sum('served')} visits, ` +
      `${sum('refused')} refused`,
  )
})

test('an insert succeeds even if the schema changes during each of its attempts', async (t) => {
  const provider = await PatientProvider.start()
  const server = await startServer({ providers: provider.settings, durable: false })
  t.after(async () => {
    await server.close()
    await provider.close()
  })
  const path = '/default_keyspace/overtaken'
  const done = async (at: string, command: object) => {
    const { codes, text, body } = await server.command(at, command)
    assert.deepEqual(codes, [], text)
    return body
  }
  const service = { provider: 'openai', modelName: 'text-embedding-3-small' }
  await done('/default_keyspace', {
    createTable: {
      name: 'overtaken',
      definition: {
        columns: { id: 'int', v: { type: 'vector', dimension: 2, service } },
        primaryKey: 'id',
      },
    },
  })
  const addColumn = (n: number) =>
    done(path, { alterTable: { operation: { add: { columns: { [`c${n}`]: 'int' } } } } })

  const ended: string[] = []
  const inserted = done(path, { insertOne: { document: { id: 1, v: 'a text' } } })
  const changes: Promise<unknown>[] = []
  const attempts = defaultLimits.writeAttemptsMax
  for (let attempt = 1; attempt <= attempts; attempt++) {
    // The schema changes while the provider computes the vector of the row.
    await provider.asked(1)
    const change = addColumn(attempt).finally(() => ended.push(`change ${attempt}`))
    if (attempt < attempts) await change
    // A change that did not wait for the insert would end during these finds.
    else for (let i = 0; i < 30; i++) await done(path, { find: { filter: { id: i } } })
    changes.push(change)
    assert.deepEqual(
      ended,
      Array.from({ length: attempts - 1 }, (_, i) => `change ${i + 1}`).slice(0, attempt),
    )
    provider.answerAll()
  }
  await Promise.all([inserted, ...changes])
  const { data } = await done(path, { find: {} })
  assert.deepEqual(data!.documents, [{ id: 1, v: [1, 1] }])
})
