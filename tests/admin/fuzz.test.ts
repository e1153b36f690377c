/** The management API answers arbitrary requests in its own format and keeps serving. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { AdminServer, messageIn } from './admin-server.ts'

/** Set SEED to repeat a failed run. */
const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31)
const admin = new AdminServer()

const routes = [
  ['POST', '/databases'],
  ['POST', '/clientIdSecrets'],
  ['POST', '/tokens'],
  ['POST', '/organizations/roles'],
  ['PUT', '/organizations/users'],
  ['PUT', '/organizations/users/x/roles'],
  ['POST', '/pcus/actions/get'],
] as const

const names = [
  ...['name', 'region', 'cloudProvider', 'keyspace', 'dbType', 'pcuGroupUUID', 'tier'],
  ...['roles', 'description', 'tokenExpiry', 'orgId', 'orgID', 'email', 'policy'],
]

const value = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom('x', 'AWS', 'vector', '2099-01-01T00:00:00Z', '__proto__', 'a.b'),
  fc.record({ resources: fc.jsonValue(), actions: fc.jsonValue() }),
)

const body = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }).map((json) => JSON.stringify(json)),
  fc
    .dictionary(fc.constantFrom(...names), value)
    .map((fields) => JSON.stringify({ name: 'x', ...fields })),
  fc.string(),
)

test('every request body gets an answer without an internal error', async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...routes), body, async ([method, path], sent) => {
      const answer = await admin.call(method, path, { body: sent })
      assert(answer.http < 500, answer.text)
      if (answer.http >= 400) messageIn(answer)
      const { id } = (answer.http === 201 ? answer.body : {}) as { id?: string }
      if (id !== undefined) await admin.ask('POST', `/databases/${id}/terminate`)
    }),
    { seed, numRuns: 150 },
  )
})

test('every path and query parameter gets an answer without an internal error', async () => {
  const part = fc.oneof(fc.string({ minLength: 1 }), fc.constantFrom('databases', '.', '%'))
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'PATCH'),
      fc.array(part, { maxLength: 4 }),
      fc.dictionary(
        fc.constantFrom('include', 'limit', 'provider', 'starting_after'),
        part,
      ),
      async (method, parts, query) => {
        const path = ['databases', ...parts].map(encodeURIComponent).join('/')
        const parameters = new URLSearchParams(query)
        const answer = await admin.call(method, `/${path}?${String(parameters)}`)
        assert(answer.http < 500, answer.text)
        if (answer.http >= 400 && answer.text !== '') messageIn(answer)
      },
    ),
    { seed, numRuns: 100 },
  )
})
