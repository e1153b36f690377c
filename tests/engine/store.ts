/**
 * A collection of an engine, wrapped for tests. It takes and returns JSON values. Reads pass
 * through the layer that completes the parts of a query that the engine does not serve.
 */
import { ownCaller } from '../../src/caller/caller.ts'
import assert from 'node:assert/strict'
import {
  collectionSource,
  type CollectionSource,
} from '../../src/collections/document-source.ts'
import { count, read, type PagePosition } from '../../src/paging/read.ts'
import type {
  Engine,
  NewRecord,
  Outcome,
  SearchFields,
  StoredRecord,
  Target,
  Write,
  WriteOptions,
} from '../../src/engine/contract.ts'
import { withoutDatabaseKey } from '../../src/engine/database-key.ts'
import type {
  Collection,
  CollectionOptions,
  IndexingOptions,
} from '../../src/engine/schema.ts'
import { fromPlain } from '../../src/json/plain.ts'
import { parseStored } from '../../src/json/parse.ts'
import { printJson } from '../../src/json/print.ts'
import type { JsonObject, Value } from '../../src/json/value.ts'
import { defaultLimits } from '../../src/limits.ts'
import {
  everything,
  type Comparison,
  type Filter,
} from '../../src/language/filters/filter.ts'
import { parsePath, type Path } from '../../src/language/values/path.ts'
import type { SortKey } from '../../src/language/values/sort-key.ts'

export const noSignal = new AbortController().signal
export const tester = ownCaller()

export const plainOptions: CollectionOptions = {
  lexical: { enabled: false },
  rerank: { enabled: false },
}

const alone = { withSearchFields: false, stable: false } as const

export interface Finding {
  readonly filter?: Filter
  readonly sort?: readonly SortKey[]
  readonly skip?: number
  readonly limit?: number
  readonly stable?: boolean
  readonly withSearchFields?: boolean
  readonly textsOnly?: boolean
}

export class Store {
  readonly engine: Engine
  readonly target: Collection
  readonly #source: CollectionSource

  constructor(engine: Engine, target: Collection) {
    this.engine = engine
    this.target = target
    this.#source = collectionSource(engine, target, defaultLimits)
  }

  static async create(
    engine: Engine,
    name: string,
    indexing?: IndexingOptions,
  ): Promise<Store> {
    const options = { ...plainOptions, ...(indexing !== undefined && { indexing }) }
    assert(await createCollection(engine, name, options))
    return Store.find(engine, name)
  }

  static async find(engine: Engine, name: string): Promise<Store> {
    const target = await engine.findTarget('default_keyspace', name)
    assert(target?.kind === 'collection', `${name} should exist`)
    return new Store(engine, target)
  }

  insert(
    documents: readonly object[],
    options?: WriteOptions,
  ): Promise<readonly Outcome[]> {
    const writes = documents.map((document): Write => ({
      kind: 'insert',
      record: recordOf(document),
    }))
    return this.engine.write(this.target, writes, options)
  }

  /** The records of all pages of a query. */
  async find(wanted: Finding = {}, pageSize = 20): Promise<StoredRecord[]> {
    const found: StoredRecord[] = []
    let after: PagePosition | undefined
    do {
      const page = await this.page(wanted, pageSize, after)
      found.push(...page.records)
      after = page.next
    } while (after !== undefined && found.length < (wanted.limit ?? Infinity))
    return found.slice(0, wanted.limit)
  }

  async page(wanted: Finding, limit: number, after?: PagePosition, caller = tester) {
    const query = {
      filter: everything,
      sort: [],
      skip: 0,
      stable: false,
      withSearchFields: false,
      lookAhead: true,
      textsOnly: false,
      ...wanted,
      limit,
      after,
    }
    return read(this.#source, query, caller)
  }

  /** The _ids of the records that a query finds, in the form that JSON.parse returns. */
  async ids(wanted: Finding = {}, pageSize = 20): Promise<unknown[]> {
    const records = await this.find(wanted, pageSize)
    return records.map(({ id }) => JSON.parse(printJson(id)) as unknown)
  }

  async one(id: Value): Promise<StoredRecord> {
    const [record] = await this.find({
      filter: where('_id', 'eq', id),
      withSearchFields: true,
    })
    assert(record !== undefined, `${printJson(id)} should exist`)
    return record
  }

  count(filter: Filter = everything, stopAt = 1_000_000, caller = tester): Promise<number> {
    return count(this.#source, filter, stopAt, alone, caller)
  }

  async replace(before: StoredRecord, document: object, search: SearchFields = {}) {
    const [outcome] = await this.engine.write(this.target, [
      replacement(before, document, search),
    ])
    return outcome
  }

  async delete(before: StoredRecord): Promise<Outcome | undefined> {
    const [outcome] = await this.engine.write(this.target, [{ kind: 'delete', before }])
    return outcome
  }
}

/** Creates a collection; returns false when its name is taken. */
export function createCollection(
  engine: Engine,
  name: string,
  options = plainOptions,
  keyspace = 'default_keyspace',
): Promise<boolean> {
  return engine.changeSchema(keyspace, ({ targets }) =>
    targets.some((target) => target.name === name)
      ? undefined
      : { kind: 'createCollection', name, options },
  )
}

/**
 * Drops a target. Returns false when the target was dropped already, even if a new target has its
 * name.
 */
export function dropTarget(
  engine: Engine,
  { keyspace: stored, name, uid }: Target,
): Promise<boolean> {
  // A target has the stored name of its keyspace, which starts with the key of the database.
  const keyspace = withoutDatabaseKey(stored)
  return engine.changeSchema(keyspace, ({ targets }) =>
    targets.some((target) => target.uid === uid) ? { kind: 'dropTarget', name } : undefined,
  )
}

export function recordOf(plain: object, search: SearchFields = {}): NewRecord {
  const document =
    plain instanceof Map ? (plain as JsonObject) : (fromPlain(plain) as JsonObject)
  return { id: document.get('_id')!, text: printJson(document), document, search }
}

export function replacement(
  before: StoredRecord,
  document: object,
  search: SearchFields = {},
): Write {
  const beforeDocument = parseStored(before.text) as JsonObject
  return { kind: 'replace', before, beforeDocument, after: recordOf(document, search) }
}

/** A comparison with one value: `where('a.b', 'gt', 5)`. */
export function where(
  path: string,
  kind: 'eq' | 'ne' | 'gt' | 'gte' | 'lt' | 'lte',
  value: unknown,
): Comparison {
  return { kind, path: pathOf(path), value: toValue(value) }
}

/** A comparison with several values. */
export function among(
  path: string,
  kind: 'in' | 'nin' | 'all' | 'notAll',
  values: readonly unknown[],
): Comparison {
  return { kind, path: pathOf(path), values: values.map(toValue) }
}

export function exists(path: string, yes = true): Comparison {
  return { kind: 'exists', path: pathOf(path), exists: yes }
}

export function by(...keys: readonly string[]): SortKey[] {
  return keys.map((key) =>
    key.startsWith('-')
      ? { path: pathOf(key.slice(1)), direction: -1 }
      : { path: pathOf(key), direction: 1 },
  )
}

export function pathOf(text: string): Path {
  const path = parsePath(text)
  assert(!('problem' in path), text)
  return path
}

function toValue(value: unknown): Value {
  return value instanceof Map ? (value as JsonObject) : fromPlain(value)
}
