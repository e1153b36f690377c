/**
 * Synchronous file operations on the request thread. Each of them blocks all clients for as long as
 * the disk takes, so the test allows only calls that belong to operations of SQLite.
 */
import assert from 'node:assert/strict'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { after, before, describe, test } from 'node:test'
import { basename } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { defaultRoleId } from '../../../src/auth/roles.ts'
import { startServer, testToken, type TestServer } from '../../harness.ts'
import { isEmbedded } from '../../test-engine.ts'

const keyspace = '/default_keyspace'
const books = `${keyspace}/books`
const shops = `${keyspace}/shops`

/** A call of a synchronous function of node:fs, and the file of src/ that made it. */
interface Call {
  readonly name: string
  readonly path: string
  readonly caller: string
}

const calls: Call[] = []
const originals: Record<string, unknown> = {}
const pathsOfHandles = new Map<number, string>()

function watchCalls(): void {
  for (const [name, original] of Object.entries(fs)) {
    if (!name.endsWith('Sync') || typeof original !== 'function') continue
    originals[name] = original
    const watched = (...values: readonly unknown[]): unknown => {
      const [first] = values
      const path = typeof first === 'number' ? pathsOfHandles.get(first) : String(first)
      const frame = /src\/[\w/.-]+\.ts/.exec(new Error('call').stack ?? '')?.[0]
      if (frame !== undefined) calls.push({ name, path: path ?? '', caller: frame })
      const result = (original as (...given: readonly unknown[]) => unknown)(...values)
      if (name === 'openSync') pathsOfHandles.set(result as number, String(first))
      return result
    }
    Object.assign(fs, { [name]: Object.assign(watched, original) })
  }
  syncBuiltinESMExports()
}

function unwatchCalls(): void {
  Object.assign(fs, originals)
  syncBuiltinESMExports()
}

/**
 * Whether a call is allowed on the request thread. A commit of the catalog may check the files of
 * the catalog and reserve space for its log. A check may verify that the path of a store still
 * leads to the opened file. Files of /proc are allowed because they are not on a disk.
 */
function isAllowed({ name, path, caller }: Call): boolean {
  if (path.startsWith('/proc/')) return true
  const file = basename(path)
  if (file === 'catalog.db' && name === 'statSync') return true
  if (file === 'catalog.db-wal') return /catalog-file|file-identity/.test(caller)
  return file === 'store.db' && name === 'statSync' && caller.endsWith('file-identity.ts')
}

describe('the request thread', { skip: !isEmbedded }, () => {
  let server: TestServer

  before(async () => {
    // Only one store may be open, so stores are evicted and opened again.
    const first = await startServer({ openStoresMax: 1, adminPort: 0 })
    const send = sending(first)
    await send(keyspace, { createCollection: { name: 'books' } })
    await send(books, { insertMany: { documents: [{ _id: 1 }, { _id: 2 }] } })
    await send(keyspace, {
      createCollection: { name: 'cold', options: { vector: { dimension: 2 } } },
    })
    await send(`${keyspace}/cold`, { insertOne: { document: { _id: 1, $vector: [1, 2] } } })
    server = await first.restart()
    watchCalls()
  })
  after(async () => {
    unwatchCalls()
    await server.close()
  })

  test('opens no store to report the sizes of closed collections and tables', async () => {
    const headers = { Token: testToken }
    const list = await fetch(`${server.adminUrl}/v2/databases`, { headers })
    const [{ id }] = (await list.json()) as [{ id: string }]
    // Opening a store executes statements that set pragmas. So if no statement is executed, no
    // store was opened.
    const statements: string[] = []
    const { prototype } = DatabaseSync
    const original = Object.getOwnPropertyDescriptor(prototype, 'exec')!
    Object.defineProperty(prototype, 'exec', {
      ...original,
      value(this: DatabaseSync, sql: string) {
        statements.push(sql)
        return (original.value as DatabaseSync['exec']).call(this, sql)
      },
    })
    try {
      const answer = await fetch(`${server.adminUrl}/v2/databases/${id}/sizes`, { headers })
      const { collections } = (await answer.json()) as { collections: { name: string }[] }
      const names = collections.map(({ name }) => name)
      assert.deepEqual(names, ['books', 'cold'])
      assert.deepEqual(statements, [])
    } finally {
      Object.defineProperty(prototype, 'exec', original)
    }
  })

  const cases: readonly (readonly [what: string, path: string, command: object])[] = [
    ['a find in a store that is not open', books, { find: {} }],
    ['an insert', books, { insertOne: { document: { _id: 3 } } }],
    ['createCollection', keyspace, { createCollection: { name: 'films' } }],
    ['a find that evicts a store', `${keyspace}/films`, { find: {} }],
    ['deleteCollection', keyspace, { deleteCollection: { name: 'films' } }],
    [
      'a search by vector',
      `${keyspace}/cold`,
      { find: { sort: { $vector: [1, 2] }, options: { limit: 1 } } },
    ],
    [
      'deleteCollection of a collection with vectors',
      keyspace,
      { deleteCollection: { name: 'cold' } },
    ],
    ['createKeyspace', '', { createKeyspace: { name: 'second' } }],
    [
      'createCollection in a second keyspace',
      '/second',
      { createCollection: { name: 'films' } },
    ],
    ['dropKeyspace', '', { dropKeyspace: { name: 'second' } }],
    [
      'createType',
      keyspace,
      { createType: { name: 'place', definition: { fields: { city: 'text' } } } },
    ],
    [
      'createTable',
      keyspace,
      {
        createTable: {
          name: 'shops',
          definition: {
            columns: {
              id: 'int',
              name: 'text',
              place: { type: 'userDefined', udtName: 'place' },
              v: { type: 'vector', dimension: 2 },
            },
            primaryKey: 'id',
          },
        },
      },
    ],
    ['an insert of a row', shops, { insertOne: { document: { id: 1, name: 'a' } } }],
    [
      'alterType',
      keyspace,
      { alterType: { name: 'place', add: { fields: { no: 'int' } } } },
    ],
    [
      'alterTable',
      shops,
      { alterTable: { operation: { add: { columns: { size: 'int' } } } } },
    ],
    [
      'createIndex',
      shops,
      { createIndex: { name: 'names', definition: { column: 'name' } } },
    ],
    [
      'createVectorIndex',
      shops,
      { createVectorIndex: { name: 'vs', definition: { column: 'v' } } },
    ],
    ['dropIndex', keyspace, { dropIndex: { name: 'names' } }],
    ['dropIndex of a vector index', keyspace, { dropIndex: { name: 'vs' } }],
    ['dropTable', keyspace, { dropTable: { name: 'shops' } }],
    ['dropType', keyspace, { dropType: { name: 'place' } }],
  ]
  for (const [what, path, command] of cases)
    test(`makes only allowed synchronous file calls during ${what}`, async () => {
      calls.length = 0
      await sending(server)(path, command)
      assertNoneBlocks()
    })

  test('makes only allowed synchronous file calls during GET /stargate/health and GET /metrics', async () => {
    calls.length = 0
    for (const path of ['/stargate/health', '/metrics']) {
      const answer = await server.send(path, { headers: { Token: testToken } })
      assert.equal(answer.http, 200, answer.text)
    }
    assertNoneBlocks()
  })

  test('makes only allowed synchronous file calls when settings are written', async () => {
    calls.length = 0
    const answer = await fetch(`${server.adminUrl}/v2/clientIdSecrets`, {
      method: 'POST',
      headers: { Token: testToken, 'Content-Type': 'application/json' },
      body: JSON.stringify({ roles: [defaultRoleId('RO User')] }),
    })
    assert(answer.ok, await answer.text())
    assertNoneBlocks()
  })

  test('makes only allowed synchronous file calls when a page of the console does not exist', async () => {
    await server.send('/console', {})
    calls.length = 0
    for (const path of ['/console', '/console/nothing.js']) await server.send(path, {})
    assertNoneBlocks()
  })
})

function assertNoneBlocks(): void {
  const blocking = calls.filter((call) => !isAllowed(call))
  assert.deepEqual(
    blocking.map(({ name, path, caller }) => `${name} ${path} by ${caller}`),
    [],
  )
}

function sending(server: TestServer) {
  return async (path: string, command: object): Promise<void> => {
    const answer = await server.command(path, command)
    assert.deepEqual(answer.codes, [], answer.text)
  }
}
