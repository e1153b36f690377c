/** Requests, paths, tokens and versions: sections 1, 4.1, 5 and 9. */
import assert from 'node:assert/strict'
import { defaultRoleId } from '../../src/auth/roles.ts'
import { testToken, type Answer } from '../harness.ts'
import { isRefusal, type Api } from './api.ts'
import type { Area } from './statement.ts'

const prefix = '/api/json/v1'
const shelf = `${prefix}/default_keyspace/shelf`

/** Sends a POST to any path. */
function post(
  api: Api,
  path: string,
  body: unknown,
  headers: Record<string, string> = { Token: testToken },
): Promise<Answer> {
  return api.server.send(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
}

function isRefused(answer: Answer, http: number, expected: string): void {
  assert.equal(answer.http, http)
  isRefusal(answer, expected)
}

async function makeToken(api: Api, role: string): Promise<string> {
  const { body } = await api.manage('/tokens', { roles: [defaultRoleId(role)] })
  return (body as { token: string }).token
}

const nothing = { data: { documents: [], nextPageState: null } }

export const http: Area = {
  name: 'HTTP',
  prepare: (api) => api.ok('', { createCollection: { name: 'shelf' } }),
  statements: [
    {
      id: 'http-01',
      section: '4.1',
      says: 'commands for keyspaces are sent to the path of a keyspace',
      run: async (api) => {
        const body = { deleteCollection: { name: 'absent' } }
        const answer = await post(api, `${prefix}/default_keyspace`, body)
        assert.deepEqual(answer.body, { status: { ok: 1 } })
      },
    },
    {
      id: 'http-02',
      section: '4.1',
      says: 'commands for collections are sent to the path of a collection',
      run: async (api) => {
        const answer = await post(api, shelf, { find: {} })
        assert.deepEqual(answer.body, nothing)
      },
    },
    {
      id: 'http-03',
      section: '4.2',
      says: 'a command for collections is unknown at the path of a keyspace',
      run: (api) => api.refuses('', { find: {} }, '/COMMAND_UNKNOWN'),
    },
    {
      id: 'http-04',
      section: '4.4',
      says: 'a command for keyspaces is unknown at the path of a collection',
      run: (api) => api.refuses('shelf', { findCollections: {} }, '/COMMAND_UNKNOWN'),
    },
    {
      id: 'http-05',
      section: '1',
      says: 'a command that does not exist is refused as unknown',
      run: (api) => api.refuses('shelf', { ponder: {} }, '/COMMAND_UNKNOWN'),
    },
    {
      id: 'http-06',
      section: '4.1',
      says: 'GET is not allowed: the method is always POST',
      run: async (api) => {
        const request = { method: 'GET', headers: { Token: testToken } }
        isRefused(await api.server.send(shelf, request), 405, '/UNSUPPORTED_METHOD')
      },
    },
    {
      id: 'http-07',
      section: '4.1',
      says: 'DELETE is not allowed at the path of a keyspace',
      run: async (api) => {
        const request = { method: 'DELETE', headers: { Token: testToken } }
        const answer = await api.server.send(`${prefix}/default_keyspace`, request)
        isRefused(answer, 405, '/UNSUPPORTED_METHOD')
      },
    },
    {
      id: 'http-08',
      section: '1',
      says: 'a body with two commands is refused',
      run: (api) =>
        api.refuses('shelf', { find: {}, findOne: {} }, '/REQUEST_STRUCTURE_MISMATCH'),
    },
    {
      id: 'http-09',
      section: '1',
      says: 'a body without a command is refused',
      run: (api) => api.refuses('shelf', {}, '/REQUEST_STRUCTURE_MISMATCH'),
    },
    {
      id: 'http-10',
      section: '1',
      says: 'a body that is an array is refused',
      run: (api) => api.refuses('shelf', [{ find: {} }], '/REQUEST_STRUCTURE_MISMATCH'),
    },
    {
      id: 'http-11',
      section: '1',
      says: 'the value of a command is an object',
      run: (api) => api.refuses('shelf', { find: [] }, '/REQUEST_STRUCTURE_MISMATCH'),
    },
    {
      id: 'http-12',
      section: '1',
      says: 'a parameter that the command does not have is refused',
      run: (api) => api.refuses('shelf', { find: { depth: 1 } }, '/COMMAND_FIELD_UNKNOWN'),
    },
    {
      id: 'http-13',
      section: '1',
      says: 'a body that is not JSON is refused',
      run: (api) => api.refuses('shelf', '{"find": {', '/REQUEST_NOT_JSON'),
    },
    {
      id: 'http-14',
      section: '4.1',
      says: 'a body of another content type is answered with 415',
      run: async (api) => {
        const headers = { Token: testToken, 'Content-Type': 'text/plain' }
        const answer = await post(api, shelf, { find: {} }, headers)
        isRefused(answer, 415, '/UNSUPPORTED_CONTENT_TYPE')
      },
    },
    {
      id: 'http-15',
      section: '4.1',
      says: 'the reply is JSON',
      run: async (api) => {
        const { headers } = await post(api, shelf, { find: {} })
        assert.match(headers.get('content-type')!, /^application\/json\b/)
      },
    },
    {
      id: 'http-16',
      section: '2.2',
      says: 'a keyspace that does not exist is reported',
      run: async (api) => {
        const answer = await post(api, `${prefix}/nowhere`, { findCollections: {} })
        isRefused(answer, 200, 'SCHEMA/UNKNOWN_KEYSPACE')
      },
    },
    {
      id: 'http-17',
      section: '1',
      says: 'a collection must exist before a document is inserted',
      run: (api) =>
        api.refuses(
          'nowhere',
          { insertOne: { document: {} } },
          'SCHEMA/UNKNOWN_COLLECTION_OR_TABLE',
        ),
    },
    {
      id: 'http-18',
      section: '1',
      says: 'a request cannot set a consistency level',
      run: (api) =>
        api.refuses(
          'shelf',
          { find: { options: { consistency: 'ONE' } } },
          '/COMMAND_FIELD_UNKNOWN',
        ),
    },
    {
      id: 'http-19',
      section: '5',
      says: 'a request without a token is answered with 401',
      run: async (api) => {
        const answer = await post(api, shelf, { find: {} }, {})
        isRefused(answer, 401, 'SECURITY/MISSING_AUTHENTICATION_TOKEN')
      },
    },
    {
      id: 'http-20',
      section: '5',
      says: 'every path requires the token',
      run: async (api) => {
        const answer = await post(api, prefix, { findKeyspaces: {} }, {})
        isRefused(answer, 401, 'SECURITY/MISSING_AUTHENTICATION_TOKEN')
      },
    },
    {
      id: 'http-21',
      section: '5',
      says: 'a token that was not issued is answered with 401',
      run: async (api) => {
        const answer = await post(api, shelf, { find: {} }, { Token: 'unissued' })
        isRefused(answer, 401, 'SECURITY/UNAUTHENTICATED_REQUEST')
      },
    },
    {
      id: 'http-22',
      section: '5',
      says: 'the management API creates tokens: a prefix, a colon and a unique string',
      run: async (api) => {
        const token = await makeToken(api, 'RO User')
        assert.match(token, /^Stela:.+/)
        assert.notEqual(await makeToken(api, 'RO User'), token)
      },
    },
    {
      id: 'http-23',
      section: '5',
      says: 'a token with the role of a database administrator reads and writes',
      run: async (api) => {
        const Token = await makeToken(api, 'Database Administrator')
        const body = { deleteOne: { filter: { _id: 'absent' } } }
        const answer = await post(api, shelf, body, { Token })
        assert.deepEqual(answer.body, { status: { deletedCount: 0 } })
      },
    },
    {
      id: 'http-24',
      section: '5',
      says: 'a token without the role for the command is answered with 401',
      run: async (api) => {
        const Token = await makeToken(api, 'RO User')
        const answer = await post(api, shelf, { insertOne: { document: {} } }, { Token })
        isRefused(answer, 401, 'SECURITY/UNAUTHORIZED_ACCESS')
      },
    },
    {
      id: 'http-25',
      section: '9',
      says: 'the version is part of the path: there is no v2',
      run: async (api) => {
        const path = '/api/json/v2/default_keyspace/shelf'
        isRefused(await post(api, path, { find: {} }), 404, '/UNKNOWN_PATH')
      },
    },
    {
      id: 'http-26',
      section: '1',
      says: 'only databases with vector support are served',
      run: async (api) => {
        const database = { name: 'd', cloudProvider: 'AWS', region: 'local' }
        const plain = { ...database, dbType: 'cassandra' }
        const { http: status } = await api.manage('/databases', plain)
        assert.equal(status, 422)
      },
    },
    {
      id: 'http-27',
      section: '5',
      says: 'management of an organization requires a higher role than Database Administrator',
      run: async (api) => {
        const token = await makeToken(api, 'Database Administrator')
        const roles = [defaultRoleId('RO User')]
        const { http: status } = await api.manage('/tokens', { roles }, token)
        assert.equal(status, 403)
      },
    },
  ],
}
