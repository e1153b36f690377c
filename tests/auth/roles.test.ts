/** The commands of the Data API that each default role permits. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { commandsAt } from '../../src/commands/dispatch/registry.ts'
import { AdminServer } from '../admin/admin-server.ts'

type Kind = 'read' | 'write' | 'describe' | 'schema'

interface Sample {
  readonly kind: Kind
  readonly path: string
  /** Valid fields, so that a command is rejected only for missing permissions of the token. */
  readonly fields: object
}

const keyspace = '/default_keyspace'
const target = `${keyspace}/books`
const table = { definition: { columns: { id: 'int' }, primaryKey: 'id' } }
const type = { name: 'address', definition: { fields: { street: 'text' } } }
const index = { name: 'by_title', definition: { column: 'title' } }
const vectorSort = { sort: { $hybrid: 'x' } }
const update = { update: { $set: { a: 1 } } }

const samples: Readonly<Record<string, Sample>> = {
  createKeyspace: at('', 'schema', { name: 'other' }),
  createNamespace: at('', 'schema', { name: 'other' }),
  dropKeyspace: at('', 'schema', { name: 'other' }),
  dropNamespace: at('', 'schema', { name: 'other' }),
  findEmbeddingProviders: at('', 'describe', {}),
  findKeyspaces: at('', 'describe', {}),
  findNamespaces: at('', 'describe', {}),
  findRerankingProviders: at('', 'describe', {}),

  createCollection: at(keyspace, 'schema', { name: 'films' }),
  createTable: at(keyspace, 'schema', { name: 'rows', ...table }),
  createType: at(keyspace, 'schema', type),
  alterType: at(keyspace, 'schema', { name: 'none', rename: { fields: { a: 'b' } } }),
  deleteCollection: at(keyspace, 'schema', { name: 'films' }),
  dropIndex: at(keyspace, 'schema', { name: 'none' }),
  dropTable: at(keyspace, 'schema', { name: 'rows' }),
  dropType: at(keyspace, 'schema', { name: 'address' }),
  findCollections: at(keyspace, 'describe', {}),
  listTables: at(keyspace, 'describe', {}),
  listTypes: at(keyspace, 'describe', {}),

  alterTable: at(target, 'schema', { operation: { add: { columns: { a: 'int' } } } }),
  createIndex: at(target, 'schema', index),
  createTextIndex: at(target, 'schema', index),
  createVectorIndex: at(target, 'schema', index),
  listIndexes: at(target, 'describe', {}),
  countDocuments: at(target, 'read', {}),
  estimatedDocumentCount: at(target, 'read', {}),
  find: at(target, 'read', {}),
  findAndRerank: at(target, 'read', vectorSort),
  findOne: at(target, 'read', {}),
  findOneAndDelete: at(target, 'write', { filter: {} }),
  findOneAndReplace: at(target, 'write', { filter: {}, replacement: {} }),
  findOneAndUpdate: at(target, 'write', { filter: {}, ...update }),
  insertOne: at(target, 'write', { document: {} }),
  insertMany: at(target, 'write', { documents: [{}] }),
  updateOne: at(target, 'write', { filter: {}, ...update }),
  updateMany: at(target, 'write', { filter: {}, ...update }),
  deleteOne: at(target, 'write', { filter: {} }),
  deleteMany: at(target, 'write', { filter: { a: 1 } }),
}

function at(path: string, kind: Kind, fields: object): Sample {
  return { path, kind, fields }
}

const all: readonly Kind[] = ['read', 'write', 'describe', 'schema']
const readWrite: readonly Kind[] = ['read', 'write', 'describe']
const readOnly: readonly Kind[] = ['read', 'describe']

const allowed: Readonly<Record<string, readonly Kind[]>> = {
  'Organization Administrator': all,
  'Database Administrator': all,
  'Billing Admin': [],
  'Admin Svc Acct': all,
  'API Admin User': all,
  'API Admin Svc Acct': all,
  'RO User': readOnly,
  'R/W User': readWrite,
  'RO Svc Acct': readOnly,
  'R/W Svc Acct': readWrite,
  'API RO User': readOnly,
  'API RO Svc Acct': readOnly,
  'API R/W User': readWrite,
  'API R/W Svc Acct': readWrite,
  'UI View Only': [],
}

test('every command has a sample request in this test', () => {
  const commands = Object.values(commandsAt).flatMap((known) => [...known.keys()])
  assert.deepEqual(Object.keys(samples).toSorted(), [...new Set(commands)].toSorted())
})

describe('roles', () => {
  const admin = new AdminServer({}, (server) =>
    server.command(keyspace, { createCollection: { name: 'books' } }),
  )
  let tokens: Map<string, string>

  test('can each be assigned to a token', async () => {
    const made = Object.keys(allowed).map(
      async (name) => [name, (await admin.tokenOf(name)).token] as const,
    )
    tokens = new Map(await Promise.all(made))
  })

  for (const [name, kinds] of Object.entries(allowed))
    test(`${name} may ${kinds.join(', ') || 'do nothing'}`, async () => {
      for (const [command, { path, kind, fields }] of Object.entries(samples)) {
        const body = { [command]: fields }
        const { http, codes } = await admin.command(path, body, tokens.get(name))
        if (kinds.includes(kind)) {
          assert.notEqual(http, 401, command)
          assert(!codes.includes('UNAUTHORIZED_ACCESS'), command)
        } else assert.deepEqual([http, codes], [401, ['UNAUTHORIZED_ACCESS']], command)
      }
    })

  test('that cover one collection show only that collection and its keyspace', async () => {
    await admin.command('', { createKeyspace: { name: 'hidden' } })
    await admin.command(keyspace, { createCollection: { name: 'unseen' } })
    const { token } = await admin.tokenFor(
      [':db:*:keyspace:default_keyspace:table:books'],
      ['db-table-describe', 'db-table-select'],
    )
    const keyspaces = await admin.command('', { findKeyspaces: {} }, token)
    assert.deepEqual(keyspaces.body.status, { keyspaces: ['default_keyspace'] })
    const found = await admin.command(keyspace, { findCollections: {} }, token)
    assert.deepEqual(found.body.status, { collections: ['books'] })
    const hidden = await admin.command('/hidden', { findCollections: {} }, token)
    assert.deepEqual(hidden.codes, ['UNAUTHORIZED_ACCESS'])
  })
})
