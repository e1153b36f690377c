/** Collections of a test server, with helpers that send commands and check their replies. */
import assert from 'node:assert/strict'
import type { Answer, TestServer } from '../harness.ts'
import { RunningServer } from './running-server.ts'

type Document = Record<string, unknown>

export class Collections extends RunningServer {
  #count = 0

  /** Creates a collection that contains these documents. */
  async create(documents: readonly object[] = [], options: object = {}): Promise<Target> {
    const name = `c${++this.#count}`
    const created = await this.server.command('/default_keyspace', {
      createCollection: { name, options },
    })
    assert.equal(created.text, '{"status":{"ok":1}}')
    const target = new Target(() => this.server, `/default_keyspace/${name}`)
    for (let at = 0; at < documents.length; at += 100)
      await target.insert(...documents.slice(at, at + 100))
    return target
  }
}

export class Target {
  readonly #server: () => TestServer
  readonly #path: string

  constructor(server: () => TestServer, path: string) {
    this.#server = server
    this.#path = path
  }

  send(body: object | string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.#server().command(this.#path, body, headers)
  }

  /** Sends a command and asserts that it succeeds. */
  async run(body: object) {
    const answer = await this.send(body)
    assert.deepEqual(answer.codes, [], answer.text)
    assert.equal(answer.http, 200)
    return answer.body
  }

  /** Sends a command and asserts that it fails with exactly this one error and no result. */
  async refuse(body: object | string, code: string) {
    const answer = await this.send(body)
    assert.deepEqual(answer.codes, [code], answer.text)
    assert.equal(answer.http, 200)
    assert.equal(answer.body.data, undefined)
    return { ...answer.body.errors![0]!, status: answer.body.status }
  }

  async insert(...documents: readonly object[]): Promise<void> {
    const { status } = await this.run({
      insertMany: { documents, options: { ordered: true } },
    })
    assert.equal((status!['insertedIds'] as unknown[]).length, documents.length)
  }

  /** Every document, read page by page. */
  async all(clauses: object = {}): Promise<Document[]> {
    return (await this.pages(clauses)).flat()
  }

  async pages(clauses: object = {}, options: object = {}): Promise<Document[][]> {
    const pages: Document[][] = []
    for (let pageState: string | null | undefined; pageState !== null;) {
      const body = await this.run({
        find: { ...clauses, options: { ...options, pageState } },
      })
      const { documents, nextPageState } = body.data!
      pages.push([...documents!])
      pageState = nextPageState!
    }
    return pages
  }

  /** Every document, by ascending _id. */
  sorted(): Promise<Document[]> {
    return this.all({ sort: { _id: 1 } })
  }
}

export function numbered(count: number): Document[] {
  return Array.from({ length: count }, (_, i) => ({ _id: i, n: i, even: i % 2 === 0 }))
}
