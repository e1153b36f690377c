/**
 * Tokens, roles and users, tested without HTTP: what is stored, and when changes take
 * effect.
 */
import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import { Access, AccessRefusal, type ConfiguredCredentials } from '../../src/auth/access.ts'
import { Authenticator, isPrincipal } from '../../src/auth/authenticator.ts'
import { LocalLockout } from '../../src/auth/local-lockout.ts'
import { administrator } from '../../src/auth/principal.ts'
import { defaultRoleId, defaultRoles } from '../../src/auth/roles.ts'
import { digestOf } from '../../src/auth/tokens.ts'
import { openEmbeddedEngine } from '../../src/engine/embedded/engine.ts'
import type { Engine } from '../../src/engine/contract.ts'
import { temporaryFolder } from '../harness.ts'
import { putSetting, settingOf } from '../engine/settings.ts'

const organization = 'an-organization'
const nobody: ConfiguredCredentials = { adminToken: undefined, accounts: [] }
const root = administrator('root')
const reader = defaultRoleId('RO User')
const chief = defaultRoleId('Organization Administrator')

let dataDir: string
let engine: Engine

before(async () => {
  dataDir = await temporaryFolder()
  const log = () => undefined
  engine = await openEmbeddedEngine({ dataDir, durable: false, searchThreads: 1, log })
})

after(async () => {
  await engine.close()
  await rm(dataDir, { recursive: true })
})

const open = (credentials = nobody) => Access.open(engine, organization, credentials)

async function refusal(kind: AccessRefusal['kind'], attempt: Promise<unknown>) {
  await assert.rejects(attempt, (error) => {
    assert(error instanceof AccessRefusal)
    assert.equal(error.kind, kind, error.message)
    return true
  })
}

describe('a token', () => {
  test('is stored only as a digest', async () => {
    const access = await open()
    const { token, secret, id } = await access.createToken({ roles: [reader] }, root)
    const stored = (await settingOf(engine, 'tokens'))!
    assert(stored.includes(id))
    assert(!stored.includes(secret) && !stored.includes(token))
    assert(stored.includes(digestOf(token)))
  })

  test('is created and stored for each of twenty concurrent requests', async () => {
    const access = await open()
    const before = access.tokens.length
    const made = await Promise.all(
      Array.from({ length: 20 }, () => access.createToken({ roles: [reader] }, root)),
    )
    assert.equal(access.tokens.length, before + 20)
    assert.equal(new Set(made.map(({ id }) => id)).size, 20)
    const again = await open()
    for (const { token } of made) assert(again.find(digestOf(token)) !== undefined)
    await Promise.all(made.map(({ id }) => access.revokeToken(id, root)))
    assert.equal(access.tokens.length, before)
  })

  test('that the first version of Stela stored without roles has all permissions', async () => {
    const before = (await settingOf(engine, 'tokens'))!
    await putSetting(engine, 'tokens', JSON.stringify([{ id: 'old', digest: 'digest' }]))
    const access = await open()
    assert.deepEqual(access.tokens[0]!.roles, [chief])
    assert(access.find('digest')!.principal.allows('org-token-write', {}))
    assert(access.hasAdministrator)
    await refusal('state', access.revokeToken('old', undefined))
    await putSetting(engine, 'tokens', before)
  })

  test('counts as an administrator token only until it expires', async (t) => {
    const access = await open()
    const now = Date.now()
    t.mock.timers.enable({ apis: ['Date'], now })
    const soon = new Date(now + 50).toISOString()
    const wanted = { roles: [chief], expiresAt: soon }
    const { token, id } = await access.createToken(wanted, undefined)
    const holder = access.find(digestOf(token))!
    assert.equal(holder.expiresAtMs, Date.parse(soon))
    assert(access.hasAdministrator)
    t.mock.timers.setTime(now + 51)
    assert(!access.hasAdministrator)
    await access.revokeToken(id, undefined)
    assert(holder.isRevoked)
  })

  test('expires also after a restart', async (t) => {
    const now = Date.now()
    t.mock.timers.enable({ apis: ['Date'], now })
    const expiresAt = new Date(now + 50).toISOString()
    const first = await open()
    const { token, id } = await first.createToken({ roles: [reader], expiresAt }, root)
    first.close()
    const access = await open()
    const authenticator = new Authenticator(access, new LocalLockout(0))
    const from = () => ({ connection: {}, address: 'x' })
    assert(isPrincipal(await authenticator.identify(token, from())))
    t.mock.timers.setTime(now + 50)
    const found = await authenticator.identify(token, from())
    assert.deepEqual(found, { why: 'expired', expiredAt: expiresAt })
    await access.revokeToken(id, root)
  })
})

describe('a holder of a token', () => {
  test('gains and loses permissions when its roles change', async () => {
    const access = await open()
    const org = `drn:astra:org:${organization}`
    const policy = (action: string) => ({ resources: [org], actions: [action] })
    const role = await access.createRole('r', policy('db-table-select'), root)
    const { token } = await access.createToken({ roles: [role.id] }, root)
    const holder = access.find(digestOf(token))!
    const place = { database: 'd', keyspace: 'k', target: 't' }
    assert(holder.principal.may('read', place))
    await access.updateRole(role.id, 'r', policy('db-table-modify'), root)
    assert(!holder.principal.may('read', place))
    assert(holder.principal.may('write', place))
    assert(!holder.principal.may('change', place), 'to hand out takes reading as well')
    await access.deleteRole(role.id, root)
    assert(!holder.principal.may('write', place))
    assert(!holder.isRevoked)
  })

  test('is no longer authenticated after the token is removed from the configuration', async () => {
    const accounts = [{ name: 'ann', password: 'pässword' }]
    const access = await open({ adminToken: 'tökén', accounts })
    const authenticator = new Authenticator(access, new LocalLockout(0))
    const from = () => ({ connection: {}, address: 'x' })
    const utf8 = Buffer.from('tökén', 'utf8').toString('latin1')
    for (const token of ['tökén', utf8])
      assert(isPrincipal(await authenticator.identify(token, from())))
    assert.deepEqual(await authenticator.identify('token', from()), { why: 'unknown' })
    const without = new Authenticator(await open(), new LocalLockout(0))
    assert.deepEqual(await without.identify('tökén', from()), { why: 'unknown' })
  })
})

describe('the first token', () => {
  test('is created when no administrator exists', async () => {
    const access = await open()
    assert(!access.hasAdministrator)
    const { token } = (await access.createFirstToken())!
    assert(access.find(digestOf(token))!.principal.allows('org-write', {}))
    assert.equal(await access.createFirstToken(), undefined)
    const configured = await open({ ...nobody, adminToken: 'x' })
    assert(configured.hasAdministrator)
  })
})

test('default roles have fixed and distinct ids', () => {
  const [one, two] = ['one', 'two'].map((name) => defaultRoles(name).map(({ id }) => id))
  assert.deepEqual(one, two)
  assert.equal(new Set(one).size, 15)
  for (const id of one!)
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/)
})
