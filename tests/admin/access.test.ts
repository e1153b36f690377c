/** Tokens, roles and users: the management API that changes them, and the permissions they give. */
import assert from 'node:assert/strict'
import { Agent, request } from 'node:http'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import type { IncomingMessage } from 'node:http'
import { testToken } from '../harness.ts'
import {
  AdminServer,
  type Policy,
  type WireDatabase,
  type WireRole,
  type WireToken,
} from './admin-server.ts'

interface WireUsers {
  readonly OrgID: string
  readonly OrgName: string
  readonly Users: readonly {
    readonly UserID: string
    readonly Email: string
    readonly Status: string
    readonly Roles: readonly { readonly ID: string; readonly Name: string }[]
  }[]
}

const base64 = (text: string) => Buffer.from(text).toString('base64')
const annToken = `Cassandra:${base64('ann')}:${base64('secret')}`
const admin = new AdminServer(
  { accounts: [{ name: 'ann', password: 'secret' }] },
  (server) => server.command('/default_keyspace', { createCollection: { name: 'books' } }),
)
const insert = { insertOne: { document: {} } }
const books = '/default_keyspace/books'

describe('a token', () => {
  test('is created, used, listed and revoked', async () => {
    const role = await admin.roleId('R/W User')
    const body = { roles: [role, role], description: 'for tests', orgId: '' }
    const made = await admin.ask<WireToken>('POST', '/clientIdSecrets', { body })
    assert.deepEqual(Object.keys(made).toSorted(), [
      ...['clientId', 'description', 'generatedOn', 'orgId', 'roles', 'secret', 'token'],
    ])
    assert.equal(made.token, `Stela:${made.clientId}:${made.secret}`)
    assert.equal(made.orgId, await admin.organization())
    assert.deepEqual(made.roles, [role])
    assert.equal((await admin.command(books, insert, made.token)).http, 200)

    const { clients } = await admin.ask<{ clients: WireToken[] }>('GET', '/clientIdSecrets')
    assert.deepEqual(clients.at(-1), {
      clientId: made.clientId,
      roles: [role],
      generatedOn: made.generatedOn,
      description: 'for tests',
    })
    const path = `/clientIdSecrets/${made.clientId}`
    assert.deepEqual(await admin.ask('DELETE', path), {})
    const refused = await admin.command(books, insert, made.token)
    assert.deepEqual([refused.http, refused.codes], [401, ['UNAUTHENTICATED_REQUEST']])
    await admin.refuse(404, 'DELETE', path)
  })

  test('can be created with an expiry, at the path /tokens', async () => {
    const body = {
      roles: [await admin.roleId('RO User')],
      orgId: await admin.organization(),
      tokenExpiry: '2099-12-31T23:59:59+02:00',
    }
    const made = await admin.ask<WireToken>('POST', '/tokens', { body })
    assert.equal(made.tokenExpiry, '2099-12-31T21:59:59.000Z')
    assert.equal((await admin.command(books, { find: {} }, made.token)).http, 200)
  })

  test('is rejected when a field is invalid', async () => {
    const roles = [await admin.roleId('RO User')]
    for (const [body, message] of [
      [{}, /roles/],
      [{ roles: [] }, /roles/],
      [{ roles: 'RO User' }, /roles/],
      [
        { roles: ['RO User'] },
        /Send ids instead of names; the id of "RO User" is [-0-9a-f]{36}\./,
      ],
      [{ roles: ['Emperor'] }, /"Emperor".*"R\/W User" \([-0-9a-f]{36}\)/],
      [{ roles: [null] }, /unknown role ids: \[null\]\. Default roles:/],
      [{ roles: Array(101).fill(roles[0]) }, /1 to 100/],
      [{ roles, description: 1 }, /description/],
      [{ roles, description: 'x'.repeat(501) }, /500/],
      [{ roles, tokenExpiry: 'soon' }, /tokenExpiry/],
      [{ roles, tokenExpiry: 1 }, /tokenExpiry/],
      [{ roles, tokenExpiry: '2020-01-01T00:00:00Z' }, /in the future/],
      [{ roles, orgId: 'another' }, /orgId/],
    ] as const)
      assert.match(await admin.refuse(400, 'POST', '/clientIdSecrets', { body }), message)
  })

  test('stays valid after a restart, unless it was revoked', async () => {
    const kept = await admin.tokenOf('RO User')
    const gone = await admin.tokenOf('RO User')
    await admin.ask('DELETE', `/clientIdSecrets/${gone.clientId}`)
    await admin.restart()
    assert.equal((await admin.command(books, { find: {} }, kept.token)).http, 200)
    assert.equal((await admin.command(books, { find: {} }, gone.token)).http, 401)
  })
})

describe('a role', () => {
  test('is created, changed and deleted, and default roles cannot be changed', async () => {
    const made = await admin.createRole([':db:*'], ['db-table-select'], 'readers')
    assert.equal(made.Type, 'custom')
    const path = `/organizations/roles/${made.ID}`
    assert.deepEqual(await admin.ask('GET', path), made)
    const roles = await admin.ask<WireRole[]>('GET', '/organizations/roles')
    assert.equal(roles.length, 16)
    assert.deepEqual(roles.at(-1), made)
    for (const field of ['OrgID', 'LastUpdateDateTime', 'LastUpdateUserID'])
      assert(field in made, field)

    const policy: Policy = { ...made.Policy, actions: ['db-table-modify'] }
    const body = { name: 'writers', policy }
    const changed = await admin.ask<WireRole>('PUT', path, { body })
    assert.deepEqual(
      [changed.ID, changed.Name, changed.Policy],
      [made.ID, 'writers', policy],
    )
    await admin.ask('PUT', path, { body })
    assert.equal((await admin.call('DELETE', path)).http, 204)
    for (const method of ['GET', 'DELETE']) await admin.refuse(404, method, path)
    await admin.refuse(404, 'PUT', path, { body })

    const byDefault = `/organizations/roles/${await admin.roleId('RO User')}`
    await admin.refuse(403, 'PUT', byDefault, { body })
    await admin.refuse(403, 'DELETE', byDefault)
  })

  test('cannot have the name of another role', async () => {
    const { ID, Policy: policy } = await admin.createRole([''], ['org-read'], 'named')
    for (const name of ['named', 'RO User']) {
      const body = { name, policy }
      await admin.refuse(409, 'POST', '/organizations/roles', { body })
    }
    const body = { name: 'RO User', policy }
    await admin.refuse(409, 'PUT', `/organizations/roles/${ID}`, { body })
  })

  test('is rejected when a field is invalid', async () => {
    const org = `drn:astra:org:${await admin.organization()}`
    const policy = { effect: 'allow', resources: [org], actions: ['org-read'] }
    for (const [body, message] of [
      [{ policy }, /name/],
      [{ name: ' ', policy }, /name/],
      [{ name: 'x'.repeat(201), policy }, /name/],
      [{ name: 'x' }, /policy must be an object/],
      [{ name: 'x', policy: [] }, /policy must be an object/],
      [{ name: 'x', policy: { ...policy, effect: 'deny' } }, /effect/],
      [{ name: 'x', policy: { ...policy, description: 1 } }, /description/],
      [{ name: 'x', policy: { ...policy, resources: [] } }, /resources/],
      [{ name: 'x', policy: { ...policy, resources: [`${org}:table:t`] } }, /form/],
      [
        { name: 'x', policy: { ...policy, resources: ['drn:astra:org:x'] } },
        /another organization/,
      ],
      [{ name: 'x', policy: { ...policy, actions: ['fly'] } }, /unknown actions: fly/],
      [{ name: 'x', policy: { ...policy, actions: Array(1001).fill('org-read') } }, /1000/],
    ] as const)
      assert.match(
        await admin.refuse(400, 'POST', '/organizations/roles', { body }),
        message,
      )
  })

  test('grants only its actions, and only on its resources', async () => {
    const { id } = await admin.createDatabase({ keyspace: 'ks' })
    for (const [path, name] of [
      ['/ks', 'one'],
      ['/ks', 'two'],
    ] as const)
      await admin.commandTo(id, path, { createCollection: { name } })
    const { token } = await admin.tokenFor(
      [`:db:${id}:keyspace:ks:table:one`],
      ['db-table-select', 'db-table-describe'],
    )
    const codesOf = async (path: string, command: object) =>
      (await admin.commandTo(id, path, command, token)).codes
    assert.deepEqual(await codesOf('/ks/one', { find: {} }), [])
    for (const [path, command] of [
      ['/ks/two', { find: {} }],
      ['/ks/one', insert],
      ['/ks/one', { findOneAndDelete: { filter: {} } }],
      ['/ks/one', { deleteMany: { filter: {} } }],
      ['/ks', { deleteCollection: { name: 'one' } }],
      ['/ks', { createCollection: { name: 'three' } }],
      ['', { dropKeyspace: { name: 'ks' } }],
    ] as const)
      assert.deepEqual(await codesOf(path, command), ['UNAUTHORIZED_ACCESS'])
    const found = await admin.commandTo(id, '/ks', { findCollections: {} }, token)
    assert.deepEqual(found.body.status, { collections: ['one'] })
    const elsewhere = await admin.command(books, { find: {} }, token)
    assert.deepEqual(elsewhere.codes, ['UNAUTHORIZED_ACCESS'])
  })
})

describe('a user', () => {
  const users = async () =>
    (await admin.ask<WireUsers>('GET', '/organizations/users')).Users

  test('with an account has all permissions until roles are assigned', async () => {
    const all = await admin.ask<WireUsers>('GET', '/organizations/users')
    const administrator = {
      ID: await admin.roleId('Organization Administrator'),
      Name: 'Organization Administrator',
    }
    assert.deepEqual(all, {
      OrgID: await admin.organization(),
      OrgName: 'stela',
      Users: [{ UserID: 'ann', Email: 'ann', Status: 'active', Roles: [administrator] }],
    })
    assert.equal((await admin.command(books, insert, annToken)).http, 200)

    const reader = await admin.roleId('RO User')
    const body = { roles: [reader] }
    const put = await admin.call('PUT', '/organizations/users/ann/roles', { body })
    assert.deepEqual([put.http, put.text], [204, ''])
    assert.deepEqual((await users())[0]!.Roles, [{ ID: reader, Name: 'RO User' }])
    assert.equal((await admin.command(books, { find: {} }, annToken)).http, 200)
    assert.equal((await admin.command(books, insert, annToken)).http, 401)
    await admin.restart()
    assert.equal((await admin.command(books, insert, annToken)).http, 401)
    await admin.refuse(409, 'DELETE', '/organizations/users/ann')
  })

  test('can have roles before its account is configured', async () => {
    const reader = await admin.roleId('RO User')
    for (const email of ['bob', 'x@example.com/ü', '__proto__', 'constructor']) {
      const body = { email, roles: [reader] }
      const put = await admin.ask<{ UserID: string }>('PUT', '/organizations/users', {
        body,
      })
      assert.deepEqual(put, {
        UserID: email,
        Email: email,
        Status: 'invited',
        Roles: [{ ID: reader, Name: 'RO User' }],
      })
      const path = `/organizations/users/${encodeURIComponent(email)}`
      await admin.ask('PUT', `${path}/roles`, { body: { roles: [reader] } })
      assert.equal((await users()).length, 2)
      assert.equal((await admin.call('DELETE', path)).http, 204)
      await admin.refuse(404, 'DELETE', path)
      await admin.refuse(404, 'PUT', `${path}/roles`, { body: { roles: [reader] } })
    }
  })

  test('is rejected when a field is invalid', async () => {
    const roles = [await admin.roleId('RO User')]
    for (const body of [
      { roles },
      { email: '', roles },
      { email: 'x'.repeat(201), roles },
      { email: 'x' },
      { email: 'x', roles: ['none'] },
      { email: 'x', roles, orgID: 'another' },
    ])
      await admin.refuse(400, 'PUT', '/organizations/users', { body })
  })
})

/**
 * Sends all requests over one connection, and asserts that the connection is not replaced.
 */
class OneConnection {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  readonly #token: string
  #count = 0

  constructor(token: string) {
    this.#token = token
  }

  async codes(path: string, command: object): Promise<readonly string[]> {
    const sent = request(`${admin.server.url}/v1${path}`, {
      agent: this.#agent,
      method: 'POST',
      headers: { Token: this.#token, 'Content-Type': 'application/json' },
    })
    sent.end(JSON.stringify(command))
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    assert.equal(sent.reusedSocket, this.#count++ > 0, 'the connection is kept')
    let text = ''
    for await (const chunk of response.setEncoding('utf8')) text += String(chunk)
    const { errors = [] } = JSON.parse(text) as { errors?: { errorCode: string }[] }
    return errors.map((error) => error.errorCode)
  }

  close(): void {
    this.#agent.destroy()
  }
}

describe('an open connection loses permissions immediately', () => {
  test('when its token is revoked', async () => {
    const { token, clientId } = await admin.tokenOf('R/W User')
    const open = new OneConnection(token)
    assert.deepEqual(await open.codes(books, insert), [])
    await admin.ask('DELETE', `/clientIdSecrets/${clientId}`)
    assert.deepEqual(await open.codes(books, insert), ['UNAUTHENTICATED_REQUEST'])
    open.close()
  })

  test('when its role is changed and then deleted', async () => {
    const role = await admin.createRole([''], ['db-table-select', 'db-table-modify'])
    const body = { roles: [role.ID] }
    const { token } = await admin.ask<WireToken>('POST', '/clientIdSecrets', { body })
    const open = new OneConnection(token)
    assert.deepEqual(await open.codes(books, insert), [])
    const policy = { ...role.Policy, actions: ['db-table-select'] }
    const path = `/organizations/roles/${role.ID}`
    await admin.ask('PUT', path, { body: { name: role.Name, policy } })
    assert.deepEqual(await open.codes(books, insert), ['UNAUTHORIZED_ACCESS'])
    assert.deepEqual(await open.codes(books, { find: {} }), [])
    await admin.ask('DELETE', path)
    assert.deepEqual(await open.codes(books, { find: {} }), ['UNAUTHORIZED_ACCESS'])
    open.close()
  })

  test('when its user gets weaker roles', async () => {
    const put = (name: string) =>
      admin
        .roleId(name)
        .then((role) =>
          admin.ask('PUT', '/organizations/users/ann/roles', { body: { roles: [role] } }),
        )
    await put('R/W User')
    const open = new OneConnection(annToken)
    assert.deepEqual(await open.codes(books, insert), [])
    await put('RO User')
    assert.deepEqual(await open.codes(books, insert), ['UNAUTHORIZED_ACCESS'])
    open.close()
  })

  test('when its token expires', async (t) => {
    const now = Date.now()
    const body = {
      roles: [await admin.roleId('R/W User')],
      tokenExpiry: new Date(now + 60_000).toISOString(),
    }
    const { token } = await admin.ask<WireToken>('POST', '/clientIdSecrets', { body })
    const open = new OneConnection(token)
    assert.deepEqual(await open.codes(books, insert), [])
    t.mock.timers.enable({ apis: ['Date'], now: now + 59_999 })
    assert.deepEqual(await open.codes(books, insert), [])
    t.mock.timers.setTime(now + 60_000)
    assert.deepEqual(await open.codes(books, insert), ['UNAUTHENTICATED_REQUEST'])
    await admin.refuse(401, 'GET', '/currentOrg', { token })
    open.close()
  })
})

describe('a principal cannot grant more than its own permissions', () => {
  const orgActions = [
    ...['org-token-read', 'org-token-write', 'org-role-read', 'org-role-write'],
    ...['org-role-delete', 'org-user-read', 'org-user-write', 'db-table-select'],
  ]

  test('through tokens, roles or users', async () => {
    const { token } = await admin.tokenFor([''], orgActions)
    const org = `drn:astra:org:${await admin.organization()}`
    const writer = await admin.roleId('R/W User')
    const strong = await admin.createRole([''], ['db-table-modify'])
    const strongToken = await admin.tokenOf('R/W User')
    const policyOf = (resources: string[], actions: string[]) => ({
      name: `role of mine ${actions.join()} ${resources.join()}`,
      policy: { effect: 'allow', resources, actions },
    })
    for (const [method, path, body] of [
      ['POST', '/clientIdSecrets', { roles: [writer] }],
      ['POST', '/tokens', { roles: [strong.ID] }],
      ['DELETE', `/clientIdSecrets/${strongToken.clientId}`, undefined],
      ['POST', '/organizations/roles', policyOf([org], ['db-table-modify'])],
      ['PUT', `/organizations/roles/${strong.ID}`, policyOf([org], ['org-read'])],
      ['DELETE', `/organizations/roles/${strong.ID}`, undefined],
      ['PUT', '/organizations/users', { email: 'new', roles: [writer] }],
      ['PUT', '/organizations/users/ann/roles', { roles: [writer] }],
    ] as const)
      assert.match(
        await admin.refuse(403, method, path, { token, body }),
        /more than/,
        `${method} ${path}`,
      )

    const own = policyOf([org], ['db-table-select'])
    const { ID } = await admin.ask<WireRole>('POST', '/organizations/roles', {
      token,
      body: own,
    })
    const made = await admin.ask<WireToken>('POST', '/clientIdSecrets', {
      token,
      body: { roles: [ID] },
    })
    assert.equal((await admin.command(books, { find: {} }, made.token)).http, 200)
    assert.equal((await admin.command(books, insert, made.token)).http, 401)
    const wider = policyOf([org], ['db-table-select', 'db-table-modify'])
    await admin.refuse(403, 'PUT', `/organizations/roles/${ID}`, { token, body: wider })
  })

  test('through a role for databases outside its own resources', async () => {
    const { id } = await admin.createDatabase()
    const { token } = await admin.tokenFor(
      ['', `:db:${id}`],
      ['org-role-write', 'org-token-write'],
    )
    const inside = await admin.tokenFor(
      [`:db:${id}`],
      ['db-table-select', 'org-role-write'],
    )
    const org = `drn:astra:org:${await admin.organization()}`
    const body = {
      name: 'wide',
      policy: { effect: 'allow', resources: [`${org}:db:*`], actions: ['db-table-select'] },
    }
    for (const by of [token, inside.token])
      await admin.refuse(403, 'POST', '/organizations/roles', { token: by, body })
  })
})

test('a stored administrator token can be revoked while the configuration contains another', async () => {
  // The configured administrator token remains, so the last stored one may be revoked.
  const one = await admin.tokenOf('Organization Administrator')
  await admin.ask('DELETE', `/clientIdSecrets/${one.clientId}`, { token: one.token })
  await admin.refuse(401, 'GET', '/currentOrg', { token: one.token })
})

test.describe('without a configured administrator token', () => {
  const alone = new AdminServer({
    adminToken: undefined as unknown as string,
    accounts: [{ name: 'ann', password: 'secret' }],
  })

  test('the last administrator token cannot be revoked', async () => {
    const as = { token: annToken }
    const path = '/clientIdSecrets'
    const { clients } = await alone.ask<{ clients: WireToken[] }>('GET', path, as)
    assert.equal(clients.length, 1, 'the first start made one')
    const { clientId } = clients[0]!
    assert.match(await alone.refuse(409, 'DELETE', `${path}/${clientId}`, as), /the last/)
  })
})

test('a database is listed only for tokens that may view it', async () => {
  const seen = await admin.createDatabase({ name: 'seen' })
  const other = await admin.createDatabase({ name: 'other' })
  const { token } = await admin.tokenFor(
    [`:db:${seen.id.toUpperCase()}`],
    ['org-db-view', 'org-db-terminate', 'db-keyspace-describe', 'db-keyspace-create'],
  )
  const found = await admin.ask<WireDatabase[]>('GET', '/databases', { token })
  assert.deepEqual(
    found.map(({ id }) => id),
    [seen.id],
  )
  const extra = (id: string) => `/databases/${id}/keyspaces/extra`
  await admin.refuse(404, 'GET', `/databases/${other.id}`, { token })
  await admin.refuse(404, 'POST', `/databases/${other.id}/terminate`, { token })
  await admin.refuse(404, 'POST', `/databases/${other.id}/park`, { token })
  await admin.refuse(404, 'POST', extra(other.id), { token })
  await admin.refuse(400, 'GET', `/databases?starting_after=${other.id}`, { token })
  assert.equal((await admin.call('POST', extra(seen.id), { token })).http, 201)
  await admin.refuse(403, 'DELETE', extra(seen.id), { token })
  await admin.refuse(403, 'POST', '/databases', { token, body: { name: 'x' } })
  assert.equal(
    (await admin.call('POST', `/databases/${seen.id}/terminate`, { token })).http,
    202,
  )
  assert.equal((await admin.call('GET', '/databases', { token: testToken })).http, 200)
})
