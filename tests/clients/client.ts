/** The official client, connected to a server that belongs to the test file. */
import assert from 'node:assert/strict'
import { after } from 'node:test'
import {
  CursorError,
  DataAPIClient,
  DataAPIResponseError,
  type Collection,
  type CreateCollectionOptions,
  type DataAPIErrorDescriptor,
  type Db,
  type FindCursor,
} from '@datastax/astra-db-ts'
import type { Config } from '../../src/settings/config.ts'
import { startServer, testToken, type TestServer } from '../harness.ts'

export type Document = Record<string, unknown>

export const keyspace = 'default_keyspace'

const hangingMs = 600_000

/** Timeouts that only abort hung tests. A busy machine may exceed the defaults of the client. */
export const timeoutDefaults = {
  requestTimeoutMs: hangingMs,
  generalMethodTimeoutMs: hangingMs,
  collectionAdminTimeoutMs: hangingMs,
  tableAdminTimeoutMs: hangingMs,
  keyspaceAdminTimeoutMs: hangingMs,
}

/** A server for the tests of a file, with its clients; stopped after the last test. */
export class Service {
  #server: TestServer
  #clients: DataAPIClient[] = []
  #count = 0

  private constructor(server: TestServer) {
    this.#server = server
    after(async () => {
      await this.#closeClients()
      await this.#server.close()
    })
  }

  static async start(config: Partial<Config> = {}): Promise<Service> {
    return new Service(await startServer(config))
  }

  get url(): string {
    return this.#server.url
  }

  /** Connects a new client, as an application does. */
  connect(token: ConstructorParameters<typeof DataAPIClient>[0] = testToken): Db {
    const client = new DataAPIClient(token, { environment: 'hcd' })
    this.#clients.push(client)
    return client.db(this.url, { keyspace, timeoutDefaults })
  }

  /** Creates a collection for one test, with the given documents. */
  async collection(
    documents: readonly Document[] = [],
    options: CreateCollectionOptions<Document> = {},
  ): Promise<Collection<Document>> {
    const collection = await this.connect().createCollection<Document>(
      `c${++this.#count}`,
      options,
    )
    if (documents.length > 0) await collection.insertMany(documents, { ordered: true })
    return collection
  }

  /** Starts another server on the same data, as in an update of the software. */
  async restart(): Promise<void> {
    await this.#closeClients()
    this.#server = await this.#server.restart()
  }

  async #closeClients(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()))
    this.#clients = []
  }
}

/** An error as the client returns it. The type declared by the client omits `documentIds`. */
export type Descriptor = DataAPIErrorDescriptor & {
  readonly documentIds?: readonly unknown[]
}

/** Returns the error of a command that must fail with exactly one error. */
export async function refusal(attempt: Promise<unknown>): Promise<Descriptor> {
  const { errorDescriptors } = await thrown(DataAPIResponseError, attempt)
  assert.equal(errorDescriptors.length, 1)
  return errorDescriptors[0]
}

/** Returns the error that an attempt must fail with, and checks its class. */
export async function thrown<E extends Error>(
  kind: abstract new (...args: never[]) => E,
  attempt: Promise<unknown>,
): Promise<E> {
  const outcome = await attempt.then(
    () => assert.fail('it was to fail'),
    (error: unknown) => error,
  )
  if (outcome instanceof kind) return outcome
  throw outcome
}

/** Asserts that a started cursor rejects other clauses and can only be closed. */
export async function assertUnchangeable(cursor: FindCursor<unknown>): Promise<void> {
  await cursor.next()
  for (const change of [
    () => cursor.filter({}),
    () => cursor.sort({ n: 1 }),
    () => cursor.limit(1),
    () => cursor.project({ n: 1 }),
  ])
    assert.throws(change, CursorError)
  cursor.close()
  assert.equal(await cursor.next(), null)
}

export function numbered(count: number): Document[] {
  return Array.from({ length: count }, (_, n) => ({ _id: n, n, even: n % 2 === 0 }))
}

/** Every document, search fields included, by ascending _id. */
export function everything(collection: Collection<Document>): Promise<Document[]> {
  return collection.find({}, { sort: { _id: 1 }, projection: { '*': 1 } }).toArray()
}
