/**
 * Commands whose synchronous work takes longer than the command timeout. The server must abort them
 * during this work: each command would get another reply if its work were completed.
 */
import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import { startServer, temporaryFolder, type Answer, type TestServer } from '../harness.ts'

/** In milliseconds. Every kind of work below takes longer, even on a fast machine. */
const commandTimeoutMs = 5

/** Nested n-gram filters, which take millions of steps and produce no term. */
const analyzer = {
  filters: [
    ...Array.from({ length: 9 }, () => ({
      name: 'nGram',
      args: { minGramSize: '1', maxGramSize: '255' },
    })),
    { name: 'length', args: { min: '500', max: '500' } },
  ],
}
const text = 'abc '.repeat(100)

const documents = '/documents'
const rows = '/rows'

interface Case {
  readonly path: string
  readonly command: object | string
  readonly timeout: 'TIMEOUT_READING_DATA' | 'TIMEOUT_WRITING_DATA'
  /** Titles of the errors of this command if it has no timeout. */
  readonly otherwise: readonly string[]
}

const slow = ['Text analysis exceeds its limit']
const writing = { timeout: 'TIMEOUT_WRITING_DATA', otherwise: slow } as const
const reading = { timeout: 'TIMEOUT_READING_DATA', otherwise: slow } as const

const inserted = { _id: 'late', $lexical: text }
const row = { id: 1, body: text }
const $set = { $lexical: text }

const cases: Readonly<Record<string, Case>> = {
  'a body is parsed': {
    path: documents,
    command: `[${'{},'.repeat(900_000)}`,
    timeout: 'TIMEOUT_READING_DATA',
    otherwise: ['The request body is not valid JSON'],
  },
  'a text to insert is analyzed': {
    ...{ path: documents, command: { insertOne: { document: inserted } } },
    ...writing,
  },
  'texts to insert are analyzed': {
    ...{ path: documents, command: { insertMany: { documents: [inserted] } } },
    ...writing,
  },
  'a text of an update is analyzed': {
    path: documents,
    command: { updateOne: { filter: { _id: 'short' }, update: { $set } } },
    ...writing,
  },
  'a text to match is analyzed': {
    path: documents,
    command: { find: { filter: { $lexical: { $match: text } } } },
    ...reading,
  },
  'a text to count by is analyzed': {
    path: documents,
    command: { countDocuments: { filter: { $lexical: { $match: text } } } },
    ...reading,
  },
  'a text to sort by is analyzed': {
    ...{ path: documents, command: { find: { sort: { $lexical: text } } } },
    ...reading,
  },
  'a text of a row is analyzed': {
    ...{ path: rows, command: { insertOne: { document: row } } },
    ...writing,
  },
  'a text to match rows by is analyzed': {
    ...{ path: rows, command: { find: { filter: { body: { $match: text } } } } },
    ...reading,
  },
  'a text to sort rows by is analyzed': {
    ...{ path: rows, command: { find: { sort: { body: text } } } },
    ...reading,
  },
  'documents are read and printed': {
    path: '/long',
    command: { find: { projection: { none: 0 } } },
    timeout: 'TIMEOUT_READING_DATA',
    otherwise: [],
  },
}

describe('a slow command', () => {
  let server: TestServer
  let dataDir: string

  const send = (path: string, command: object | string): Promise<Answer> =>
    server.command(`/default_keyspace${path}`, command)

  const done = async (path: string, command: object) => {
    const answer = await send(path, command)
    assert.deepEqual(answer.codes, [], answer.text)
    return answer
  }

  const restart = async (config: Parameters<typeof startServer>[0]) => {
    await server.stop()
    server = await startServer({ checked: false, durable: false, dataDir, ...config })
  }

  before(async () => {
    dataDir = await temporaryFolder()
    server = await startServer({ checked: false, durable: false, dataDir })
    const lexical = { enabled: true, analyzer }
    await done('', { createCollection: { name: 'documents', options: { lexical } } })
    await done(documents, { insertOne: { document: { _id: 'short', $lexical: 'a' } } })
    const columns = { id: 'int', body: 'text' }
    const definition = { columns, primaryKey: 'id' }
    await done('', { createTable: { name: 'rows', definition } })
    const index = { column: 'body', options: { analyzer } }
    await done(rows, { createTextIndex: { name: 'words', definition: index } })
    const options = { indexing: { deny: ['elements'] } }
    await done('', { createCollection: { name: 'long', options } })
    const elements = Array.from({ length: 40_000 }, (_, k) => ({ k, b: 1 }))
    for (let _id = 0; _id < 10; _id++)
      await done('/long', { insertOne: { document: { _id, elements } } })
  })
  after(async () => {
    await server.stop()
    await rm(dataDir, { recursive: true })
  })

  for (const [work, { path, command, otherwise }] of Object.entries(cases))
    test(`is not aborted without a timeout, while ${work}`, async () => {
      const { errors = [] } = (await send(path, command)).body
      assert.deepEqual(
        errors.map(({ title }) => title),
        otherwise,
      )
    })

  describe('is aborted at its timeout', () => {
    before(() => restart({ commandTimeoutMs }))
    after(() => restart({}))
    for (const [work, { path, command, timeout }] of Object.entries(cases))
      test(`while ${work}`, async () => {
        assert.deepEqual((await send(path, command)).codes, [timeout])
      })
  })

  test('that is aborted changes nothing in the database', async () => {
    const { body } = await done(documents, { find: { projection: { $lexical: 1 } } })
    assert.deepEqual(body.data!.documents, [{ _id: 'short', $lexical: 'a' }])
    assert.deepEqual((await done(rows, { find: {} })).body.data!.documents, [])
  })
})
