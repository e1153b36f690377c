/** Two servers on one engine accept and reject the same credentials. */
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { Access, AccessRefusal, type ConfiguredCredentials } from '../../src/auth/access.ts'
import { administrator } from '../../src/auth/principal.ts'
import { defaultRoleId } from '../../src/auth/roles.ts'
import { digestOf } from '../../src/auth/tokens.ts'
import { openEmbedded } from '../engine/embedded/embedded-store.ts'
import { eventually } from '../engine/settings.ts'

const nobody: ConfiguredCredentials = { adminToken: undefined, accounts: [] }
const root = administrator('root')
const reader = defaultRoleId('RO User')
const chief = defaultRoleId('Organization Administrator')
const organization = 'an-organization'
const place = { database: 'd', keyspace: 'k', target: 't' }

function policy(action: string) {
  return { resources: [`drn:astra:org:${organization}`], actions: [action] }
}

async function openTwo(context: TestContext): Promise<[Access, Access]> {
  const { engine } = await openEmbedded(context)
  const open = () => Access.open(engine, organization, nobody)
  return [await open(), await open()]
}

describe('two servers on one engine', () => {
  test('both accept a token that one of them creates, until the token is revoked', async (context) => {
    const [one, two] = await openTwo(context)
    const { token, id } = await one.createToken({ roles: [reader] }, root)
    const digest = digestOf(token)
    await eventually(() => two.find(digest) !== undefined)
    const holder = two.find(digest)!
    assert(holder.principal.may('read', place) && !holder.isRevoked)
    assert.deepEqual(two.tokens, one.tokens)
    await one.revokeToken(id, root)
    await eventually(() => two.find(digest) === undefined)
    assert(holder.isRevoked, 'also on connections that have shown it')
    await assert.rejects(two.revokeToken(id, root), AccessRefusal)
  })

  test('both apply a change of a role to existing tokens with the role', async (context) => {
    const [one, two] = await openTwo(context)
    const role = await one.createRole('writers', policy('db-table-modify'), root)
    // Server "two" reads the stored roles before it creates a token, so it already knows the role.
    const { token } = await two.createToken({ roles: [role.id] }, root)
    await eventually(() => one.find(digestOf(token)) !== undefined)
    const holders = [one, two].map((access) => access.find(digestOf(token))!)
    const allMay = (effect: 'read' | 'write') =>
      holders.every(({ principal }) => principal.may(effect, place))
    assert(allMay('write') && !allMay('read'))
    await one.updateRole(role.id, 'writers', policy('db-table-select'), root)
    await eventually(() => allMay('read') && !allMay('write'))
    await assert.rejects(
      two.createRole('writers', policy('db-table-select'), root),
      /The role "writers" already exists/,
    )
    await two.deleteRole(role.id, root)
    await eventually(() => holders.every(({ principal }) => !principal.may('read', place)))
    assert(holders.every(({ isRevoked }) => !isRevoked))
  })

  test('both know the roles of a user, whichever server sets or removes them', async (context) => {
    const [one, two] = await openTwo(context)
    await one.setUser('ann', [reader], root)
    await eventually(() => two.users.length === 1)
    assert.deepEqual(two.user('ann').roles, [reader])
    await two.removeUser('ann', root)
    await eventually(() => one.users.length === 0)
  })

  test('share changes only until one of them is closed', async (context) => {
    const [one, two] = await openTwo(context)
    two.close()
    const { token } = await one.createToken({ roles: [reader] }, root)
    await one.createToken({ roles: [reader] }, root)
    assert.equal(two.find(digestOf(token)), undefined)
  })
})

describe('changes by two servers', () => {
  test('are all stored when they are concurrent', async (context) => {
    const both = await openTwo(context)
    const made = await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        both[i % 2]!.createToken({ roles: [reader], description: `token ${i}` }, root),
      ),
    )
    const roles = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        both[i % 2]!.createRole(`role ${i}`, policy('db-table-select'), root),
      ),
    )
    for (const access of both) {
      await eventually(() => access.tokens.length === 40)
      for (const { token } of made) assert(access.find(digestOf(token)) !== undefined)
      for (const { id } of roles) assert.equal(access.role(id).id, id)
    }
    await Promise.all(made.map(({ id }, i) => both[(i + 1) % 2]!.revokeToken(id, root)))
    for (const access of both) await eventually(() => access.tokens.length === 0)
  })

  test('cannot revoke both of the last two administrator tokens', async (context) => {
    const [one, two] = await openTwo(context)
    const first = await one.createToken({ roles: [chief] }, undefined)
    const second = await two.createToken({ roles: [chief] }, undefined)
    const outcomes = await Promise.allSettled([
      one.revokeToken(first.id, undefined),
      two.revokeToken(second.id, undefined),
    ])
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected')
    assert.equal(refused.length, 1)
    assert(refused[0]!.reason instanceof AccessRefusal)
    assert.equal(refused[0]!.reason.kind, 'state')
    await eventually(() => one.tokens.length === 1 && two.tokens.length === 1)
  })

  test('keep stored fields that only a later version of Stela defines', async (context) => {
    const { engine } = await openEmbedded(context)
    const access = await Access.open(engine, organization, nobody)
    const { id } = await access.createRole('makers', policy('db-table-select'), root)
    await access.createToken({ roles: [id] }, root)
    await access.setUser('ann', [id], root)
    const later = { sinceNextVersion: [1] }
    const rewrite = async (name: string, change: (value: unknown) => unknown) => {
      const { value, version } = (await engine.readSetting(name))!
      await engine.writeSetting(name, JSON.stringify(change(JSON.parse(value))), version)
    }
    for (const name of ['roles', 'tokens'])
      await rewrite(name, (all) => (all as object[]).map((one) => ({ ...one, ...later })))
    await rewrite('users', (all) => {
      const { ann } = all as { ann: object }
      return { ann: { ...ann, ...later } }
    })
    await access.updateRole(id, 'readers', policy('db-table-select'), root)
    await access.createToken({ roles: [id] }, root)
    await access.setUser('ann', [reader], root)
    for (const name of ['roles', 'tokens', 'users']) {
      const { value } = (await engine.readSetting(name))!
      assert(value.includes('"sinceNextVersion":[1]'), `${name}: ${value}`)
    }
  })

  test('create only one first token', async (context) => {
    const both = await openTwo(context)
    const made = await Promise.all(both.map((access) => access.createFirstToken()))
    const [first] = made.filter((token) => token !== undefined)
    assert.equal(made.filter((token) => token !== undefined).length, 1)
    for (const access of both) {
      await eventually(() => access.find(digestOf(first!.token)) !== undefined)
      assert(access.hasAdministrator)
      assert.equal(await access.createFirstToken(), undefined)
      assert.equal(access.tokens.length, 1)
    }
  })
})
