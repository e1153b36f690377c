/** The engine receives the credentials of each request, and uses them for that request only. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accountOf, accountToken } from '../../src/auth/tokens.ts'
import type { Engine, EngineCredentials } from '../../src/engine/contract.ts'
import { EngineError } from '../../src/engine/errors.ts'
import { openEmbedded } from '../engine/embedded/embedded-store.ts'
import { startServer, testToken } from '../harness.ts'

const ann = { name: 'ann', password: 'pässword:1' }
const bob = { name: 'bob', password: '' }

/** An engine with its own accounts, in which Bob has no read permission. */
function withAccounts(engine: Engine, seen: EngineCredentials[]): Engine {
  const bobs: Engine = {
    ...engine,
    read: () => Promise.reject(new EngineError('unauthorized', 'not for bob')),
  }
  return {
    ...engine,
    as(credentials) {
      seen.push(credentials)
      return credentials.account?.name === 'bob' ? bobs : { ...engine }
    },
  }
}

test('each request uses the engine credentials of its own token', async (context) => {
  const { engine } = await openEmbedded(context)
  const seen: EngineCredentials[] = []
  const accounts = [ann, bob]
  const server = await startServer({ accounts }, withAccounts(engine, seen))
  context.after(() => server.close())
  const send = (path: string, body: object, token: string) =>
    server.command(path, body, { Token: token })
  const books = '/default_keyspace/books'
  await send(
    '/default_keyspace',
    { createCollection: { name: 'books' } },
    accountToken(ann),
  )
  await send(books, { insertOne: { document: { _id: 1 } } }, testToken)

  for (const [account, expected] of [
    [ann, []],
    [bob, ['UNAUTHORIZED_ACCESS']],
    [ann, []],
    [bob, ['UNAUTHORIZED_ACCESS']],
  ] as const) {
    seen.length = 0
    const answer = await send(books, { findOne: {} }, accountToken(account))
    assert.deepEqual(answer.codes, expected)
    assert.equal(answer.http, expected.length === 0 ? 200 : 401)
    assert.equal(seen[0]!.token, accountToken(account))
    assert.deepEqual(seen[0]!.account, account)
  }
  seen.length = 0
  await send(books, { findOne: {} }, testToken)
  assert.equal(seen[0]!.token, testToken)
  assert.equal(seen[0]!.account, undefined)
})

test('the token of an account is accepted only in the spelling that clients produce', () => {
  for (const account of [ann, bob, { name: '', password: 'x' }])
    assert.deepEqual(accountOf(accountToken(account)), account)
  for (const token of [
    'Cassandra:YW5u',
    'Cassandra:YW5u:eA==:',
    'Cassandra:YW5u:eA',
    'Cassandra:YW5u:e-_=',
    'Cassandra:/w==:eA==',
    'cassandra:YW5u:eA==',
    'Stela:YW5u:eA==',
  ])
    assert.equal(accountOf(token), undefined, token)
})
