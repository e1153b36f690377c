/**
 * If a request has two faults, it gets the error of the check that comes first. The faults below
 * are in the order of the checks. A test sends every pair of faults in one request.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { defaultLimits } from '../../src/limits.ts'
import { startServer, testToken, type TestServer } from '../harness.ts'

interface Request {
  path: string
  method: string
  headers: Record<string, string>
  body: string
}

interface Fault {
  readonly name: string
  readonly http: number
  readonly code: string
  apply(request: Request): void
}

const bodySizeMax = 5_000

const faults: readonly Fault[] = [
  {
    name: 'no token',
    http: 401,
    code: 'MISSING_AUTHENTICATION_TOKEN',
    apply(request) {
      delete request.headers['Token']
    },
  },
  {
    name: 'an invalid token',
    http: 401,
    code: 'UNAUTHENTICATED_REQUEST',
    apply(request) {
      if (request.headers['Token'] !== undefined) request.headers['Token'] = 'unknown'
    },
  },
  {
    name: 'a path with too many segments',
    http: 404,
    code: 'UNKNOWN_PATH',
    apply(request) {
      request.path += '/deeper/still'
    },
  },
  {
    name: 'an unsupported method',
    http: 405,
    code: 'UNSUPPORTED_METHOD',
    apply(request) {
      request.method = 'PUT'
    },
  },
  {
    name: 'an unknown database',
    http: 404,
    code: 'UNKNOWN_DATABASE',
    apply(request) {
      request.path = `/databases/${'0'.repeat(8)}-0000-0000-0000-${'0'.repeat(12)}${request.path}`
    },
  },
  {
    name: 'an unsupported content type',
    http: 415,
    code: 'UNSUPPORTED_CONTENT_TYPE',
    apply(request) {
      request.headers['Content-Type'] = 'text/plain'
    },
  },
  {
    name: 'a body over the limit',
    http: 413,
    code: 'BODY_TOO_LARGE',
    apply(request) {
      request.body = request.body.padEnd(bodySizeMax + 100)
    },
  },
  {
    name: 'a body that is not JSON',
    http: 200,
    code: 'REQUEST_NOT_JSON',
    apply(request) {
      request.body = request.body.replace('}', '')
    },
  },
  {
    name: 'a body with two commands',
    http: 200,
    code: 'REQUEST_STRUCTURE_MISMATCH',
    apply(request) {
      request.body = request.body.replace('{', '{"listIndexes":{},')
    },
  },
  {
    name: 'an unknown command',
    http: 200,
    code: 'COMMAND_UNKNOWN',
    apply(request) {
      request.body = request.body.replace('alterTable', 'alterChair')
    },
  },
  {
    name: 'an unknown field',
    http: 200,
    code: 'COMMAND_FIELD_UNKNOWN',
    apply(request) {
      request.body = request.body.replace('"operation"', '"colour"')
    },
  },
  {
    name: 'an unknown keyspace',
    http: 200,
    code: 'UNKNOWN_KEYSPACE',
    apply(request) {
      request.path = request.path.replace('/default_keyspace', '/no_keyspace')
    },
  },
  {
    name: 'an unknown collection',
    http: 200,
    code: 'UNKNOWN_COLLECTION_OR_TABLE',
    apply(request) {
      request.path = request.path.replace('/books', '/no_books')
    },
  },
  {
    name: 'a table command for a collection',
    http: 200,
    code: 'UNSUPPORTED_COLLECTION_COMMAND',
    apply() {
      // No change: the base request already has this fault.
    },
  },
]

describe('in the order of checks', () => {
  let server: TestServer
  before(async () => {
    server = await startServer({
      limits: { ...defaultLimits, documentLengthMax: 1_000, bodySizeMax },
      badCredentialsMax: 0,
    })
    const created = await server.command('/default_keyspace', {
      createCollection: { name: 'books' },
    })
    assert.deepEqual(created.body, { status: { ok: 1 } })
  })
  after(() => server.close())

  for (const [position, first] of faults.entries())
    for (const second of faults.slice(position))
      test(
        first === second
          ? `${first.name} is reported`
          : `${first.name} is reported before ${second.name}`,
        async () => {
          const request: Request = {
            path: '/v1/default_keyspace/books',
            method: 'POST',
            headers: { Token: testToken, 'Content-Type': 'application/json' },
            body: '{"alterTable":{"operation":{}}}',
          }
          first.apply(request)
          if (second !== first) second.apply(request)
          const answer = await server.send(request.path, request)
          assert.equal(answer.http, first.http)
          assert.deepEqual(answer.codes, [first.code])
        },
      )
})
