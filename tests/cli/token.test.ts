import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import { connectTo } from '../../src/cli/token/api-keeper.ts'
import { readExpiry } from '../../src/cli/token/expiry.ts'
import { openFolder } from '../../src/cli/token/folder-keeper.ts'
import type { KnownToken } from '../../src/cli/token/token-keeper.ts'
import { tokenTable } from '../../src/cli/token/token-table.ts'
import { startServer, temporaryFolder, testToken, type TestServer } from '../harness.ts'
import { runStela } from './run-stela.ts'

const find = { findKeyspaces: {} }
const insert = { insertOne: { document: {} } }

interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

describe('stela token with a running server', () => {
  let server: TestServer

  before(async () => {
    server = await startServer({ adminPort: 0 })
    await server.command('/default_keyspace', { createCollection: { name: 'c' } })
  })
  after(() => server.close())

  async function token(args: readonly string[], as = testToken): Promise<Ran> {
    const words = ['token', ...args, '--admin-url', server.adminUrl]
    const { code, out, err } = await runStela(words, { token: as })
    return { code, out: out.toString(), err }
  }

  test('creates a token, prints only the token, and lists it', async () => {
    const made = await token([
      ...['create', '--role', 'ro user', '--expires', '30d', '--description', 'a\tboard'],
    ])
    assert.equal(made.code, 0, made.err)
    assert.match(made.out, /^Stela:[0-9a-f]{24}:[0-9a-f]{64}\n$/)
    const secret = made.out.trim()
    const id = secret.split(':')[1]!
    assert.match(
      made.err,
      new RegExp(`created token ${id}. Roles: RO User. It expires \\d{4}`),
    )
    const reads = await server.command('', find, { Token: secret })
    assert.equal(reads.http, 200)
    const writes = await server.command('/default_keyspace/c', insert, { Token: secret })
    assert.deepEqual(writes.codes, ['UNAUTHORIZED_ACCESS'])

    const listed = await token(['list'])
    assert.equal(listed.code, 0, listed.err)
    const [header, line] = listed.out.split('\n')
    assert.match(header!, /^ID +ROLES +CREATED +EXPIRES +DESCRIPTION$/)
    assert.match(line!, new RegExp(`^${id}  RO User  .*Z  .*Z  a board$`))
    const json = JSON.parse((await token(['list', '--json'])).out) as { id: string }[]
    assert.equal(json[0]!.id, id)

    const refused = await token(['list'], secret)
    assert.deepEqual([refused.code, refused.out], [1, ''])
    assert.match(refused.err, /^stela: the token does not permit this.*\n$/)

    const revoked = await token(['revoke', secret, 'none'])
    assert.equal(revoked.code, 1)
    assert.match(
      revoked.err,
      new RegExp(`^stela: revoked token ${id}.\n.*no token none.\n$`),
    )
    assert.equal((await server.command('', find, { Token: secret })).http, 401)
  })

  test('assigns several roles by name or id, and rejects unknown roles', async () => {
    const response = await fetch(`${server.adminUrl}/v2/organizations/roles`, {
      headers: { Token: testToken },
    })
    const roles = (await response.json()) as { ID: string; Name: string }[]
    const viewer = roles.find(({ Name }) => Name === 'UI View Only')!.ID
    const made = await token(['create', '--role', 'R/W User', '--role', viewer])
    assert.match(made.err, /Roles: R\/W User, UI View Only\. It does not expire/)
    const unknown = await token(['create', '--role', 'Emperor'])
    assert.deepEqual([unknown.code, unknown.out], [1, ''])
    assert.match(unknown.err, /no role "Emperor"\. Roles: Organization Administrator,/)
  })

  test('reports errors in one line', async () => {
    for (const [args, as, message] of [
      [['list'], 'wrong', /the token is invalid/],
      [['create', '--expires', '3x'], testToken, /--expires.*30d/],
      [['renew'], testToken, /unknown command 'renew'/],
    ] as const) {
      const { code, out, err } = await token(args, as)
      assert.deepEqual([code, out], [1, ''], err)
      assert.match(err, message)
      assert.equal(err.trimEnd().split('\n').length, 1, err)
    }
    const create = connectTo(server.adminUrl, testToken).create({
      roles: [],
      description: undefined,
      expiresAt: undefined,
    })
    await fails(create, /^roles must be/)
    const nowhere = 'http://127.0.0.1:9'
    await fails(
      connectTo(server.adminUrl, undefined).list(),
      /no token was given. Set STELA/,
    )
    const unmanaged = await startServer()
    try {
      const list = connectTo(unmanaged.url, testToken).list()
      await fails(list, /is not the management API/)
    } finally {
      await unmanaged.close()
    }
    await fails(
      connectTo(nowhere, testToken).list(),
      /cannot reach the server at .*:9: .*--admin-url/,
    )
  })
})

function fails(attempt: Promise<unknown>, message: RegExp): Promise<void> {
  return assert.rejects(attempt, { name: 'Failure', message })
}

describe('stela token with the folder of a stopped server', () => {
  let dataDir: string

  before(async () => {
    dataDir = await temporaryFolder()
  })
  after(() => rm(dataDir, { recursive: true }))

  const onFolder = (...args: readonly string[]) =>
    runStela(['token', ...args, '--data', dataDir], { token: '' })

  test('creates a token without an administrator token', async () => {
    await fails(openFolder(dataDir), /is not a data folder/)
    assert.deepEqual(readdirSync(dataDir), [])
    let server = await startServer({ dataDir })
    const busy = await onFolder('list')
    assert.equal(busy.code, 1)
    assert.match(busy.err, /^stela: .* is in use by another running server.*\n$/)
    await server.stop()

    const made = await onFolder('create', '--role', 'Organization Administrator')
    assert.equal(made.code, 0, made.err)
    const token = made.out.toString().trim()
    server = await startServer({ dataDir, adminPort: 0, adminToken: undefined as never })
    assert.equal((await server.command('', find, { Token: token })).http, 200)
    const known = await connectTo(server.adminUrl, token).list()
    assert.equal(known.length, 1, 'no other was made at the start')
    await server.stop()
  })

  test('refuses to revoke the last token that can create tokens', async () => {
    const keeper = await openFolder(dataDir)
    const [{ id, roles }] = (await keeper.list()) as [KnownToken]
    await fails(keeper.revoke(id), /is the last administrator token/)
    await keeper.create({ roles, description: undefined, expiresAt: undefined })
    await keeper.revoke(id)
    assert.equal((await keeper.list()).length, 1)
    await keeper.close()
  })
})

describe('an expiry of', () => {
  const now = Date.parse('2026-01-01T00:00:00Z')

  for (const [text, expected] of [
    ['30d', '2026-01-31T00:00:00.000Z'],
    ['12h', '2026-01-01T12:00:00.000Z'],
    ['45m', '2026-01-01T00:45:00.000Z'],
    ['2030-01-31T00:00:00Z', '2030-01-31T00:00:00.000Z'],
    ['2030-01-31T02:00+02:00', '2030-01-31T00:00:00.000Z'],
    ['2030-01-31', '2030-01-31T00:00:00.000Z'],
  ] as const)
    test(`${text} is accepted`, () => assert.equal(readExpiry(text, now), expected))

  for (const text of ['', '0d', '-1d', '1.5h', '30', 'd', 'tomorrow', '2030', '2025-12-31'])
    test(`"${text}" is rejected`, () =>
      assert.throws(() => readExpiry(text, now), { code: 'commander.invalidArgument' }))
})

test('the table of tokens marks expired tokens, and contains no terminal control characters', () => {
  const table = tokenTable(
    [
      {
        id: 'a1',
        roles: ['r', 'gone'],
        createdAt: '2026-01-02T03:04:05.678Z',
        expiresAt: '2026-02-02T03:04:05.678Z',
        description: 'red\u001b[31m\nline',
      },
      { id: 'b22', roles: ['r'], createdAt: '1970-01-01T00:00:00.000Z' },
    ],
    [{ id: 'r', name: 'RO User' }],
    Date.parse('2026-03-01T00:00:00Z'),
  )
  assert.equal(
    table,
    [
      'ID   ROLES          CREATED            EXPIRES                    DESCRIPTION',
      'a1   RO User, gone  2026-01-02T03:04Z  expired 2026-02-02T03:04Z  red [31m line',
      'b22  RO User        unknown            never',
      '',
    ].join('\n'),
  )
})
