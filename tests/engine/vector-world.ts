/** A collection with vectors, and its expected content in a plain Map. */
import assert from 'node:assert/strict'
import {
  collectionSource,
  type CollectionSource,
} from '../../src/collections/document-source.ts'
import type { Engine, Hit, Collection, Write } from '../../src/engine/contract.ts'
import { parseStored } from '../../src/json/parse.ts'
import type { JsonObject } from '../../src/json/value.ts'
import { everything, type Filter } from '../../src/language/filters/filter.ts'
import { matches } from '../../src/language/filters/matches.ts'
import { defaultLimits } from '../../src/limits.ts'
import { anyOrder, read } from '../../src/paging/read.ts'
import { search } from '../../src/paging/search.ts'
import type { VectorMemory } from '../../src/search/vector/code-width.ts'
import { similarityTo, type Metric } from '../../src/search/vector/similarity.ts'
import { randomFrom, vectorsFrom } from '../search/vector/vectors.ts'
import { createCollection, plainOptions, tester } from './store.ts'

export interface Held {
  readonly document: JsonObject
  readonly vector: Float32Array | undefined
}

interface WorldOptions {
  readonly name?: string
  readonly dimension?: number
  readonly metric?: Metric
  readonly seed?: number
  readonly memory?: VectorMemory
}

export class VectorWorld {
  readonly engine: Engine
  readonly target: Collection
  readonly held = new Map<number, Held>()
  readonly random: () => number
  readonly vector: () => Float32Array
  readonly #metric: Metric
  readonly #source: CollectionSource
  #next = 1

  private constructor(engine: Engine, target: Collection, seed: number) {
    this.engine = engine
    this.target = target
    const { dimension, metric } = target.options.vector!
    this.#metric = metric
    this.#source = collectionSource(engine, target, defaultLimits)
    this.random = randomFrom(seed)
    this.vector = vectorsFrom(seed + 1, dimension)
  }

  static async create(
    engine: Engine,
    {
      name = 'vectors',
      dimension = 16,
      metric = 'cosine',
      seed = 1,
      memory,
    }: WorldOptions = {},
  ): Promise<VectorWorld> {
    const vector = { dimension, metric, sourceModel: 'other', ...(memory && { memory }) }
    await createCollection(engine, name, { ...plainOptions, vector })
    return VectorWorld.open(engine, name, seed)
  }

  static async open(engine: Engine, name = 'vectors', seed = 1): Promise<VectorWorld> {
    const target = await engine.findTarget('default_keyspace', name)
    assert(target?.kind === 'collection')
    return new VectorWorld(engine, target, seed)
  }

  /**
   * Inserts documents with fields of different selectivity. For example, `even` is true in half of
   * them, and `tenth` in a tenth.
   */
  async insert(count: number, vectorOf = this.vector): Promise<void> {
    for (let left = count; left > 0; left -= 500) {
      const writes: Write[] = []
      for (let i = 0; i < Math.min(left, 500); i++) {
        const id = this.#next++
        const text = textOf(id, 0)
        const vector = vectorOf()
        this.held.set(id, { document: parseStored(text) as JsonObject, vector })
        writes.push({ kind: 'insert', record: recordOf(id, text, vector) })
      }
      const outcomes = await this.engine.write(this.target, writes)
      assert(outcomes.every((outcome) => outcome === 'done'))
    }
  }

  /** Replaces the vector of a document, or removes it. */
  async replace(id: number, vector: Float32Array | undefined, change = 1): Promise<void> {
    const before = await this.#record(id)
    const text = textOf(id, change)
    const beforeDocument = this.held.get(id)!.document
    const after = recordOf(id, text, vector)
    const write: Write = { kind: 'replace', before, beforeDocument, after }
    assert.deepEqual(await this.engine.write(this.target, [write]), ['done'])
    this.held.set(id, { document: parseStored(text) as JsonObject, vector })
  }

  async remove(id: number): Promise<void> {
    const before = await this.#record(id)
    assert.deepEqual(await this.engine.write(this.target, [{ kind: 'delete', before }]), [
      'done',
    ])
    this.held.delete(id)
  }

  anyId(): number {
    const ids = [...this.held.keys()]
    return ids[Math.floor(this.random() * ids.length)]!
  }

  async search(
    numbers: Float32Array,
    limit = 10,
    filter: Filter = everything,
    scoreMin?: number,
  ): Promise<readonly Hit[]> {
    const by = { kind: 'vector', path: '$vector', numbers } as const
    const wanted = {
      ...{ by, filter, limit, withSearchFields: false },
      ...(scoreMin !== undefined && { scoreMin }),
    }
    return search(this.#source, wanted, tester)
  }

  /** The exact result by brute force: ids and scores, best first. */
  expected(
    numbers: Float32Array,
    limit = 10,
    filter: Filter = everything,
  ): { readonly id: number; readonly score: number }[] {
    const scoreOf = similarityTo(this.#metric, numbers)
    const found: { id: number; score: number }[] = []
    for (const [id, { document, vector }] of this.held)
      if (vector !== undefined && matches(filter, document))
        found.push({ id, score: scoreOf(vector) })
    return found.sort((a, b) => b.score - a.score || a.id - b.id).slice(0, limit)
  }

  /** Asserts that searches return exactly the expected results. */
  async assertExact(limit = 10, filter: Filter = everything, queries = 5): Promise<void> {
    for (let i = 0; i < queries; i++) {
      const query = this.vector()
      const hits = await this.search(query, limit, filter)
      assert.deepEqual(
        hits.map(({ record, score }) => ({ id: record.id, score })),
        this.expected(query, limit, filter),
      )
    }
  }

  /**
   * Recall among the ten nearest documents. Asserts that the scores of the found documents are
   * exact.
   */
  async recall(filter: Filter = everything, queries = 30): Promise<number> {
    let found = 0
    let total = 0
    for (let i = 0; i < queries; i++) {
      const query = this.vector()
      const scoreOf = similarityTo(this.#metric, query)
      const hits = await this.search(query, 10, filter)
      const ids = hits.map(({ record }) => record.id as number)
      assert.equal(new Set(ids).size, ids.length, 'found twice')
      for (const { record, score } of hits) {
        const { document, vector } = this.held.get(record.id as number)!
        assert.equal(score, scoreOf(vector!))
        assert(matches(filter, document))
      }
      const wanted = this.expected(query, 10, filter)
      total += wanted.length
      found += wanted.filter(({ id }) => ids.includes(id)).length
    }
    return total === 0 ? 1 : found / total
  }

  async #record(id: number) {
    const filter: Filter = {
      kind: 'eq',
      path: { text: '_id', segments: ['_id'] },
      value: id,
    }
    const wanted = { ...anyOrder, filter, limit: 1, stable: false, withSearchFields: true }
    const page = await read(this.#source, wanted, tester)
    return page.records[0]!
  }
}

function textOf(id: number, change: number): string {
  const even = id % 2 === 0
  return JSON.stringify({
    _id: id,
    even,
    tenth: id % 10 === 0,
    hundredth: id % 100,
    thousandth: id % 1000,
    change,
  })
}

function recordOf(id: number, text: string, numbers: Float32Array | undefined) {
  const search =
    numbers === undefined ? {} : { vector: { numbers, form: 'array' as const } }
  return { id, text, document: parseStored(text) as JsonObject, search }
}
