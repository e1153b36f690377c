/**
 * Compares the whole server with the model: nothing may be missing, and the server must not contain
 * anything that no client wrote.
 */
import { parseStored } from '../../src/json/parse.ts'
import type { JsonObject } from '../../src/json/value.ts'
import type { Client } from './client.ts'
import { sharedCollections } from './collection-shape.ts'
import type { Contest } from './contest.ts'
import { keyOf, stateOf, type DocumentBook, type DocumentState } from './document-book.ts'
import type { Ground } from './ground.ts'
import type { Host } from './host.ts'
import { canonical, type RowBook, type RowState } from './row-book.ts'
import { listed, listings } from './schema-change.ts'
import { runStela } from './stela-command.ts'
import { sharedTables } from './table-shape.ts'
import { assertSame, Unexplained } from './unexplained.ts'

export interface World {
  readonly host: Host
  readonly clients: readonly Client[]
  readonly contest: Contest
  readonly ground: Ground
}

/** Reads all data and schemas. */
export async function verifyAll(world: World): Promise<void> {
  const { clients, host } = world
  await verifySchema(world)
  for (const position of sharedCollections.keys()) {
    const books = documentBooks(world, position)
    const found = await readDocuments(books[0]!)
    host.tally.recordsVerified += found.size
    verifyDocuments(world, position, found)
  }
  for (const position of sharedTables.keys()) {
    const books = rowBooks(world, position)
    const rows = await books[0]!.readPages({ filter: {} })
    verifyRows(books, rows)
    host.tally.recordsVerified += rows.length
  }
  for (const { collection, table, types, keyspace } of clients) {
    if (collection.book !== undefined) {
      const found = await readDocuments(collection.book)
      const { path, ledger } = collection.book
      host.tally.recordsVerified += ledger.verify(found, path, { find: {} })
    }
    if (table.book !== undefined) {
      const rows = await table.book.readPages({ filter: {} })
      verifyRows([table.book], rows)
      host.tally.recordsVerified += rows.length
    }
    await types.verify()
    await keyspace.verify()
  }
}

/** Runs `stela check` on the folder of a stopped server. */
export async function checkFolder({ host }: World): Promise<void> {
  const { code, out, err } = await runStela(['check', '--data', host.options.dataDir])
  if (code !== 0)
    throw new Unexplained(`stela check ended with ${code}`, { answer: out + err })
  host.tally.checks++
}

/** Runs `stela export` of a collection or table of the running server. */
export async function verifyExport(world: World, position: number): Promise<void> {
  const { host } = world
  const { url } = await host.serving()
  const isTable = position % 2 === 1
  const shapes = isTable ? sharedTables : sharedCollections
  const place = (position >> 1) % shapes.length
  const name = shapes[place]!.name
  const kind = isTable ? '--table' : '--collection'
  const { code, out, err } = await runStela(['export', '--url', url, kind, name])
  if (code !== 0)
    throw new Unexplained(`stela export ended with ${code}`, {
      answer: (out + err).slice(-2_000),
    })
  const lines = out.split('\n').filter((line) => line !== '')
  host.tally.exports++
  if (isTable) {
    const expected = rowBooks(world, place).flatMap(({ ledger }) => ledger.states)
    assertSame(
      lines.map((line) => canonical(JSON.parse(line))).toSorted(),
      expected.map(({ text }) => text).toSorted(),
      `the export of ${name}`,
      { export: name },
    )
    return
  }
  const states = lines.map((line) => stateOf(parseStored(line) as JsonObject))
  verifyDocuments(world, place, new Map(states.map((state) => [keyOf(state), state])))
}

export function documentBooks(
  { clients, ground }: World,
  position: number,
): DocumentBook[] {
  const books = clients.map(({ documents }) => documents[position]!)
  const { name } = sharedCollections[position]!
  return ground.documents.shape.name === name ? [...books, ground.documents] : books
}

export function rowBooks({ clients, ground }: World, position: number): RowBook[] {
  const books = clients.map(({ rows }) => rows[position]!)
  const { name } = sharedTables[position]!
  return ground.rows.shape.name === name ? [...books, ground.rows] : books
}

export async function readDocuments(
  book: DocumentBook,
): Promise<Map<string, DocumentState>> {
  const states = await book.readAll({})
  const found = new Map(states.map((state) => [keyOf(state), state]))
  if (found.size < states.length)
    throw new Unexplained(`${book.path}: a document was found twice`, {
      answer: states.map(keyOf).toSorted(),
    })
  return found
}

export function verifyDocuments(
  world: World,
  position: number,
  found: Map<string, DocumentState>,
): void {
  const { name } = sharedCollections[position]!
  const left = new Map(found)
  if (name === 'plain') world.contest.verify(left)
  for (const { ledger, owner, path } of documentBooks(world, position)) {
    const own = new Map(
      [...left].filter(([, state]) => state.document.get('owner') === owner),
    )
    ledger.verify(own, `${path} of client ${owner}`, { find: {} })
    for (const key of own.keys()) left.delete(key)
  }
  for (const [key, { text }] of left)
    throw new Unexplained(`${name}: nobody wrote ${key}`, { answer: text })
}

export function verifyRows(books: readonly RowBook[], rows: readonly RowState[]): void {
  const left = new Map<string, RowState[]>()
  for (const row of rows) {
    const owner = canonical(row.cells.get('owner'))
    left.set(owner, [...(left.get(owner) ?? []), row])
  }
  for (const book of books) {
    const owner = book.shape.columns.has('owner')
      ? canonical(book.owner)
      : canonical(undefined)
    const own = left.get(owner) ?? []
    const found = new Map(own.map((row) => [book.keyOf(row.cells), row]))
    if (found.size < own.length)
      throw new Unexplained(`${book.path}: a row was found twice`, {
        answer: own.map(({ text }) => text),
      })
    book.ledger.verify(found, `${book.path} of client ${book.owner}`, { find: {} })
    left.delete(owner)
  }
  for (const [owner, surplus] of left)
    throw new Unexplained(`${books[0]!.path}: rows of nobody, ${owner}`, {
      answer: surplus.map(({ text }) => text),
    })
}

/**
 * A list of schema objects that the server must return, with the names that clients have created.
 */
export interface SchemaList {
  readonly what: string
  /** The target or object to which an entry belongs: "keyspace.target", or another name. */
  readonly placeOf: (name: string) => string
  readonly read: () => Promise<readonly string[]>
  readonly expected: readonly string[]
}

/** Checks that the server lists exactly the objects that clients created. */
async function verifySchema(world: World): Promise<void> {
  for (const { what, read, expected } of schemaLists(world))
    assertSame((await read()).toSorted(), expected.toSorted(), what, what)
}

export function schemaLists({ clients }: World): SchemaList[] {
  const { line } = clients[0]!
  const path = '/default_keyspace'
  const names = async (listing: (typeof listings)[keyof typeof listings], at = path) => [
    ...(await listed(line, at, listing)).keys(),
  ]
  const placeOf = (name: string) => `default_keyspace.${name}`
  return [
    {
      what: 'the collections',
      placeOf,
      read: () => names(listings.collections),
      expected: [
        ...sharedCollections.map(({ name }) => name),
        ...clients.flatMap(({ collection: { book, name } }) => (book ? [name] : [])),
      ],
    },
    {
      what: 'the tables',
      placeOf,
      read: () => names(listings.tables),
      expected: [
        ...sharedTables.map(({ name }) => name),
        ...clients.map(({ types }) => types.homesName),
        ...clients.flatMap(({ table: { book, name } }) => (book ? [name] : [])),
      ],
    },
    {
      what: 'the types',
      placeOf: (name) => name,
      read: () => names(listings.types),
      expected: clients.flatMap(({ types }) => types.types),
    },
    ...sharedTables.map(({ name, indexes }) => ({
      what: `the indexes of ${name}`,
      placeOf: () => placeOf(name),
      read: () => names(listings.indexes, `${path}/${name}`),
      expected: [
        ...indexes.keys(),
        ...(name === 'events' ? clients.flatMap((client) => [...client.madeIndexes]) : []),
      ],
    })),
    ...clients.map(({ table }) => ({
      what: table.name,
      placeOf: () => placeOf(table.name),
      read: async () => [await table.read()],
      expected: [table.expected],
    })),
    {
      what: 'the keyspaces',
      placeOf: (name) => name,
      read: async () =>
        (await line.ask('', { findKeyspaces: {} })).body.status!['keyspaces'] as string[],
      expected: [
        'default_keyspace',
        ...clients.flatMap(({ keyspace }) => (keyspace.isThere ? [keyspace.name] : [])),
      ],
    },
  ]
}
