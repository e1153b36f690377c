/** A collection with search by terms, wrapped for tests. */
import type { TermStatistics } from '../../../../src/search/lexical/bm25.ts'
import assert from 'node:assert/strict'
import {
  collectionSource,
  type CollectionSource,
} from '../../../../src/collections/document-source.ts'
import { count, read, anyOrder, type PagePosition } from '../../../../src/paging/read.ts'
import { search, searchUpToSize } from '../../../../src/paging/search.ts'
import type {
  ByTerms,
  Engine,
  Hit,
  NewRecord,
  Outcome,
  SearchPlace,
  StoredRecord,
  Write,
} from '../../../../src/engine/contract.ts'
import type { Collection, CollectionOptions } from '../../../../src/engine/schema.ts'
import { parseStored } from '../../../../src/json/parse.ts'
import { printJson } from '../../../../src/json/print.ts'
import type { JsonObject } from '../../../../src/json/value.ts'
import { defaultLimits } from '../../../../src/limits.ts'
import {
  everything,
  type Comparison,
  type Filter,
} from '../../../../src/language/filters/filter.ts'
import type { SortKey } from '../../../../src/language/values/sort-key.ts'
import { analyzerFor } from '../../../../src/search/lexical/analyzer.ts'
import { createCollection, tester, pathOf, recordOf, where } from '../../store.ts'

export const lexicalOptions: CollectionOptions = {
  lexical: { enabled: true, analyzer: 'standard' },
  rerank: { enabled: false },
}

const alone = { withSearchFields: false, stable: false } as const

const analyzer = analyzerFor(lexicalOptions.lexical.analyzer)

/** The $lexical of a document; undefined if it is absent. */
export type Text = string | null | undefined

export class LexicalStore {
  readonly engine: Engine
  readonly target: Collection
  readonly #source: CollectionSource

  constructor(engine: Engine, target: Collection) {
    this.engine = engine
    this.target = target
    this.#source = collectionSource(engine, target, defaultLimits)
  }

  static async create(engine: Engine, name: string): Promise<LexicalStore> {
    await createCollection(engine, name, lexicalOptions)
    return LexicalStore.find(engine, name)
  }

  static async find(engine: Engine, name: string): Promise<LexicalStore> {
    const target = await engine.findTarget('default_keyspace', name)
    assert(target?.kind === 'collection', `${name} should exist`)
    return new LexicalStore(engine, target)
  }

  /** A view of this collection through another engine. */
  through(engine: Engine): LexicalStore {
    return new LexicalStore(engine, this.target)
  }

  async insert(...documents: readonly (readonly [object, Text?])[]): Promise<void> {
    const outcomes = await this.write(
      documents.map(([document, text]) => insertion(document, text)),
    )
    assert(outcomes.every((outcome) => outcome === 'done'))
  }

  write(writes: readonly Write[]): Promise<readonly Outcome[]> {
    return this.engine.write(this.target, writes)
  }

  /** Replaces a document, and its text if one is given. */
  async replace(document: { readonly _id: unknown }, text?: Text): Promise<Outcome> {
    const [outcome] = await this.write([
      replacement(await this.one(document._id), document, text),
    ])
    return outcome!
  }

  async delete(id: unknown): Promise<Outcome> {
    const [outcome] = await this.write([{ kind: 'delete', before: await this.one(id) }])
    return outcome!
  }

  async one(id: unknown): Promise<StoredRecord> {
    const wanted = { ...anyOrder, filter: where('_id', 'eq', id), limit: 1 }
    const { records } = await read(
      this.#source,
      { ...wanted, withSearchFields: true, stable: false },
      tester,
    )
    assert(records.length === 1, `${String(id)} should exist`)
    return records[0]!
  }

  /** The _ids of the best documents, best first. */
  async search(words: string, filter: Filter = everything, limit = 1000) {
    return (await this.hits(words, filter, limit)).map(([id]) => id)
  }

  /** The _ids of the best documents that contain some of the words, but not all. */
  async searchSome(words: string, filter: Filter = everything, limit = 1000) {
    return (await this.hits(words, filter, limit, 'some')).map(([id]) => id)
  }

  async hits(
    words: string,
    filter: Filter = everything,
    limit = 1000,
    having: ByTerms['having'] = 'all',
  ) {
    const by = { ...termsOf(words), having }
    const wanted = { by, filter, limit, withSearchFields: false }
    const hits = await search(this.#source, wanted, tester)
    return hits.map(idAndScore)
  }

  /** Searches page by page; `meanwhile` runs after each page. */
  async pagesOfHits(
    words: string,
    filter: Filter = everything,
    pageSize = 20,
    having: ByTerms['having'] = 'all',
    meanwhile: () => Promise<void> = () => Promise.resolve(),
  ) {
    const found: (readonly [unknown, number])[] = []
    const by = { ...termsOf(words), having }
    let statistics: TermStatistics | undefined
    for (let after: SearchPlace | undefined; ;) {
      const page = { limit: pageSize, after, statistics }
      const wanted = { by, filter, withSearchFields: false, ...page }
      const { hits, ...result } = await searchUpToSize(this.#source, wanted, tester)
      found.push(...hits.map(idAndScore))
      const last = hits.at(-1)
      if (last === undefined) return found
      statistics = result.statistics
      after = { score: last.score, id: last.record.id }
      await meanwhile()
    }
  }

  /** The _ids of matching documents, page by page. */
  async ids(filter: Filter, sort: readonly SortKey[] = [], pageSize = 20) {
    const found: unknown[] = []
    let after: PagePosition | undefined
    do {
      const wanted = {
        ...anyOrder,
        ...alone,
        ...{ filter, sort, limit: pageSize, after, lookAhead: true },
      }
      const page = await read(this.#source, wanted, tester)
      found.push(...page.records.map(plainId))
      after = page.next
    } while (after !== undefined)
    return found
  }

  count(filter: Filter, stopAt = 1_000_000): Promise<number> {
    return count(this.#source, filter, stopAt, alone, tester)
  }
}

function termsOf(words: string) {
  return {
    kind: 'lexical',
    path: '$lexical',
    terms: words.split(' '),
    text: words,
  } as const
}

function idAndScore({ record, score }: Hit): readonly [unknown, number] {
  return [plainId(record), score]
}

export function match(words: string): Comparison {
  return { kind: 'match', path: pathOf('$lexical'), terms: words.split(' '), text: words }
}

export function insertion(document: object, text: Text): Write {
  return { kind: 'insert', record: lexicalRecord(document, text) }
}

export function replacement(before: StoredRecord, document: object, text: Text): Write {
  return {
    kind: 'replace',
    before,
    beforeDocument: parseStored(before.text) as JsonObject,
    after: lexicalRecord(document, text),
  }
}

function lexicalRecord(document: object, text: Text): NewRecord {
  const record = recordOf(document, text === undefined ? {} : { lexical: text })
  return typeof text === 'string'
    ? { ...record, terms: () => analyzer.terms(text) }
    : record
}

function plainId({ id }: StoredRecord): unknown {
  return JSON.parse(printJson(id))
}
