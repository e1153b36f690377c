/**
 * Writers of documents with vectors and texts. Like the writers of write-load.ts, they remember
 * acknowledged writes. `verify` compares search results with the documents.
 */
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import {
  bySimilarity,
  byTerms,
  hasTerms,
  type Scored,
  type SearchedDocument,
} from '../model/search-oracle.ts'
import { vectorsFrom } from '../search/vector/vectors.ts'
import type { Random } from './random.ts'
import type { ServerProcess } from './server-process.ts'

const dimension = 32
const metric = 'cosine'

/** Minimum recall of the ten nearest documents in approximate searches. */
const recallMin = 0.95
/** Maximum number of documents for which a vector search must be exact. */
const exactMax = 1_000

interface Note extends SearchedDocument {
  readonly _id: string
  readonly kind: string
  readonly batch: number
  readonly $vector?: readonly number[] | null
  readonly $lexical?: string
}

/** Possible stored states of a document, as JSON. Undefined means that the document is absent. */
type States = readonly (string | undefined)[]

/** Collections with their approximate numbers of documents. */
const sizes = { few: 700, many: 2_500 } as const

type CollectionName = keyof typeof sizes

const collections: readonly CollectionName[] = ['few', 'many', 'many']

const searchedCollections = Object.keys(sizes) as readonly CollectionName[]

const kinds = ['letter', 'memo', 'draft', 'list', 'note', 'plan']

const words = Array.from({ length: 60 }, (_, n) => `word${n}`)

/** Milliseconds that a writer pauses between two steps of a light load. */
const restMs = 25

export class SearchLoad {
  answered = 0
  inDoubt = 0
  searches = 0
  /** Number of changed vectors. */
  changes = 0
  readonly #random: Random
  readonly #vector: () => number[]
  readonly #documents = new Map<CollectionName, Map<string, States>>(
    searchedCollections.map((name) => [name, new Map()]),
  )
  #next = 0
  #changesAtFullSpeed = Infinity

  constructor(random: Random) {
    this.#random = random
    const next = vectorsFrom(random.below(2 ** 32), dimension)
    // Rounds to numbers that 32-bit floats represent exactly.
    this.#vector = () => [...next()].map((number) => Math.round(number * 4096) / 4096)
  }

  async prepare(server: ServerProcess): Promise<void> {
    for (const name of searchedCollections)
      await send(server, '', {
        createCollection: { name, options: { vector: { dimension, metric } } },
      })
  }

  /**
   * Slows the writers down after `changes` more changes, so that the server has time to add the
   * new vectors to the index.
   */
  lightAfter(changes: number): void {
    this.#changesAtFullSpeed = this.changes + changes
  }

  /** Writes and searches until the server is killed. */
  async run(server: ServerProcess, writers: number): Promise<void> {
    await Promise.all(
      Array.from({ length: writers }, async (_, writer) => {
        const random = this.#random.fork()
        while (await this.#step(server, writer, random))
          if (this.changes > this.#changesAtFullSpeed) await delay(restMs)
      }),
    )
  }

  /** Makes one random request; returns false when the server did not answer. */
  async #step(server: ServerProcess, writer: number, random: Random): Promise<boolean> {
    const name = random.pick(collections)
    const documents = this.#documents.get(name)!
    const own = [...documents].filter(
      ([id, [state]]) => state !== undefined && id.startsWith(`${writer}-`),
    )
    const isFull = documents.size > sizes[name] && own.length >= 5
    const known = () => JSON.parse(random.pick(own)[1][0]!) as Note
    switch (own.length < 5 ? 0 : random.below(8)) {
      case 0:
      case 1:
      case 2: {
        if (isFull) return this.#deleteBatch(server, name, known().batch, own)
        const batch = this.#next++
        const made = Array.from({ length: 10 + random.below(41) }, () =>
          this.#newNote(writer, batch, random),
        )
        return this.#write(server, name, { insertMany: { documents: made } }, made)
      }
      case 3: {
        const { _id, kind, batch, $lexical } = known()
        const $vector = random.oneIn(5) ? null : this.#vector()
        const $set = { $vector }
        const after = { _id, kind, batch, $vector, ...($lexical && { $lexical }) }
        const command = { updateOne: { filter: { _id }, update: { $set } } }
        return this.#write(server, name, command, [after])
      }
      case 4: {
        const { $vector, $lexical, ...rest } = known()
        const without = random.oneIn(2) ? '$vector' : '$lexical'
        const kept = without === '$vector' ? { $lexical } : { $vector }
        const filter = { _id: rest._id }
        const command = { updateOne: { filter, update: { $unset: { [without]: '' } } } }
        return this.#write(server, name, command, [{ ...rest, ...kept } as Note])
      }
      case 5: {
        const { _id, batch } = known()
        const after = { ...this.#newNote(writer, batch, random), _id }
        const command = { findOneAndReplace: { filter: { _id }, replacement: after } }
        return this.#write(server, name, command, [after])
      }
      case 6: {
        const { _id } = known()
        return this.#write(server, name, { deleteOne: { filter: { _id } } }, [], [_id])
      }
      default:
        return this.#search(server, name, random)
    }
  }

  #deleteBatch(
    server: ServerProcess,
    name: CollectionName,
    batch: number,
    own: readonly (readonly [string, States])[],
  ): Promise<boolean> {
    const ids = own
      .filter(([, [state]]) => (JSON.parse(state!) as Note).batch === batch)
      .map(([id]) => id)
      .slice(0, 20)
    const command = { deleteMany: { filter: { _id: { $in: ids } } } }
    return this.#write(server, name, command, [], ids)
  }

  async #write(
    server: ServerProcess,
    name: CollectionName,
    command: object,
    written: readonly Note[],
    removed: readonly string[] = [],
  ): Promise<boolean> {
    const answer = await attempt(server, `/${name}`, command)
    const documents = this.#documents.get(name)!
    const after = new Map<string, string | undefined>(removed.map((id) => [id, undefined]))
    for (const document of written) after.set(document._id, JSON.stringify(document))
    for (const [id, state] of after) {
      if (answer === undefined) documents.set(id, [documents.get(id)?.[0], state])
      else if (state === undefined) documents.delete(id)
      else documents.set(id, [state])
    }
    this.changes += after.size
    if (answer === undefined) this.inDoubt++
    else this.answered++
    return answer !== undefined
  }

  /**
   * Makes a random search while other writers are active. So it only checks that no document is
   * returned twice.
   */
  async #search(
    server: ServerProcess,
    name: CollectionName,
    random: Random,
  ): Promise<boolean> {
    const sort = random.oneIn(2)
      ? { $vector: this.#vector() }
      : { $lexical: random.pick(words) }
    const answer = await attempt(server, `/${name}`, {
      find: { sort, options: { limit: 100 } },
    })
    if (answer !== undefined) assertOnce(answer.body.data!.documents!)
    this.searches++
    return answer !== undefined
  }

  #newNote(writer: number, batch: number, random: Random): Note {
    const text = Array.from({ length: 3 + random.below(10) }, () => random.pick(words))
    return {
      _id: `${writer}-${this.#next++}`,
      kind: random.pick(kinds),
      batch,
      ...(!random.oneIn(10) && { $vector: this.#vector() }),
      ...(!random.oneIn(10) && { $lexical: text.join(' ') }),
    }
  }

  /** Compares documents and search results of the server with the acknowledged writes. */
  async verify(server: ServerProcess): Promise<void> {
    for (const name of searchedCollections) {
      const notes = await this.#verifyDocuments(server, name)
      await this.#verifyNearest(server, name, notes)
      await this.#verifyRelevant(server, name, notes)
    }
  }

  async #verifyDocuments(server: ServerProcess, name: CollectionName): Promise<Note[]> {
    const stored = await readAll(server, name)
    const notes = [...stored.values()].map((text) => JSON.parse(text) as Note)
    const documents = this.#documents.get(name)!
    for (const [id, states] of documents) {
      const found = stored.get(id)
      stored.delete(id)
      const told = () => `${name} ${id}: ${found} instead of ${states.join(' or ')}`
      assert(states.includes(found), told())
      if (found === undefined) documents.delete(id)
      else documents.set(id, [found])
    }
    assert.deepEqual([...stored.keys()], [], 'documents that nobody wrote')
    return notes
  }

  async #verifyNearest(
    server: ServerProcess,
    name: CollectionName,
    notes: readonly Note[],
  ): Promise<void> {
    let [found, wanted] = [0, 0]
    for (let i = 0; i < 12; i++) {
      const query = this.#vector()
      const filter = i % 3 === 0 ? { kind: kinds[i % kinds.length] } : {}
      const among = notes.filter(({ kind }) => (filter.kind ?? kind) === kind)
      const expected = bySimilarity(among, metric, query)
      const isAll = expected.length <= exactMax && i % 2 === 0
      const limit = isAll ? exactMax : 10
      const hits = await nearest(server, name, query, filter, limit)
      const best = expected.slice(0, limit)
      if (expected.length <= exactMax) {
        assert.deepEqual(hits, best.map(idAndScore), `${name}, ${JSON.stringify(filter)}`)
        continue
      }
      const scores = new Map(expected.map(idAndScore))
      for (const [id, score] of hits) assert.equal(score, scores.get(id), id)
      const ids = new Set(hits.map(([id]) => id))
      assert.equal(ids.size, limit, 'as many as there are, and none twice')
      wanted += limit
      found += best.filter(({ document }) => ids.has(document._id)).length
    }
    const recall = wanted === 0 ? 1 : found / wanted
    assert(recall >= recallMin, `${name}: recall ${recall}`)
  }

  async #verifyRelevant(
    server: ServerProcess,
    name: CollectionName,
    notes: readonly Note[],
  ): Promise<void> {
    for (let i = 0; i < 6; i++) {
      const text = Array.from({ length: 1 + (i % 2) }, () => this.#random.pick(words))
      const $lexical = text.join(' ')
      const expected = byTerms(notes, $lexical)
      const documents: Record<string, unknown>[] = []
      let pageState: string | null | undefined
      do {
        const find = { sort: { $lexical }, options: { pageState } }
        const { data } = await send(server, `/${name}`, { find })
        documents.push(...data!.documents!)
        pageState = data!.nextPageState
      } while (pageState)
      assertOnce(documents)
      // The server may add the scores of terms in another order, so scores can differ in their last
      // digits.
      const scores = new Map(expected.map(idAndScore))
      const found = documents.map(({ _id }) => scores.get(_id as string)!)
      assert.equal(found.length, expected.length, `${name}: "${$lexical}"`)
      for (const [at, { score }] of expected.entries())
        assert(Math.abs(found[at]! - score) < 1e-9, `${name}: "${$lexical}" at ${at}`)

      const filter = { $lexical: { $match: $lexical }, kind: kinds[i] }
      const matched = await send(server, `/${name}`, { countDocuments: { filter } })
      const matching = notes.filter(
        (note) => note.kind === kinds[i] && hasTerms(note, $lexical),
      )
      assert.deepEqual(matched.status, { count: matching.length }, `${name}: ${$lexical}`)
    }
  }
}

function idAndScore({ document, score }: Scored<Note>): [string, number] {
  return [document._id, score]
}

/** The _ids and similarities of the results of a vector search. */
async function nearest(
  server: ServerProcess,
  name: string,
  $vector: readonly number[],
  filter: object,
  limit: number,
): Promise<[string, number][]> {
  const { data } = await send(server, `/${name}`, {
    find: { filter, sort: { $vector }, options: { limit, includeSimilarity: true } },
  })
  return data!.documents!.map(({ _id, $similarity }) => [
    _id as string,
    Math.fround($similarity as number),
  ])
}

function assertOnce(documents: readonly Record<string, unknown>[]): void {
  const ids = documents.map(({ _id }) => _id)
  assert.equal(new Set(ids).size, ids.length, 'something was found twice')
}

/** Every document as JSON, by _id. */
async function readAll(server: ServerProcess, name: string): Promise<Map<string, string>> {
  const stored = new Map<string, string>()
  for (let pageState: string | null | undefined; pageState !== null;) {
    const find = { projection: { '*': 1 }, options: { pageState } }
    const { data } = await send(server, `/${name}`, { find })
    for (const document of data!.documents!)
      stored.set(document['_id'] as string, JSON.stringify(document))
    pageState = data!.nextPageState!
  }
  return stored
}

async function send(server: ServerProcess, path: string, command: object) {
  const answer = await server.command(`/default_keyspace${path}`, command)
  assert.deepEqual(answer.codes, [], answer.text.slice(0, 1_000))
  return answer.body
}

/** The reply, or undefined if the server was killed before it replied. */
async function attempt(server: ServerProcess, path: string, command: object) {
  const answer = await server
    .command(`/default_keyspace${path}`, command)
    .catch(() => undefined)
  if (answer !== undefined) assert.deepEqual(answer.codes, [], answer.text.slice(0, 1_000))
  return answer
}
