/** Sends commands over HTTP, and compares whole replies. */
import assert from 'node:assert/strict'
import type { Config } from '../../src/settings/config.ts'
import { testToken, type Answer, type Envelope, type TestServer } from '../harness.ts'

/** Members of an error reply other than its single error. */
interface Beside {
  readonly status?: object
  readonly documentIds?: readonly unknown[]
}

export class Api {
  readonly server: TestServer
  readonly #startOther: (config: Partial<Config>) => Promise<TestServer>

  constructor(
    server: TestServer,
    startOther: (config: Partial<Config>) => Promise<TestServer>,
  ) {
    this.server = server
    this.#startOther = startOther
  }

  /** Calls `run` with a server that has these settings. */
  async withSettings(config: Partial<Config>, run: (api: Api) => Promise<void>) {
    const server = await this.#startOther(config)
    try {
      await run(new Api(server, this.#startOther))
    } finally {
      await server.close()
    }
  }

  /**
   * Sends a body to a collection or table of the keyspace, or to the keyspace itself if `target` is
   * ''.
   */
  send(target: string, body: unknown): Promise<Answer> {
    const path = target === '' ? '' : `/${target}`
    return this.server.send(`/api/json/v1/default_keyspace${path}`, {
      method: 'POST',
      headers: { Token: testToken, 'Content-Type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  }

  /** Posts to the management API, as the administrator unless another token is given. */
  async manage(path: string, body: object, Token = testToken) {
    const response = await fetch(`${this.server.adminUrl}/v2${path}`, {
      method: 'POST',
      headers: { Token, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
    return { http: response.status, body: (await response.json()) as unknown }
  }

  /** Sends a command, and asserts that the whole reply is `reply`. */
  async replies(target: string, body: unknown, reply: Envelope): Promise<void> {
    const answer = await this.send(target, body)
    assert.equal(answer.http, 200)
    assert.deepEqual(answer.body, reply, JSON.stringify(body))
  }

  ok(target: string, body: object): Promise<void> {
    return this.replies(target, body, { status: { ok: 1 } })
  }

  /** Sends a command that must succeed, and returns its reply. */
  async run(target: string, body: object): Promise<Envelope> {
    const answer = await this.send(target, body)
    assert.deepEqual(answer.codes, [], `${JSON.stringify(body)}: ${answer.text}`)
    return answer.body
  }

  /** Sends a command that must be rejected with one error. `expected` is its scope and code. */
  async refuses(
    target: string,
    body: unknown,
    expected: string,
    beside: Beside = {},
  ): Promise<void> {
    const answer = await this.send(target, body)
    assert.equal(answer.http, 200)
    isRefusal(answer, expected, beside)
  }

  /** Sends a find that must return exactly these records, on one page and in this order. */
  async finds(target: string, find: object, records: readonly object[]): Promise<void> {
    const { data } = await this.run(target, { find })
    assert.deepEqual(data, { documents: records, nextPageState: null })
  }

  /** Asserts that a filter matches exactly the documents with these ids. */
  matches(collection: string, filter: object, ids: readonly unknown[]): Promise<void> {
    const find = { filter, sort: { _id: 1 }, projection: { _id: 1 } }
    const documents = ids.map((_id) => ({ _id }))
    return this.replies(collection, { find }, { data: { documents, nextPageState: null } })
  }

  /** Sends a find whose warnings must have exactly these codes. */
  async warns(target: string, find: object, ...codes: readonly string[]): Promise<void> {
    const { status } = await this.run(target, { find })
    const warnings = status?.warnings ?? []
    assert.deepEqual(
      warnings.map(({ errorCode }) => errorCode),
      codes,
    )
    for (const { family, scope } of warnings)
      assert.deepEqual([family, scope], ['REQUEST', 'WARNING'])
  }

  /**
   * Inserts a document into a collection, updates it, and asserts that the updated document is
   * exactly `after`.
   */
  async updates(
    collection: string,
    before: object,
    update: object,
    after: object,
  ): Promise<void> {
    const { status } = await this.run(collection, { insertOne: { document: before } })
    const [_id] = status!['insertedIds'] as unknown[]
    await this.replies(
      collection,
      { updateOne: { filter: { _id }, update } },
      { status: { matchedCount: 1, modifiedCount: 1 } },
    )
    await this.finds(collection, { filter: { _id } }, [after])
  }
}

/** Asserts a whole error reply, except for the texts of its error. */
export function isRefusal(answer: Answer, expected: string, beside: Beside = {}): void {
  const [scope, errorCode] = expected.split('/')
  const { errors = [], ...others } = answer.body
  const { status, ...members } = beside
  assert.deepEqual(others, status === undefined ? {} : { status }, answer.text)
  const [error] = errors
  assert(error !== undefined && errors.length === 1, answer.text)
  const { id, title, message, ...rest } = error
  const wanted = { family: 'REQUEST', scope, errorCode, ...members }
  assert.deepEqual(rest, wanted, answer.text)
  assert.match(id, /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/)
  assert(title !== '' && message !== '', answer.text)
}
