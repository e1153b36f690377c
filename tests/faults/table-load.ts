/**
 * Writers of rows. Like the writers of write-load.ts, they remember acknowledged writes.
 * `verifyRows` compares the acknowledged writes with the rows, and `verifyIndexes` compares the
 * rows with the results of all indexes.
 */
import assert from 'node:assert/strict'
import type { Envelope } from '../harness.ts'
import { bySimilarity, hasTerms } from '../model/search-oracle.ts'
import type { Random } from './random.ts'

/** A server in this process or in a child process. */
export interface Commanded {
  command(path: string, body: object): Promise<TableAnswer>
}

export interface TableAnswer {
  readonly text: string
  readonly codes: readonly string[]
  readonly body: Envelope
}

export interface Row {
  /** The number of the writer that owns the row. */
  readonly w: number
  readonly n: number
  readonly kind?: string
  readonly tags?: readonly string[]
  readonly limits?: Readonly<Record<string, number>>
  readonly body?: string
  readonly v?: readonly number[]
}

/** Possible stored states of a row, as JSON. Undefined means that the row is absent. */
type States = readonly (string | undefined)[]

export const tablePath = '/default_keyspace/items'

const kinds = ['novel', 'poem', 'play', 'essay']
const tags = ['blue', 'gray', 'green', 'red', 'white']
const limitNames = ['depth', 'height', 'weight', 'width']
const words = Array.from({ length: 12 }, (_, n) => `word${n}`)
const dimension = 8

export const tableColumns = {
  w: { type: 'int' },
  n: { type: 'int' },
  kind: { type: 'text' },
  tags: { type: 'set', valueType: 'text' },
  limits: { type: 'map', keyType: 'text', valueType: 'int' },
  body: { type: 'text' },
  v: { type: 'vector', dimension },
}

export const tableKey = { partitionBy: ['w'], partitionSort: { n: -1 } }

interface Probe {
  readonly filter: object
  readonly matches: (row: Row) => boolean
}

interface KnownIndex {
  readonly create: object
  /** The definition of the index in listIndexes with `explain`. */
  readonly explained: object
  /** Filters that the index serves. */
  readonly probes: readonly Probe[]
  /**
   * The error code of these filters if the index is missing. Undefined means that the filters then
   * return the same rows with a warning.
   */
  readonly withoutIt?: string
}

/** Indexes that the table may have. */
export const knownIndexes: Readonly<Record<string, KnownIndex>> = {
  by_kind: {
    create: { createIndex: { name: 'by_kind', definition: { column: 'kind' } } },
    explained: {
      name: 'by_kind',
      definition: {
        column: 'kind',
        options: { ascii: false, caseSensitive: true, normalize: false },
      },
      indexType: 'regular',
    },
    probes: kinds.map((kind) => ({
      filter: { kind },
      matches: (row) => row.kind === kind,
    })),
  },
  by_tag: {
    create: { createIndex: { name: 'by_tag', definition: { column: 'tags' } } },
    explained: {
      name: 'by_tag',
      definition: { column: { tags: '$values' }, options: {} },
      indexType: 'regular',
    },
    probes: tags.map((tag) => ({
      filter: { tags: { $in: [tag] } },
      matches: (row) => row.tags?.includes(tag) === true,
    })),
  },
  by_limit: {
    create: {
      createIndex: { name: 'by_limit', definition: { column: { limits: '$keys' } } },
    },
    explained: {
      name: 'by_limit',
      definition: { column: { limits: '$keys' }, options: {} },
      indexType: 'regular',
    },
    probes: limitNames.map((name) => ({
      filter: { limits: { $keys: { $in: [name] } } },
      matches: ({ limits }) => limits !== undefined && Object.hasOwn(limits, name),
    })),
  },
  by_body: {
    create: { createTextIndex: { name: 'by_body', definition: { column: 'body' } } },
    explained: {
      name: 'by_body',
      definition: { column: 'body', options: { analyzer: 'standard' } },
      indexType: 'text',
    },
    probes: [...words, 'word1 word3', 'word2 word2', 'nowhere'].map((text) => ({
      filter: { body: { $match: text } },
      matches: (row) => hasTerms({ _id: 0, $lexical: row.body ?? '' }, text),
    })),
    withoutIt: 'CANNOT_LEXICAL_FILTER_NON_INDEXED_COLUMNS',
  },
  by_v: {
    create: {
      createVectorIndex: {
        name: 'by_v',
        definition: { column: 'v', options: { metric: 'euclidean' } },
      },
    },
    explained: {
      name: 'by_v',
      definition: { column: 'v', options: { metric: 'euclidean', sourceModel: 'other' } },
      indexType: 'vector',
    },
    probes: [],
  },
}

/** Minimum recall of the ten nearest in a search among many rows. */
const recallMin = 0.95

/** Number of own rows above which a writer, except writer 0, deletes the older half of them. */
const ownRowsMax = 250

export class TableLoad {
  answered = 0
  inDoubt = 0
  readonly #random: Random
  /** Possible states of each row, by writer and number. */
  readonly #rows = new Map<number, Map<number, States>>()
  #nextNumber = 0

  constructor(random: Random) {
    this.#random = random
  }

  /** Fills the table with rows that writers rarely change. */
  async fill(server: Commanded, count: number): Promise<void> {
    for (let at = 0; at < count; at += 100) {
      const rows = Array.from({ length: Math.min(100, count - at) }, () =>
        this.#newRow(0, this.#random),
      )
      assert(await this.#insertMany(server, rows, this.#random))
    }
  }

  /** Writes until the server is killed or `isOver` returns true. */
  async run(
    server: Commanded,
    writers: number,
    isOver: () => boolean = () => false,
  ): Promise<void> {
    await Promise.all(
      Array.from({ length: writers }, async (_, writer) => {
        const random = this.#random.fork()
        while (!isOver() && (await this.#step(server, writer, random)));
      }),
    )
  }

  /**
   * Compares the rows of the server with the acknowledged writes, and adopts them as the new state.
   */
  async verifyRows(server: Commanded): Promise<void> {
    const stored = await readRows(server, { filter: { w: { $gte: 0 } } })
    for (const [w, own] of this.#rows)
      for (const [n, states] of own) {
        const key = keyOf({ w, n })
        const found = stored.get(key)
        stored.delete(key)
        assert(
          states.includes(found),
          `row ${key}: ${found} instead of ${states.join(' or ')}`,
        )
        if (found === undefined) own.delete(n)
        else own.set(n, [found])
      }
    assert.deepEqual([...stored.keys()], [], 'rows that nobody wrote')
  }

  /** Compares the results of each index with the rows. Call it after `verifyRows`. */
  async verifyIndexes(server: Commanded, listed: ReadonlySet<string>): Promise<void> {
    const texts = [...this.#rows.values()].flatMap((own) => [...own.values()])
    const rows = texts.map(([text]) => JSON.parse(text!) as Row)
    for (const [name, { probes, withoutIt }] of Object.entries(knownIndexes))
      for (const { filter, matches } of probes) {
        const told = `${name} ${listed.has(name) ? 'with' : 'without'} ${JSON.stringify(filter)}`
        if (withoutIt !== undefined && !listed.has(name)) {
          const { codes } = await server.command(tablePath, { find: { filter } })
          assert.deepEqual(codes, [withoutIt], told)
          continue
        }
        const found = await readRows(
          server,
          { filter, projection: { w: 1, n: 1 } },
          (codes) =>
            assert.deepEqual(codes, listed.has(name) ? [] : ['MISSING_INDEX'], told),
        )
        const expected = rows.filter(matches).map(keyOf)
        assert.deepEqual([...found.keys()].toSorted(), expected.toSorted(), told)
      }
    await this.#verifyVectors(server, rows, listed.has('by_v'))
  }

  async #verifyVectors(
    server: Commanded,
    rows: readonly Row[],
    isListed: boolean,
  ): Promise<void> {
    const documents = rows.map((row) => ({ _id: keyOf(row), $vector: row.v ?? null }))
    const queries = Array.from({ length: 5 }, () => vectorFrom(this.#random))
    let hits = 0
    for (const v of queries) {
      const find = { sort: { v }, projection: { w: 1, n: 1 }, options: { limit: 10 } }
      const answer = await server.command(tablePath, { find })
      if (!isListed) {
        const code = 'CANNOT_VECTOR_SORT_NON_INDEXED_VECTOR_COLUMNS'
        assert.deepEqual(answer.codes, [code])
        return
      }
      assert.deepEqual(answer.codes, [], answer.text)
      const found = (answer.body.data!.documents as unknown as Row[]).map(keyOf)
      const nearest = bySimilarity(documents, 'euclidean', v)
      const scores = new Map(nearest.map(({ document, score }) => [document._id, score]))
      assert.equal(found.length, Math.min(10, nearest.length))
      for (const key of found) assert(scores.has(key), `${key} has no vector`)
      // Vectors have few different components, so several rows may have the tenth-best score. Each
      // such row is a correct tenth result.
      const tenth = nearest[Math.min(9, nearest.length - 1)]!.score
      hits += found.filter((key) => scores.get(key)! >= tenth).length / found.length
    }
    assert(hits / queries.length >= recallMin, `found ${hits} of ${queries.length}`)
  }

  /** Makes one random request; returns false when the server did not answer. */
  async #step(server: Commanded, writer: number, random: Random): Promise<boolean> {
    const own = this.#rowsOf(writer)
    if (own.size < 5) return this.#insertMany(server, this.#newRows(writer, random), random)
    const isFull = own.size > ownRowsMax && writer > 0
    const { w, n, ...before } = JSON.parse(random.pick([...own.values()])[0]!) as Row
    const filter = { w, n }
    switch (isFull ? 5 : random.below(7)) {
      case 0: {
        const row = this.#newRow(writer, random)
        return this.#write(server, { insertOne: { document: row } }, writer, [row])
      }
      case 1:
        return this.#insertMany(server, this.#newRows(writer, random), random)
      case 2: {
        // An upsert keeps the values of omitted columns.
        const given = { kind: random.pick(kinds), body: textFrom(random) }
        const document = { ...filter, ...given }
        const after = { ...filter, ...before, ...given }
        return this.#write(server, { insertOne: { document } }, writer, [after])
      }
      case 3: {
        const tag = random.pick(tags)
        const set = { kind: random.pick(kinds), v: vectorFrom(random) }
        const update = { $set: set, $push: { tags: tag } }
        const after = { ...before, ...set, tags: sorted([...(before.tags ?? []), tag]) }
        const command = { updateOne: { filter, update } }
        return this.#write(server, command, writer, [{ w, n, ...after }])
      }
      case 4:
        return this.#write(server, { deleteOne: { filter } }, writer, [], [n])
      case 5: {
        // Removes the older half of the rows, or the two oldest.
        const numbers = [...own.keys()].toSorted((a, b) => a - b)
        const removed = numbers.slice(0, isFull ? numbers.length >> 1 : 2)
        const end = removed.at(-1)! + 1
        const command = { deleteMany: { filter: { w, n: { $lt: end } } } }
        return this.#write(server, command, writer, [], removed)
      }
      default: {
        const update = { $unset: { v: '', limits: '' }, $set: { body: textFrom(random) } }
        const after = { ...filter, ...without(before, 'v', 'limits'), ...update.$set }
        return this.#write(server, { updateOne: { filter, update } }, writer, [after])
      }
    }
  }

  #insertMany(server: Commanded, rows: readonly Row[], random: Random): Promise<boolean> {
    const options = { ordered: random.oneIn(2) }
    return this.#write(
      server,
      { insertMany: { documents: rows, options } },
      rows[0]!.w,
      rows,
    )
  }

  /** Sends a write to rows of one writer, and records the possible states afterwards. */
  async #write(
    server: Commanded,
    command: object,
    writer: number,
    written: readonly Row[],
    removed: readonly number[] = [],
  ): Promise<boolean> {
    const answer = await attempt(server, tablePath, command)
    const own = this.#rowsOf(writer)
    const after = new Map<number, string | undefined>(removed.map((n) => [n, undefined]))
    for (const row of written) after.set(row.n, textOf(row))
    for (const [n, state] of after)
      if (answer === undefined) own.set(n, [own.get(n)?.[0], state])
      else if (state === undefined) own.delete(n)
      else own.set(n, [state])
    if (answer === undefined) this.inDoubt++
    else this.answered++
    return answer !== undefined
  }

  #rowsOf(writer: number): Map<number, States> {
    let own = this.#rows.get(writer)
    if (own === undefined) this.#rows.set(writer, (own = new Map<number, States>()))
    return own
  }

  #newRows(writer: number, random: Random): Row[] {
    return Array.from({ length: 1 + random.below(20) }, () => this.#newRow(writer, random))
  }

  #newRow(w: number, random: Random): Row {
    const limits = limitNames.filter(() => random.oneIn(2))
    return {
      w,
      n: this.#nextNumber++,
      kind: random.pick(kinds),
      tags: sorted([random.pick(tags), random.pick(tags)]),
      ...(limits.length > 0 && {
        limits: Object.fromEntries(limits.map((name) => [name, random.below(10)])),
      }),
      body: textFrom(random),
      ...(!random.oneIn(10) && { v: vectorFrom(random) }),
    }
  }
}

/** A copy without some members. */
export function without<T extends object, K extends keyof T>(
  whole: T,
  ...names: readonly K[]
): Omit<T, K> {
  const kept = Object.entries(whole).filter(([name]) => !names.includes(name as K))
  return Object.fromEntries(kept) as Omit<T, K>
}

function sorted(names: readonly string[]): string[] {
  return [...new Set(names)].toSorted()
}

function textFrom(random: Random): string {
  return Array.from({ length: 1 + random.below(6) }, () => random.pick(words)).join(' ')
}

/** Numbers that 32-bit floats represent exactly. */
function vectorFrom(random: Random): number[] {
  return Array.from({ length: dimension }, () => (random.below(33) - 16) / 8 || 1)
}

export function keyOf({ w, n }: Row): string {
  return `${w}/${n}`
}

/** The text of a row in canonical form, independent of the order of its columns. */
function textOf(row: Row): string {
  return JSON.stringify(
    Object.fromEntries(Object.entries(row).toSorted(([a], [b]) => (a < b ? -1 : 1))),
  )
}

/** All rows of a find, from all pages, as JSON by key. */
export async function readRows(
  server: Commanded,
  clauses: object,
  checkWarnings?: (codes: readonly string[]) => void,
): Promise<Map<string, string>> {
  const rows = new Map<string, string>()
  let pageState: string | null | undefined = null
  do {
    const find: object = { ...clauses, options: { pageState } }
    const { body, codes, text } = await server.command(tablePath, { find })
    assert.deepEqual(codes, [], `${JSON.stringify(find)} => ${text.slice(0, 1_000)}`)
    for (const row of body.data!.documents as unknown as Row[]) {
      const key = keyOf(row)
      assert(!rows.has(key), `${key} was found twice`)
      rows.set(key, textOf(row))
    }
    checkWarnings?.((body.status!.warnings ?? []).map(({ errorCode }) => errorCode))
    pageState = body.data!.nextPageState
  } while (typeof pageState === 'string')
  return rows
}

/** The reply, or undefined if the server was killed before it replied. */
export async function attempt(
  server: Commanded,
  path: string,
  command: object,
): Promise<TableAnswer | undefined> {
  const answer = await server.command(path, command).catch(() => undefined)
  const told = () => `${JSON.stringify(command)} => ${answer!.text}`.slice(0, 1_500)
  if (answer !== undefined) assert.deepEqual(answer.codes, [], told())
  return answer
}

export async function send(
  server: Commanded,
  path: string,
  command: object,
): Promise<TableAnswer> {
  const answer = await server.command(path, command)
  const told = `${JSON.stringify(command)} => ${answer.text}`.slice(0, 1_500)
  assert.deepEqual(answer.codes, [], told)
  return answer
}
