/**
 * Writers that remember acknowledged writes. Each writer changes its own documents, one request at
 * a time. So the stored state is known: it is the last acknowledged state or, if the last request
 * got no reply, possibly the requested state.
 */
import assert from 'node:assert/strict'
import type { Random } from './random.ts'
import type { ServerProcess } from './server-process.ts'

type Document = Readonly<Record<string, unknown>> & { readonly _id: string }

/** Possible stored states of a document, as JSON. Undefined means that the document is absent. */
type States = readonly (string | undefined)[]

export const collections = ['books', 'loans'] as const

type CollectionName = (typeof collections)[number]

const kinds = ['novel', 'poem', 'play', 'essay']

/** The _id of the counter that all writers increment. */
const counterId = 'counter'

export class WriteLoad {
  answered = 0
  inDoubt = 0
  readonly #random: Random
  /** Possible states of each document, by collection and _id. */
  readonly #documents = new Map<CollectionName, Map<string, States>>(
    collections.map((name) => [name, new Map()]),
  )
  /**
   * For each collection that writers create and delete, whether it exists: one value if known, or
   * both.
   */
  readonly #passing = new Map<string, readonly boolean[]>()
  #counted = 0
  #countedInDoubt = 0
  #nextNumber = 0

  constructor(random: Random) {
    this.#random = random
  }

  async prepare(server: ServerProcess): Promise<void> {
    for (const name of collections) {
      const options = name === 'loans' ? { indexing: { deny: ['body'] } } : {}
      await send(server, '', { createCollection: { name, options } })
    }
    await send(server, '/books', { insertOne: { document: { _id: counterId, n: 0 } } })
  }

  /** Writes until the server is killed. */
  async run(server: ServerProcess, writers: number): Promise<void> {
    await Promise.all(
      Array.from({ length: writers }, async (_, writer) => {
        const random = this.#random.fork()
        while (await this.#step(server, writer, random));
      }),
    )
  }

  /**
   * Compares the data of the server with the acknowledged writes, and adopts it as the known state.
   */
  async verify(server: ServerProcess): Promise<void> {
    await this.#verifyCollections(server)
    for (const name of collections) await this.#verifyDocuments(server, name)
  }

  /** Makes one random request; returns false if the server did not reply. */
  async #step(server: ServerProcess, writer: number, random: Random): Promise<boolean> {
    const name = random.pick(collections)
    const documents = this.#documents.get(name)!
    const own = [...documents].filter(
      ([id, [state]]) => state !== undefined && id.startsWith(`${writer}-`),
    )
    const choice = own.length < 5 ? random.below(2) : random.below(8)
    const known = (): Document => JSON.parse(random.pick(own)[1][0]!) as Document
    switch (choice) {
      case 0: {
        const document = this.#newDocument(name, writer, random)
        return this.#write(server, name, { insertOne: { document } }, [document])
      }
      case 1: {
        const count = 1 + random.below(20)
        const made = Array.from({ length: count }, () =>
          this.#newDocument(name, writer, random),
        )
        const options = { ordered: random.oneIn(2) }
        return this.#write(server, name, { insertMany: { documents: made, options } }, made)
      }
      case 2: {
        const { _id, ...fields } = known()
        const changes = { kind: random.pick(kinds), rank: random.below(100) }
        const update = { $set: changes, $inc: { n: 1 } }
        const n = (fields['n'] as number) + 1
        const after = { _id, ...fields, n, ...changes }
        return this.#write(server, name, { updateOne: { filter: { _id }, update } }, [
          after,
        ])
      }
      case 3: {
        const { _id } = known()
        const after = { ...this.#newDocument(name, writer, random), _id }
        const command = { findOneAndReplace: { filter: { _id }, replacement: after } }
        return this.#write(server, name, command, [after])
      }
      case 4: {
        const { _id } = known()
        return this.#write(server, name, { deleteOne: { filter: { _id } } }, [], [_id])
      }
      case 5:
        return random.oneIn(4) ? this.#comeOrGo(server, writer) : true
      default: {
        const update = { $inc: { n: 1 } }
        const filter = { _id: counterId }
        const answer = await attempt(server, '/books', { updateOne: { filter, update } })
        if (answer === undefined) this.#countedInDoubt++
        else this.#counted++
        return this.#note(answer !== undefined)
      }
    }
  }

  async #write(
    server: ServerProcess,
    name: CollectionName,
    command: object,
    written: readonly Document[],
    removed: readonly string[] = [],
  ): Promise<boolean> {
    const answer = await attempt(server, `/${name}`, command)
    const documents = this.#documents.get(name)!
    const after = new Map<string, string | undefined>(removed.map((id) => [id, undefined]))
    for (const document of written) after.set(document._id, JSON.stringify(document))
    for (const [id, state] of after) {
      const before = documents.get(id)?.[0]
      documents.set(id, answer === undefined ? [before, state] : [state])
    }
    return this.#note(answer !== undefined)
  }

  /** Creates the writer's own collection and inserts a document, or deletes the collection. */
  async #comeOrGo(server: ServerProcess, writer: number): Promise<boolean> {
    const name = `passing${writer}`
    const [exists] = this.#passing.get(name) ?? [false]
    const command = exists
      ? { deleteCollection: { name } }
      : { createCollection: { name, options: {} } }
    const answer = await attempt(server, '', command)
    this.#passing.set(name, answer === undefined ? [true, false] : [!exists])
    if (answer === undefined || exists) return this.#note(answer !== undefined)
    const filled = await attempt(server, `/${name}`, { insertOne: { document: { a: 1 } } })
    return this.#note(filled !== undefined)
  }

  #note(answered: boolean): boolean {
    if (answered) this.answered++
    else this.inDoubt++
    return answered
  }

  #newDocument(name: CollectionName, writer: number, random: Random): Document {
    const number = this.#nextNumber++
    return {
      _id: `${writer}-${number}`,
      n: number,
      kind: random.pick(kinds),
      tags: [random.pick(kinds), random.below(10), { deep: random.below(10) }],
      place: { shelf: random.below(50), row: null },
      // Long values fill the log, so that checkpoints occur.
      body: 'x'.repeat(name === 'loans' && random.oneIn(4) ? 100_000 : random.below(500)),
    }
  }

  async #verifyCollections(server: ServerProcess): Promise<void> {
    const { status } = (await send(server, '', { findCollections: {} })).body
    const found = new Set(status!['collections'] as string[])
    for (const name of collections) assert(found.delete(name), `${name} is gone`)
    for (const [name, states] of this.#passing) {
      const exists = found.delete(name)
      assert(states.includes(exists), `${name} ${exists ? 'is there' : 'is gone'}`)
      this.#passing.set(name, [exists])
      if (exists) await send(server, `/${name}`, { find: {} })
    }
    assert.deepEqual([...found], [], 'collections that nobody made')
  }

  async #verifyDocuments(server: ServerProcess, name: CollectionName): Promise<void> {
    const stored = await readAll(server, name)
    if (name === 'books') this.#verifyCounter(stored.get(counterId))
    const total = stored.size
    stored.delete(counterId)
    const documents = this.#documents.get(name)!
    for (const [id, states] of documents) {
      const found = stored.get(id)
      stored.delete(id)
      assert(
        states.includes(found),
        `${name} ${id}: ${found} instead of ${states.join(' or ')}`,
      )
      if (found === undefined) documents.delete(id)
      else documents.set(id, [found])
    }
    assert.deepEqual([...stored.keys()], [], 'documents that nobody wrote')

    const count = async (command: object) =>
      (await send(server, `/${name}`, command)).body.status!['count']
    assert.equal(await count({ countDocuments: {} }), total)
    assert.equal(await count({ estimatedDocumentCount: {} }), total)
    const parsed = [...documents.values()].map(([text]) => JSON.parse(text!) as Document)
    for (const kind of kinds)
      assert.equal(
        await count({ countDocuments: { filter: { kind } } }),
        parsed.filter((document) => document['kind'] === kind).length,
        `${name} by kind ${kind}`,
      )
    for (const { _id, n } of parsed.slice(-5)) {
      const { data } = (await send(server, `/${name}`, { find: { filter: { n } } })).body
      assert(data!.documents!.some((document) => document['_id'] === _id))
    }
  }

  #verifyCounter(text: string | undefined): void {
    const { n } = JSON.parse(text!) as { n: number }
    const most = this.#counted + this.#countedInDoubt
    assert(n >= this.#counted && n <= most, `counted ${n}, not ${this.#counted} to ${most}`)
    this.#counted = n
    this.#countedInDoubt = 0
  }
}

/** Every document as JSON, by _id. */
async function readAll(server: ServerProcess, name: string): Promise<Map<string, string>> {
  const stored = new Map<string, string>()
  let pageState: string | null | undefined = null
  do {
    const options: object = { pageState }
    const { data } = (await send(server, `/${name}`, { find: { options } })).body
    for (const document of data!.documents!) {
      const id = document['_id'] as string
      assert(!stored.has(id), `${id} was found twice`)
      stored.set(id, JSON.stringify(document))
    }
    pageState = data!.nextPageState
  } while (typeof pageState === 'string')
  return stored
}

async function send(server: ServerProcess, path: string, command: object) {
  const answer = await server.command(`/default_keyspace${path}`, command)
  assert.deepEqual(answer.codes, [], answer.text.slice(0, 1_000))
  return answer
}

/** The reply, or undefined if the server was killed before it replied. */
async function attempt(server: ServerProcess, path: string, command: object) {
  const answer = await server
    .command(`/default_keyspace${path}`, command)
    .catch(() => undefined)
  if (answer !== undefined) assert.deepEqual(answer.codes, [], answer.text.slice(0, 1_000))
  return answer
}
