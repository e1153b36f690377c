/** The audit log names rejected clients, changes and backups, and contains no tokens. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { processToken, ServerProcess } from '../faults/server-process.ts'
import { temporaryFolder } from '../harness.ts'

let folder: string
let server: ServerProcess
let adminUrl: string

before(async () => {
  folder = await temporaryFolder()
  server = await ServerProcess.start(folder)
  const place = /The management API is at (\S+?)"/
  while (!place.test(server.err)) await once(server.child.stderr!, 'data')
  adminUrl = place.exec(server.err)![1]!
})

after(async () => {
  await server.stop()
  await rm(folder, { recursive: true })
})

async function call(method: string, path: string, body?: object, token = processToken) {
  const response = await fetch(adminUrl + path, {
    method,
    headers: {
      Authorization: `Bearer ${token}`,
      'Content-Type': 'application/json',
      'X-Request-Id': `${method}-of-the-test`,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return (await response.text()) || '{}'
}

/** Waits until the audit log has `count` lines, and returns its lines. */
async function auditLines(count: number): Promise<Record<string, unknown>[]> {
  for (;;) {
    const lines = server.err
      .split('\n')
      .filter((line) => line.includes('"audit"') && line.endsWith('}'))
    if (lines.length >= count)
      return lines.map((line) => JSON.parse(line) as Record<string, unknown>)
    await once(server.child.stderr!, 'data')
  }
}

test('the audit log has a line for every change, rejected call and backup', async () => {
  const roles = JSON.parse(await call('GET', '/organizations/roles')) as {
    ID: string
    Name: string
    Policy: object
  }[]
  const reader = roles.find(({ Name }) => Name === 'RO User')!
  const made = JSON.parse(await call('POST', '/tokens', { roles: [reader.ID] })) as {
    token: string
    clientId: string
  }
  const database = JSON.parse(await call('POST', '/databases', { name: 'x' })) as {
    id: string
  }
  await call('POST', `/databases/${database.id}/keyspaces/k`)
  await call('DELETE', `/databases/${database.id}/keyspaces/k`)
  await call('POST', `/databases/${database.id}/terminate`)
  const { Policy: policy } = reader
  const role = JSON.parse(
    await call('POST', '/organizations/roles', { name: 'r', policy }),
  ) as { ID: string }
  await call('PUT', `/organizations/roles/${role.ID}`, { name: 'r2', policy })
  await call('DELETE', `/organizations/roles/${role.ID}`)
  await call('PUT', '/organizations/users', { email: 'eve', roles: [reader.ID] })
  await call('DELETE', '/organizations/users/eve')
  await call('GET', '/clientIdSecrets', undefined, made.token)
  await call('GET', '/databases', undefined, 'no-such-token')
  await server.command('', { createKeyspace: { name: 'by_command' } })
  await call('DELETE', `/clientIdSecrets/${made.clientId}`)
  await call('POST', '/stela/backup', { have: [] })

  const lines = await auditLines(15)
  assert.deepEqual(
    lines.map((line) => [
      line['kind'] ?? line['reason'] ?? line['audit'],
      line['change'],
      line['what'],
    ]),
    [
      ['token', 'created', made.clientId],
      ['database', 'created', database.id],
      ['schema', 'createKeyspace', 'k'],
      ['schema', 'dropKeyspace', 'k'],
      ['database', 'terminated', database.id],
      ['role', 'created', role.ID],
      ['role', 'updated', role.ID],
      ['role', 'deleted', role.ID],
      ['user', 'roles set', 'eve'],
      ['user', 'removed', 'eve'],
      ['not permitted', undefined, undefined],
      ['unknown token', undefined, undefined],
      ['schema', 'createKeyspace', 'by_command'],
      ['token', 'revoked', made.clientId],
      ['backup', undefined, undefined],
    ],
  )
  const [first] = lines
  assert.equal(first!['principal'], 'administrator')
  assert.equal(first!['requestId'], 'POST-of-the-test')
  assert.equal(first!['address'], '127.0.0.1')
  assert.equal(first!['command'], 'POST /v2/tokens')
  assert.equal(lines[10]!['principal'], `token ${made.clientId}`)
  for (const secret of [processToken, made.token.split(':')[2]!, 'no-such-token'])
    assert(!server.err.includes(secret))
})

test('the audit log omits commands that do not change the schema', async () => {
  const before = (await auditLines(0)).length
  const ks = '/default_keyspace'
  const ifNotExists = { options: { ifNotExists: true } }
  const ifExists = { options: { ifExists: true } }
  const definition = { columns: { id: 'int', n: 'int' }, primaryKey: 'id' }
  const commands: readonly (readonly [string, string, object])[] = [
    ['', 'createKeyspace', { name: 'audited' }],
    ['', 'dropKeyspace', { name: 'audited' }],
    [ks, 'createCollection', { name: 'c' }],
    [ks, 'deleteCollection', { name: 'c' }],
    [ks, 'createType', { name: 'u', definition: { fields: { a: 'int' } }, ...ifNotExists }],
    [ks, 'dropType', { name: 'u', ...ifExists }],
    [ks, 'createTable', { name: 't', definition, ...ifNotExists }],
    [`${ks}/t`, 'createIndex', { name: 'i', definition: { column: 'n' }, ...ifNotExists }],
    [ks, 'dropIndex', { name: 'i', ...ifExists }],
    [ks, 'dropTable', { name: 't', ...ifExists }],
  ]
  for (const [path, command, fields] of commands)
    for (let time = 1; time <= 2; time++) {
      const { body } = await server.command(path, { [command]: fields })
      assert.deepEqual(body, { status: { ok: 1 } })
    }
  const { body } = await server.command(ks, { createCollection: { name: 'not a name' } })
  assert.equal(body.errors!.length, 1)
  await server.command(ks, { createCollection: { name: 'the_end' } })
  const lines = (await auditLines(before + commands.length + 1)).slice(before)
  assert.deepEqual(
    lines.map((line) => line['change']),
    [...commands.map(([, name]) => name), 'createCollection'],
  )
})
