/** The permissions of each default role in the management API. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AdminServer } from './admin-server.ts'

const admin = new AdminServer()

const everything = [
  ...['list tokens', 'make a token', 'list roles', 'make a role', 'delete a role'],
  ...['list users', 'give roles', 'see a database', 'make a database'],
  ...['terminate a database', 'add a keyspace', 'drop a keyspace'],
]

const inDatabases = ['see a database', 'add a keyspace', 'drop a keyspace']

/** Permitted calls by role; every other call must be rejected. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  'Organization Administrator': everything,
  'Database Administrator': inDatabases,
  'Billing Admin': [],
  'Admin Svc Acct': inDatabases,
  'API Admin User': inDatabases,
  'API Admin Svc Acct': inDatabases,
  'RO User': ['see a database'],
  'R/W User': ['see a database'],
  'RO Svc Acct': ['see a database'],
  'R/W Svc Acct': ['see a database'],
  'API RO User': ['see a database'],
  'API RO Svc Acct': ['see a database'],
  'API R/W User': ['see a database'],
  'API R/W Svc Acct': ['see a database'],
  'UI View Only': ['see a database'],
}

describe('default roles', () => {
  for (const [name, may] of Object.entries(allowed))
    test(`${name} may ${may.join(', ') || 'do nothing'}`, async () => {
      const { id } = await admin.createDatabase()
      const { token } = await admin.tokenOf(name)
      const role = await admin.createRole([''], ['org-read'])
      const role2 = await admin.roleId('UI View Only')
      const calls: Readonly<Record<string, readonly [string, string, unknown?]>> = {
        'list tokens': ['GET', '/clientIdSecrets'],
        'make a token': ['POST', '/clientIdSecrets', { roles: [role2] }],
        'list roles': ['GET', '/organizations/roles'],
        'make a role': [
          'POST',
          '/organizations/roles',
          { name: `by ${name}`, policy: role.Policy },
        ],
        'delete a role': ['DELETE', `/organizations/roles/${role.ID}`],
        'list users': ['GET', '/organizations/users'],
        'give roles': ['PUT', '/organizations/users', { email: name, roles: [role2] }],
        'see a database': ['GET', `/databases/${id}`],
        'add a keyspace': ['POST', `/databases/${id}/keyspaces/default_keyspace`],
        'drop a keyspace': ['DELETE', `/databases/${id}/keyspaces/default_keyspace`],
        'make a database': ['POST', '/databases', { name }],
        'terminate a database': ['POST', `/databases/${id}/terminate`],
      }
      assert.deepEqual(Object.keys(calls).toSorted(), everything.toSorted())
      const isSeen = may.includes('see a database')
      const done: string[] = []
      for (const [what, [method, path, body]] of Object.entries(calls)) {
        const { http } = await admin.call(method, path, { token, body })
        if (http < 300) done.push(what)
        // A resource that the role may not see is reported as not found.
        else assert.equal(http, isSeen || !path.includes(id) ? 403 : 404, what)
      }
      assert.deepEqual(done.toSorted(), may.toSorted())
      const list = await admin.ask<unknown[]>('GET', '/databases', { token })
      assert.equal(list.length > 0, isSeen)
      await admin.call('POST', `/databases/${id}/terminate`)
    })

  test('are all covered by this test', async () => {
    const roles = await admin.ask<{ Name: string; Type: string }[]>(
      'GET',
      '/organizations/roles',
    )
    const byDefault = roles.filter(({ Type }) => Type === 'default')
    assert.deepEqual(
      byDefault.map(({ Name }) => Name),
      Object.keys(allowed),
    )
  })
})

test('a token can query its own permissions and their resources', async () => {
  const { token } = await admin.tokenOf('API RO User')
  const reader = await actionsOf(token, '?keyspace=main&name=carts')
  assert(reader.includes('db-table-select') && !reader.includes('db-table-modify'))
  const { id } = await admin.createDatabase()
  const { token: narrow } = await admin.tokenFor(
    [`:db:${id}:keyspace:main:table:carts`],
    ['db-table-select', 'db-table-modify'],
  )
  const carts = `?database=${id}&keyspace=main&name=carts`
  assert.deepEqual(await actionsOf(narrow, carts), ['db-table-select', 'db-table-modify'])
  assert.deepEqual(await actionsOf(narrow, carts.replace('carts', 'other')), [])
  assert.deepEqual(await actionsOf(narrow, '?keyspace=main&name=carts'), [])
  const twice = await admin.call('GET', '/permissions?name=a&name=b', { token: narrow })
  assert.equal(twice.http, 400)
})

async function actionsOf(token: string, query: string): Promise<readonly string[]> {
  const path = `/permissions${query}`
  const { actions } = await admin.ask<{ actions: readonly string[] }>('GET', path, {
    token,
  })
  return actions
}
