/**
 * Random commands on the embedded engine, compared with a plain Map. Reads run through the engine
 * and through a separate reader, sometimes with a budget that is soon exhausted.
 *
 * A failure prints the seed; SEED repeats the run.
 */
import { ownCaller } from '../../src/caller/caller.ts'
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { checked } from '../engine/contract/checked.ts'
import { checkStore } from '../../src/engine/embedded/backup/check.ts'
import { openEmbeddedEngine } from '../../src/engine/embedded/engine.ts'
import {
  decodePosition,
  encodePosition,
  type StoredPosition,
} from '../../src/engine/embedded/format/position.ts'
import { placeOf } from '../../src/engine/embedded/read/sort-position.ts'
import { OverBudget, type Budget } from '../../src/engine/embedded/store/budget.ts'
import type { DocRow } from '../../src/engine/embedded/format/doc-row.ts'
import type { Result } from '../../src/engine/embedded/read/result.ts'
import { StoreReader } from '../../src/engine/embedded/read/store-reader.ts'
import type {
  Engine,
  NewRecord,
  Query,
  SearchFields,
  StoredRecord,
  Write,
} from '../../src/engine/contract.ts'
import type { Collection, IndexingOptions } from '../../src/engine/schema.ts'
import { parseStored } from '../../src/json/parse.ts'
import { printJson } from '../../src/json/print.ts'
import type { JsonObject } from '../../src/json/value.ts'
import { everything, type Filter } from '../../src/language/filters/filter.ts'
import { indexingRule } from '../../src/language/filters/indexing.ts'
import type { SortKey } from '../../src/language/values/sort-key.ts'
import { viewOf } from '../../src/engine/embedded/format/views.ts'
import type { RecordView } from '../../src/engine/record-view.ts'
import { createCollection } from '../engine/store.ts'
import { Oracle } from './oracle.ts'
import {
  pathOf,
  Random,
  randomFields,
  randomFilter,
  randomId,
  randomSearch,
  randomSort,
  seed,
  times,
  type Shape,
} from './random.ts'

// With a small memtable, there are many runs on several levels.
process.env['STELA_TEST_MEMTABLE'] = '64'

const unlimited: Budget = { spend: () => undefined }

const tester = ownCaller()

interface Commands {
  readonly shape: Shape
  readonly indexing?: IndexingOptions
  readonly count: number
  /** With at least this many documents, no more are inserted. */
  readonly documentsMax: number
}

describe(`the embedded engine compared with a plain Map, seed ${seed}`, () => {
  let dataDir: string
  let engine: Engine
  let commands = 0

  before(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'stela-model-'))
    const log = (): void => undefined
    engine = checked(await openEmbeddedEngine({ dataDir, durable: false, log }))
  })

  after(async () => {
    await engine.close()
    rmSync(dataDir, { recursive: true })
  })

  const run = async (name: string, given: Commands): Promise<void> => {
    const model = await Model.start(engine, dataDir, name, given)
    for (let i = 0; i < given.count; i++) await model.step(`${name}, command ${i}`)
    commands += given.count
    await model.finish(name)
  }

  test('returns the same records from many small collections', async () => {
    for (let i = 0; i < 7 * times; i++) {
      const random = new Random(seed + i)
      await run(`small${i}`, {
        shape: {
          nested: random.pick([0, 0.2, 0.4]),
          scalars: random.pick([3, 8, 100]),
          fields: random.pick([2, 4, 8]),
        },
        count: 300,
        documentsMax: random.pick([5, 40, 300]),
      })
    }
  })

  const lists: readonly IndexingOptions[] = [
    { allow: ['a', 'b.a', 'x&.y'] },
    { allow: ['a.b', 'a.c', 'b', '0'] },
    { allow: ['_id', 'a.0', 'c'] },
    { deny: ['b', 'a.b', 'p\0'] },
    { deny: ['a.b.c', '_id', 'd'] },
    { deny: ['*'] },
  ]

  test('returns the same records from collections where only some paths are indexed', async () => {
    for (const [i, indexing] of lists.entries())
      await run(`part${i}`, {
        shape: { nested: 0.4, scalars: 8, fields: 5 },
        indexing,
        count: 100 * times,
        documentsMax: 100,
      })
  })

  test('returns the same records from a collection of 6000 documents', async () => {
    const name = 'large'
    const given: Commands = {
      shape: { nested: 0.15, scalars: 100, fields: 5 },
      count: 0,
      documentsMax: 6000,
    }
    const model = await Model.start(engine, dataDir, name, given)
    await model.fill(6000)
    for (let i = 0; i < 25 * times; i++) await model.readAndCount(`${name}, read ${i}`)
    await model.finish(name)
    commands += 25 * times
  })

  test('ran at least the intended number of commands', () => {
    assert(commands >= 2_700 * times, `${commands} commands`)
  })
})

class Model {
  readonly #engine: Engine
  readonly #target: Collection
  readonly #file: string
  readonly #given: Commands
  readonly #random: Random
  readonly #oracle: Oracle
  readonly #reader: StoreReader
  #label = ''

  static async start(
    engine: Engine,
    dataDir: string,
    name: string,
    given: Commands,
  ): Promise<Model> {
    const { indexing } = given
    const created = await createCollection(engine, name, {
      ...(indexing !== undefined && { indexing }),
      lexical: { enabled: false },
      rerank: { enabled: false },
    })
    assert(created)
    const target = await engine.findTarget('default_keyspace', name)
    const file = join(dataDir, 'default_keyspace', name, 'store.db')
    assert(target?.kind === 'collection')
    return new Model(engine, target, file, given)
  }

  constructor(engine: Engine, target: Collection, file: string, given: Commands) {
    this.#engine = engine
    this.#target = target
    this.#file = file
    this.#given = given
    const number = Buffer.from(target.name).reduce((sum, byte) => sum * 31 + byte, 0)
    this.#random = new Random(seed + number)
    this.#oracle = new Oracle(indexingRule(given.indexing))
    this.#reader = new StoreReader(file, viewOf(target))
  }

  async step(label: string): Promise<void> {
    this.#label = label
    const kind = this.#random.next()
    const isFull = this.#oracle.size >= this.#given.documentsMax
    if (kind < 0.25 && !isFull) await this.#insert(this.#random.integer(1, 12))
    else if (kind < 0.4) await this.#change()
    else if (kind < 0.405) await this.#truncate()
    else if (kind < 0.5) await this.#count()
    else if (kind < 0.56) await this.#readWhileChanging()
    else await this.#read()
  }

  async readAndCount(label: string): Promise<void> {
    this.#label = label
    await this.#read()
    if (this.#random.chance(0.5)) await this.#count()
  }

  async fill(size: number): Promise<void> {
    while (this.#oracle.size < size) {
      const writes = Array.from({ length: 200 }, (_, i) => {
        const document = this.#newDocument()
        document.set('_id', this.#oracle.size + i)
        // Most documents share one of three values of `d`; values of `c` are nearly unique.
        if (this.#random.chance(0.8)) document.set('d', this.#random.integer(0, 2))
        if (this.#random.chance(0.9)) document.set('c', this.#random.integer(0, size))
        return {
          kind: 'insert',
          record: recordOf(document, randomSearch(this.#random)),
        } as const
      })
      const outcomes = await this.#engine.write(this.#target, writes)
      assert(outcomes.every((outcome) => outcome === 'done'))
      for (const { record } of writes) this.#oracle.put(record.document, record.search)
    }
  }

  async finish(label: string): Promise<void> {
    this.#reader.close()
    assert.deepEqual(checkStore(this.#file, viewOf(this.#target)), [], label)
    const all = await this.#engine.read(this.#target, queryOf({ limit: 100_000 }), tester)
    assert.deepEqual(
      all.records.map(({ text }) => text).sort(),
      this.#oracle.all.map(({ text }) => text).sort(),
    )
    const bySearch = new Map(this.#oracle.all.map(({ text, search }) => [text, search]))
    for (const { text, search } of all.records) assert.deepEqual(search, bySearch.get(text))
    assert.equal(await this.#engine.estimateCount(this.#target), this.#oracle.size)
  }

  async #insert(count: number): Promise<void> {
    const ordered = this.#random.chance(0.5)
    const records = Array.from({ length: count }, () =>
      recordOf(this.#newDocument(), randomSearch(this.#random)),
    )
    const expected: string[] = []
    let stopped = false
    for (const { id, document, search } of records) {
      const outcome = stopped ? 'skipped' : this.#oracle.has(id) ? 'exists' : 'done'
      expected.push(outcome)
      if (outcome === 'done') this.#oracle.put(document, search)
      else stopped ||= ordered
    }
    const writes = records.map((record): Write => ({ kind: 'insert', record }))
    const outcomes = await this.#engine.write(this.#target, writes, { ordered })
    assert.deepEqual(outcomes, expected, this.#label)
  }

  async #change(): Promise<void> {
    const { records } = await this.#engine.read(
      this.#target,
      queryOf({ limit: this.#random.integer(1, 5), sort: this.#sort() }),
      tester,
    )
    const writes = records.map((record) =>
      this.#random.chance(0.6) ? this.#replacement(record) : deletion(record),
    )
    const outcomes = await this.#engine.write(this.#target, writes)
    assert(
      outcomes.every((outcome) => outcome === 'done'),
      this.#label,
    )
    for (const write of writes) this.#apply(write)
    // The first call has changed the records to which the writes refer, so the writes are outdated
    // now.
    const again = await this.#engine.write(this.#target, writes)
    assert(
      again.every((outcome) => outcome === 'conflict'),
      this.#label,
    )
  }

  async #truncate(): Promise<void> {
    await this.#engine.truncate(this.#target)
    this.#oracle.clear()
  }

  async #count(): Promise<void> {
    const filter = this.#filter()
    const stopAt = this.#random.pick([1, 2, 7, 1001, 1_000_000])
    const expected = Math.min(this.#oracle.matching(filter, []).length, stopAt)
    const about = this.#about({ filter })
    assert.equal(
      await this.#engine.count(this.#target, filter, stopAt, tester),
      expected,
      about,
    )
    const { store } = this.#reader
    const counted = store.reading(() => this.#reader.count(filter, stopAt, unlimited))
    assert.equal(counted.count, expected, about)
  }

  async #read(): Promise<void> {
    const filter = this.#filter()
    const sort = this.#sort()
    const skip = this.#random.pick([0, 0, 0, 1, 5, 40])
    const stable = this.#random.chance(0.3)
    const lookAhead = this.#random.chance(0.9)
    const withSearchFields = this.#random.chance(0.5)
    const query = queryOf({ filter, sort, skip, stable, lookAhead, withSearchFields })
    const matching = this.#oracle.matching(filter, sort)
    const expected = sort.length > 0 ? matching.slice(skip) : matching
    const pageSize = this.#random.pick([1, 3, 20, 20, 100, 2000])
    // Reads at most a few pages, because reading a large result in tiny pages takes long.
    const pagesMax = this.#oracle.size > 1000 ? 4 : 12
    const about = this.#about({ ...query, pageSize })

    const asked = await this.#pages(query, pageSize, pagesMax, (next) =>
      this.#askEngine(next),
    )
    assertPages(asked, expected, skip, sort, about)
    const isShort = this.#random.chance(0.5)
    const direct = await this.#pages(query, pageSize, pagesMax, (next) =>
      isShort ? this.#askShort(next) : this.#askReader(next, unlimited),
    )
    assertPages(direct, expected, skip, sort, `${isShort ? 'short' : 'long'}, ${about}`)
  }

  /**
   * Reads pages while some records change, and checks that the other records are found exactly
   * once.
   */
  async #readWhileChanging(): Promise<void> {
    const filter = this.#filter()
    const throughout = new Set(this.#oracle.matching(filter, []))
    const seen: string[] = []
    let query = queryOf({ filter, stable: true, limit: this.#random.integer(1, 7) })
    const about = this.#about(query)
    for (let i = 0; i < 20; i++) {
      const page = await this.#engine.read(this.#target, query, tester)
      for (const { id } of page.records) seen.push(printJson(id))
      const changed = page.records.filter(() => this.#random.chance(0.5))
      const writes = changed.map((record) =>
        this.#random.chance(0.8) ? this.#replacement(record) : deletion(record),
      )
      await this.#engine.write(this.#target, writes)
      for (const write of writes) this.#apply(write)
      if (page.next === undefined) break
      query = { ...query, after: page.next }
      if (i === 19) return
    }
    assert.equal(new Set(seen).size, seen.length, `met again: ${about}`)
    const expected = [...throughout].map((text) => printJson(idOf(text)))
    assert.deepEqual(seen.toSorted(), expected.toSorted(), about)
  }

  /**
   * Reads pages one after the other. Sometimes continues from a position within a page instead of
   * its end.
   */
  async #pages(
    first: Query,
    pageSize: number,
    pagesMax: number,
    ask: (query: Query) => Answer | Promise<Answer>,
  ): Promise<Pages> {
    const texts: string[] = []
    let query: Query = { ...first, limit: pageSize }
    for (let i = 0; i < pagesMax; i++) {
      const { page, next, positionAt } = await ask(query)
      assert(page.length <= query.limit)
      assert(
        next === undefined || page.length > 0,
        'a page that others follow is not empty',
      )
      const cut = page.length > 1 && this.#random.chance(0.2)
      const taken = cut ? this.#random.integer(1, page.length) : page.length
      texts.push(...page.slice(0, taken))
      if (query.lookAhead === false) return { texts, whole: false }
      // The position of the last record of a page is equivalent to the end of the page.
      const position = cut ? positionAt(taken - 1) : next
      if (position === undefined) return { texts, whole: true }
      query = { ...query, after: position, limit: this.#random.chance(0.2) ? 5 : pageSize }
      if (this.#random.chance(0.5)) query = { ...query, skip: 0 }
    }
    return { texts, whole: false }
  }

  async #askEngine(query: Query): Promise<Answer> {
    const { records, next, positionAfter, served } = await this.#read1(query)
    assert.deepEqual(served, { filter: true, sort: true })
    return {
      page: records.map(({ text }) => text),
      next,
      positionAt: (i) => positionAfter(records[i]!),
    }
  }

  async #read1(query: Query) {
    const page = await this.#engine.read(this.#target, query, tester)
    return { ...page, positionAfter: (record: StoredRecord) => page.positionAfter(record) }
  }

  #askReader(query: Query, budget: Budget): Answer {
    const after = query.after === undefined ? undefined : decodePosition(query.after)
    const skip = after === undefined ? query.skip : 0
    const { store } = this.#reader
    const wanted = { ...query, skip, after }
    const result = store.reading(() => this.#reader.read(wanted, budget))
    const positionAt = (i: number): string =>
      encodePosition(placeIn(result, result.rows[i]!, viewOf(this.#target)))
    return {
      page: result.rows.map(({ text }) => text),
      next: result.more ? positionAt(result.rows.length - 1) : undefined,
      positionAt,
    }
  }

  /**
   * Asks the reader with a small budget, and repeats with larger budgets until one is sufficient.
   * The engine itself repeats only once.
   */
  #askShort(query: Query): Answer {
    for (let units = 50; ; units *= 10) {
      let left = units
      const budget: Budget = {
        spend(used) {
          left -= used
          if (left < -units && units < 50_000) throw new OverBudget()
        },
      }
      try {
        return this.#askReader(query, budget)
      } catch (error) {
        if (!(error instanceof OverBudget)) throw error
      }
    }
  }

  #newDocument(): JsonObject {
    const id = randomId(this.#random, Math.max(20, this.#given.documentsMax * 2))
    const fields = randomFields(this.#random, this.#given.shape)
    return new Map([['_id', id], ...fields])
  }

  #replacement(before: StoredRecord): Write {
    const beforeDocument = parseStored(before.text) as JsonObject
    const fields = randomFields(this.#random, this.#given.shape)
    // Half of the replacements change only some fields, so that index entries are kept, removed and
    // added.
    const kept = this.#random.chance(0.5) ? beforeDocument : []
    const document: JsonObject = new Map([['_id', before.id], ...kept, ...fields])
    return {
      kind: 'replace',
      before,
      beforeDocument,
      after: recordOf(document, randomSearch(this.#random)),
    }
  }

  #apply(write: Write): void {
    if (write.kind === 'replace') this.#oracle.put(write.after.document, write.after.search)
    if (write.kind === 'delete') this.#oracle.delete(write.before.id)
  }

  #filter(): Filter {
    if (this.#random.chance(0.15)) return everything
    return randomFilter(this.#random, this.#given.shape, this.#oracle.rule)
  }

  #sort(): readonly SortKey[] {
    if (this.#oracle.size > 1000 && this.#random.chance(0.4))
      return [
        {
          path: pathOf(this.#random.pick(['d', 'd', 'c', 'a'])),
          direction: this.#random.pick([1, -1]),
        },
      ]
    return randomSort(this.#random, this.#oracle.rule)
  }

  #about({ filter, sort = [], ...rest }: Partial<Query> & { pageSize?: number }): string {
    const paths = sort.map(({ path, direction }) => [path.text, direction])
    return (
      `seed ${seed}, ${this.#label}: filter ${JSON.stringify(filter, mapsToObjects)}, sort ` +
      `${JSON.stringify(paths)}, ${JSON.stringify(rest)}, ${this.#oracle.size} documents`
    )
  }
}

interface Answer {
  readonly page: readonly string[]
  readonly next: string | undefined
  readonly positionAt: (i: number) => string
}

interface Pages {
  readonly texts: readonly string[]
  /** Whether the last page was reached. */
  readonly whole: boolean
}

function assertPages(
  { texts, whole }: Pages,
  expected: readonly string[],
  skip: number,
  sort: readonly SortKey[],
  about: string,
): void {
  if (sort.length > 0) {
    assert.deepEqual(texts, whole ? expected : expected.slice(0, texts.length), about)
    return
  }
  // Without a sort, the result must have the expected number of records, all of them expected and
  // none of them twice.
  const possible = new Set(expected)
  assert.equal(new Set(texts).size, texts.length, `twice: ${about}`)
  for (const text of texts) assert(possible.has(text), `${text} is not expected: ${about}`)
  if (whole) assert.equal(texts.length, Math.max(0, expected.length - skip), about)
}

function placeIn({ order }: Result, row: DocRow, view: RecordView): StoredPosition {
  switch (order.by) {
    case 'seq':
      return { by: 'seq', seq: row.seq }
    case 'range':
      return { by: 'range', path: order.path, value: row.value!, seq: row.seq }
    case 'sort':
      return placeOf(row, order.keys, view)
  }
}

function queryOf(parts: Partial<Query>): Query {
  return {
    filter: everything,
    sort: [],
    skip: 0,
    limit: 20,
    after: undefined,
    stable: false,
    withSearchFields: true,
    ...parts,
  }
}

function recordOf(document: JsonObject, search: SearchFields): NewRecord {
  return { id: document.get('_id')!, text: printJson(document), document, search }
}

function deletion(before: StoredRecord): Write {
  return { kind: 'delete', before }
}

function idOf(text: string) {
  return (parseStored(text) as JsonObject).get('_id')!
}

function mapsToObjects(_key: string, value: unknown): unknown {
  return value instanceof Map ? [...(value as Map<string, unknown>)] : value
}
