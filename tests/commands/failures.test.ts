import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import type { Effect } from '../../src/auth/principal.ts'
import { explainFailure } from '../../src/commands/dispatch/failures.ts'
import { openEmbeddedEngine } from '../../src/engine/embedded/engine.ts'
import type { Engine } from '../../src/engine/contract.ts'
import { EngineError, type EngineErrorKind } from '../../src/engine/errors.ts'
import { ApiErrors, apiError, type ApiError } from '../../src/errors/api-error.ts'
import { temporaryFolder } from '../harness.ts'

function wireOf({ family, scope, code, status }: ApiError) {
  return [family, scope, code, status]
}

describe('failures', () => {
  let folder: string
  let engine: Engine
  before(async () => {
    folder = await temporaryFolder()
    engine = await openEmbeddedEngine({
      dataDir: folder,
      durable: false,
      log: () => undefined,
    })
  })
  after(async () => {
    await engine.close()
    await rm(folder, { recursive: true })
  })

  const logged: unknown[] = []
  const log = { error: (details: object) => logged.push(details) }

  async function explain(
    failure: unknown,
    keyspace = 'default_keyspace',
    does: Effect = 'read',
  ) {
    logged.length = 0
    const options = new Map([['pageState', 'xyz']])
    const fields = new Map([['options', options]])
    const scene = { keyspace, target: 'books', command: 'find', does, fields }
    return explainFailure(failure, scene, () => engine, log)
  }

  async function explainEngine(
    kind: EngineErrorKind,
    keyspace?: string,
    does?: Effect,
  ): Promise<ApiError> {
    const [error] = await explain(new EngineError(kind, 'the reason'), keyspace, does)
    return error!
  }

  test('that are API errors are returned unchanged', async () => {
    const one = apiError('UNAUTHENTICATED_REQUEST')
    const two = apiError('UNKNOWN_KEYSPACE', { keyspace: 'x' })
    assert.deepEqual(await explain(one), [one])
    assert.deepEqual(await explain(new ApiErrors([one, two])), [one, two])
    assert.equal(logged.length, 0)
  })

  test('contain the name of the collection when it is missing', async () => {
    const target = await explainEngine('gone')
    assert.equal(target.code, 'UNKNOWN_COLLECTION_OR_TABLE')
    assert(target.message.includes('"books"'))
    assert.equal((await explainEngine('gone', 'elsewhere')).code, 'UNKNOWN_KEYSPACE')
  })

  test('contain the page state when it is invalid', async () => {
    const error = await explainEngine('position')
    assert.equal(error.code, 'COMMAND_FIELD_VALUE_INVALID')
    for (const part of ['command.options.pageState', '"xyz"', 'the reason'])
      assert(error.message.includes(part))
  })

  for (const [kind, code] of [
    ['read', 'FAILED_READ_REQUEST'],
    ['damaged', 'STORED_DATA_DAMAGED'],
    ['unparseable', 'DOCUMENT_FROM_DB_UNPARSEABLE'],
    ['schema', 'CORRUPTED_COLLECTION_SCHEMA'],
    ['write', 'FAILED_WRITE_REQUEST'],
  ] as const)
    test(`are logged and name the collection when the engine reports the error '${kind}'`, async () => {
      const error = await explainEngine(kind)
      assert.equal(error.code, code)
      assert.equal(error.family, 'SERVER')
      assert(error.message.includes('default_keyspace.books'))
      assert.equal(logged.length, 1)
    })

  for (const [does, code, says] of [
    ['read', 'TIMEOUT_READING_DATA', 'Nothing was changed'],
    ['describe', 'TIMEOUT_READING_DATA', 'Nothing was changed'],
    ['write', 'TIMEOUT_WRITING_DATA', 'may have been written'],
    ['change', 'TIMEOUT_WRITING_DATA', 'may have been written'],
    ['drop', 'TIMEOUT_WRITING_DATA', 'may have been written'],
  ] as const)
    test(`state whether data may have changed when the engine exceeds its timeout: ${does}`, async () => {
      const error = await explainEngine('timeout', undefined, does)
      assert.deepEqual(wireOf(error), ['SERVER', 'DATABASE', code, 200])
      for (const part of ['find on default_keyspace.books', 'the reason', says])
        assert(error.message.includes(part), error.message)
      assert.equal(logged.length, 1)
    })

  for (const [kind, expected, entries] of [
    ['unavailable', ['SERVER', 'DATABASE', 'UNAVAILABLE_DATABASE', 200], 1],
    ['unsupported', ['SERVER', 'DATABASE', 'UNSUPPORTED_DATABASE_QUERY', 200], 0],
    ['value', ['REQUEST', 'DOCUMENT', 'INVALID_COLUMN_VALUES', 200], 0],
  ] as const)
    test(`contain the reason when the engine reports the error '${kind}'`, async () => {
      const error = await explainEngine(kind)
      assert.deepEqual(wireOf(error), expected)
      for (const part of ['default_keyspace.books', 'the reason'])
        assert(error.message.includes(part), error.message)
      assert.equal(logged.length, entries)
    })

  test('have the codes of invalid tokens when the engine rejects the credentials', async () => {
    const unknown = await explainEngine('unauthenticated')
    const security = ['REQUEST', 'SECURITY']
    assert.deepEqual(wireOf(unknown), [...security, 'UNAUTHENTICATED_REQUEST', 401])
    const forbidden = await explainEngine('unauthorized', undefined, 'alter')
    assert.deepEqual(wireOf(forbidden), [...security, 'UNAUTHORIZED_ACCESS', 401])
    assert(forbidden.message.includes('change the schema of default_keyspace.books'))
    assert.equal(logged.length, 0)
  })

  test('from an engine that is closing are not logged', async () => {
    assert.equal((await explainEngine('closed')).code, 'UNEXPECTED_SERVER_ERROR')
    assert.equal(logged.length, 0)
  })

  test('from commands whose client disconnected are not logged', async () => {
    const abort = new AbortController()
    abort.abort()
    const [error] = await explain(abort.signal.reason)
    assert.equal(error!.code, 'UNEXPECTED_SERVER_ERROR')
    assert.equal(logged.length, 0)
  })

  test('from internal errors are logged in full and returned as one line', async () => {
    const mistake = new TypeError('not a function\n    at somewhere')
    const [error] = await explain(mistake)
    assert.equal(error!.code, 'UNEXPECTED_SERVER_ERROR')
    assert(error!.message.startsWith('TypeError: not a function.'))
    assert(!error!.message.includes('\n') && !error!.message.includes('somewhere'))
    assert.deepEqual(logged, [{ err: mistake, id: error!.id }])
    assert.equal((await explain('a thrown string'))[0]!.code, 'UNEXPECTED_SERVER_ERROR')
  })
})
