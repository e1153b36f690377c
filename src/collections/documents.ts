/**
 * What a collection means: documents with ids, search fields and rules, on top of records
 * that an engine stores. Every command on a collection is a few calls of this class.
 */
import type { Caller } from '../caller.ts'
import type { Engine, Hit, SearchBy, StoredRecord } from '../engine/contract.ts'
import { keyspaceOf, type Collection } from '../engine/schema.ts'
import type { ApiError } from '../errors/api-error.ts'
import { wholeText, type LongText } from '../json/long-text.ts'
import type { JsonObject, Value } from '../json/value.ts'
import type { Limits } from '../limits.ts'
import type { Filter } from '../language/filters/filter.ts'
import { indexingRule } from '../language/filters/indexing.ts'
import { parseFilter } from '../language/filters/parse-filter.ts'
import { checkSortIndexed, parseSort } from '../language/sorts/parse-sort.ts'
import { parseProjection, type Projection } from '../language/projection.ts'
import type { Sort } from '../language/sorts/sort.ts'
import type { Update } from '../language/updates/update.ts'
import type { Credentials, Models } from '../providers/models.ts'
import { analyzerFor, termsWithin } from '../search/lexical/analyzer.ts'
import { change, changeLocked, lockKey, type Changed, type Decide } from './change.ts'
import { insert, type Insertion } from './insert.ts'
import { embedderFor, type Embedder } from '../paging/embedder.ts'
import { decodePageState, encodePageState, nameQuery } from '../paging/page-state.ts'
import { anyOrder, count, read } from '../paging/read.ts'
import { readPage } from '../paging/read-page.ts'
import { showAll, showOne } from '../paging/show-all.ts'
import { addSimilarity } from '../paging/similarity.ts'
import { show, showsSearchFields, type Stored } from './records.ts'
import { planRerank, type AskedRerank, type RerankServer } from './rerank/rerank-plan.ts'
import { rerank, type RerankedPage } from './rerank/rerank.ts'
import { deleting, pinnedId, replacing, updating, type Revision } from './revise.ts'
import type { DocumentSource } from './search-fields.ts'
import { collectionSource, withinReach } from './document-source.ts'
import { search } from '../paging/search.ts'
import { searchPage } from '../paging/search-page.ts'
import { searchedBy, type SearchSort } from './searched-by.ts'
import type { DocumentTurns } from './document-turns.ts'

/** The clauses of a command that choose documents, and what is shown of them. */
export interface Clauses {
  readonly filter?: Value | undefined
  readonly sort?: Value | undefined
  readonly projection?: Value | undefined
}

/** Clauses, read. */
export interface Selection {
  readonly filter: Filter
  readonly sort: Sort
  readonly projection: Projection
  readonly clauses: Clauses
}

export interface FoundPage {
  /** JSON texts, with commas between them. */
  readonly documents: LongText
  readonly nextPageState: string | null
  /** What a vector search compared with. */
  readonly sortVector?: Float32Array
  readonly warnings?: readonly ApiError[]
}

interface SearchOptions {
  readonly limit?: number | undefined
  readonly pageState?: string | undefined
  readonly includeSimilarity?: boolean
}

export interface FoundOne {
  /** JSON text; null when nothing was found. */
  readonly document: string | null
  readonly sortVector?: Float32Array
}

export interface ChangedOne {
  readonly matchedCount: number
  readonly changedCount: number
  readonly upsertedId?: Value
  /** The document as it was, and as it is now; absent where there is none. */
  readonly before?: Stored
  readonly after?: Stored
  readonly failure?: ApiError
}

export interface ChangedMany {
  readonly matchedCount: number
  readonly changedCount: number
  readonly upsertedId?: Value
  /** Absent when no more documents match. */
  readonly nextPageState?: string
  readonly failure?: ApiError
}

/** What documents work with, of the whole server. */
export interface DocumentServices {
  readonly engine: Engine
  readonly limits: Limits
  readonly models: Pick<Models, 'embed'>
  readonly documentTurns: DocumentTurns
}

type Store = DocumentSource & Pick<DocumentTurns, 'locks' | 'upserts'>

export class Documents {
  readonly #store: Store

  readonly #services: DocumentServices

  constructor(
    services: DocumentServices,
    collection: Collection,
    store: Store = storeOf(services, collection),
  ) {
    this.#store = store
    this.#services = services
  }

  /** The same documents, for a request that brought keys for providers. */
  as(credentials: Credentials): Documents {
    const { collection } = this.#store
    const embedder = embedderOf(collection, this.#services.models, credentials)
    return embedder === undefined
      ? this
      : new Documents(this.#services, collection, { ...this.#store, embedder })
  }

  /** Reads clauses in the order in which their errors win. */
  select(clauses: Clauses, caller: Caller): Selection {
    const { target, limits, indexing, collection, analyzer } = this.#store
    const { vector } = collection.options
    const analyze =
      analyzer &&
      ((text: string) => {
        const bounds = { sizeMax: limits.lexicalSizeMax, budget: caller.analysis }
        return termsWithin(analyzer, text, bounds)
      })
    const vectorize = vector?.service !== undefined
    const sort = parseSort(clauses.sort, { target, limits, vector, vectorize, analyze })
    const filter = parseFilter(clauses.filter, { limits, indexing, target, analyze })
    checkSortIndexed(sort, indexing)
    const projection = parseProjection(clauses.projection)
    return { filter, sort, projection, clauses }
  }

  async insert(
    documents: readonly Value[],
    options: { readonly ordered: boolean },
    caller: Caller,
  ): Promise<readonly Insertion[]> {
    return insert(this.#store, documents, options.ordered, caller)
  }

  /**
   * One page. A limit holds for all pages together, a skip for the first. A search starts
   * with the best and cannot skip; by vector it has but one page.
   */
  async find(
    selection: Selection,
    options: {
      readonly skip?: number | undefined
      readonly limit?: number | undefined
      readonly pageState?: string | undefined
      readonly includeSimilarity?: boolean
    },
    caller: Caller,
  ): Promise<FoundPage> {
    const { filter, sort, projection, clauses } = selection
    if (sort.kind !== 'values') return this.#findBest(selection, sort, options, caller)
    const { keys } = sort
    const { pageSize } = this.#store.limits
    const { records, joined, nextPageState } = await readPage(
      this.#store,
      {
        filter,
        sort: keys,
        skip: options.skip ?? 0,
        limit: options.limit ?? Infinity,
        pageSize: Math.max(pageSize, keys.length === 0 ? idCount(filter) : 0),
        pageState: options.pageState,
        query: () => nameQuery('find', clauses.filter, clauses.sort),
        withSearchFields: showsSearchFields(projection),
        stable: false,
        textsOnly: projection.whole,
      },
      caller,
    )
    return {
      documents:
        joined?.text ??
        (await showAll(records, (record) => show(record, projection), caller)),
      nextPageState,
    }
  }

  async findOne(
    selection: Selection,
    options: { readonly includeSimilarity?: boolean },
    caller: Caller,
  ): Promise<FoundOne> {
    const { sort, projection } = selection
    if (sort.kind !== 'values') {
      const one = { ...options, limit: 1 }
      const found = await this.#findBest(selection, sort, one, caller)
      return { ...found, document: wholeText(found.documents) || null }
    }
    const record = await this.#readFirst(selection, showsSearchFields(projection), caller)
    if (record === undefined) return { document: null }
    return { document: await showOne(show(record, projection), caller) }
  }

  /** Searches by vector and by terms, and orders what is found by a reranker's word. */
  async findAndRerank(
    asked: AskedRerank,
    clauses: Omit<Clauses, 'sort'>,
    server: RerankServer,
    caller: Caller,
  ): Promise<RerankedPage> {
    const charged = { ...this.#store, analysis: caller.analysis }
    const plan = planRerank(charged, asked, server)
    return rerank(this.#store, plan, this.select(clauses, caller), server, caller)
  }

  /** Counts up to `stopAt`. */
  async count(filter: Filter, stopAt: number, caller: Caller): Promise<number> {
    return count(this.#store, filter, stopAt, documentsAlone, caller)
  }

  async estimateCount(): Promise<number> {
    return this.#store.engine.estimateCount(this.#store.collection)
  }

  async updateOne(
    selection: Selection,
    update: Update,
    options: { readonly upsert: boolean },
    caller: Caller,
  ): Promise<ChangedOne> {
    const revision = updating(update, selection.filter, this.#store, caller)
    return this.#reviseOne(selection, revision, options.upsert, caller)
  }

  async replaceOne(
    selection: Selection,
    replacement: JsonObject,
    options: { readonly upsert: boolean },
    caller: Caller,
  ): Promise<ChangedOne> {
    const revision = replacing(replacement, selection.filter, this.#store, caller)
    return this.#reviseOne(selection, revision, options.upsert, caller)
  }

  async deleteOne(selection: Selection, caller: Caller): Promise<ChangedOne> {
    return this.#changeOne(selection, { decide: deleting }, undefined, caller)
  }

  /** Updates one page of documents. */
  async updateMany(
    { filter, clauses }: Selection,
    update: Update,
    options: { readonly upsert: boolean; readonly pageState?: string | undefined },
    caller: Caller,
  ): Promise<ChangedMany> {
    const { limits } = this.#store
    const query = () => nameQuery('updateMany', clauses.filter)
    const from = options.pageState
      ? decodePageState(options.pageState, query(), limits)
      : undefined
    const wanted = {
      ...anyOrder,
      filter,
      limit: limits.pageSize,
      after: from?.place,
      stable: true,
      withSearchFields: true,
      lookAhead: true,
    }
    const revision = updating(update, filter, this.#store, caller)
    const isThere = async () =>
      (await this.#readFirst({ filter, sort: unsorted }, false, caller)) !== undefined
    const insertNew =
      from === undefined && options.upsert
        ? () => this.#insertNew(revision, filter, isThere, caller)
        : undefined
    const found = await this.#changeOrInsert(async () => {
      const page = await read(this.#store, wanted, caller)
      return page.records.length === 0 && insertNew !== undefined ? undefined : page
    }, insertNew)
    if (!('records' in found)) return found
    const { records, next } = found
    await revision.prepare?.(records)
    const changed = await change(this.#store, records, filter, revision.decide, caller)
    const total = (from?.count ?? 0) + records.length
    return {
      ...countsOf(records.length, changed),
      ...(next !== undefined && {
        nextPageState: encodePageState({ count: total, place: next }, query()),
      }),
    }
  }

  /** Deletes as many documents as one call may, and says whether more match. */
  async deleteMany(
    { filter }: Selection,
    caller: Caller,
  ): Promise<ChangedMany & { readonly more: boolean }> {
    const limit = this.#store.limits.deleteManyMax
    const wanted = { ...anyOrder, ...documentsAlone, filter, limit, lookAhead: true }
    const { records, next } = await read(this.#store, wanted, caller)
    const changed = await change(this.#store, records, filter, deleting, caller)
    return { ...countsOf(records.length, changed), more: next !== undefined }
  }

  async deleteAll(): Promise<void> {
    await this.#store.engine.truncate(this.#store.collection)
  }

  async #reviseOne(
    selection: Selection,
    revision: Revision,
    upsert: boolean,
    caller: Caller,
  ): Promise<ChangedOne> {
    return this.#changeOne(selection, revision, upsert ? revision : undefined, caller)
  }

  /**
   * A document whose _id is known from the start is locked before it is read, unless a
   * provider would keep the others waiting. `inserting` is absent if nothing is to be.
   */
  async #changeOne(
    selection: Selection,
    { prepare, decide }: Partial<Pick<Revision, 'prepare'>> & { readonly decide: Decide },
    inserting: Revision | undefined,
    caller: Caller,
  ): Promise<ChangedOne> {
    const { sort } = selection
    const by =
      sort.kind === 'values' ? undefined : await searchedBy(sort, this.#store, caller)
    const filter = by === undefined ? selection.filter : withinReach(selection.filter, by)
    const id = prepare === undefined ? pinnedId(selection.filter) : undefined
    const changes = id === undefined ? change : changeLocked
    const attempt = async () => {
      for (;;) {
        const found = await this.#readFirst(selection, true, caller, by)
        if (found === undefined) return undefined
        await prepare?.([found])
        const changed = await changes(this.#store, [found], filter, decide, caller)
        // Where others took the document first, another one may match.
        if (changed.settled.length > 0 || changed.failure !== undefined)
          return outcomeOf(changed)
      }
    }
    const isThere = async () =>
      (await this.#readFirst(selection, false, caller, by)) !== undefined
    const run = () =>
      this.#changeOrInsert(
        attempt,
        inserting && (() => this.#insertNew(inserting, filter, isThere, caller)),
      )
    return id === undefined
      ? run()
      : this.#store.locks.holding([lockKey(this.#store, id)], run)
  }

  /**
   * Changes what is found or, where there is nothing and something is to be inserted, does
   * that. What others insert first is changed after all.
   */
  async #changeOrInsert<T>(
    attempt: () => Promise<T | undefined>,
    insertNew: (() => Promise<ChangedOne | 'taken' | 'look again'>) | undefined,
  ): Promise<T | ChangedOne> {
    // An _id may be taken for good, by a document that the filter does not match.
    for (let left = this.#store.limits.writeAttemptsMax; ;) {
      const changed = await attempt()
      if (changed !== undefined) return changed
      if (insertNew === undefined || left === 0) return nothing
      const inserted = await insertNew()
      if (inserted === 'taken') left--
      else if (inserted !== 'look again') return inserted
    }
  }

  /** Inserts what a revision makes of nothing, unless another request did meanwhile. */
  async #insertNew(
    revision: Revision,
    filter: Filter,
    isThere: () => Promise<boolean>,
    caller: Caller,
  ): Promise<ChangedOne | 'taken' | 'look again'> {
    const { engine, collection, upserts } = this.#store
    const record = await revision.create()
    const insertRecord = async () => {
      const writes = [{ kind: 'insert', record }] as const
      const [outcome] = await engine.write(collection, writes, { deadline: caller })
      if (outcome !== 'done') return 'taken'
      return { ...nothing, upsertedId: record.id, after: record }
    }
    // Others that ask for the same _id find it taken.
    if (pinnedId(filter) !== undefined) return insertRecord()
    const inserted = await upserts.inTurn(
      collection.uid,
      record,
      (other) => this.#store.matches(filter, { ...other, version: 0 }),
      async () => ((await isThere()) ? undefined : insertRecord()),
      caller,
    )
    return inserted ?? 'look again'
  }

  /** `by` is what the sort searches by, if it does. */
  async #readFirst(
    { filter, sort }: Pick<Selection, 'filter' | 'sort'>,
    withSearchFields: boolean,
    caller: Caller,
    by?: SearchBy,
  ): Promise<StoredRecord | undefined> {
    const wanted = { filter, limit: 1, withSearchFields }
    if (by !== undefined)
      return (await search(this.#store, { ...wanted, by }, caller))[0]?.record
    const keys = sort.kind === 'values' ? sort.keys : []
    const inOrder = { ...anyOrder, ...wanted, sort: keys, stable: false }
    const found = await read(this.#store, inOrder, caller)
    return found.records[0]
  }

  async #findBest(
    { filter, projection, clauses }: Selection,
    sort: SearchSort,
    { limit, pageState, includeSimilarity }: SearchOptions,
    caller: Caller,
  ): Promise<FoundPage> {
    const by = await searchedBy(sort, this.#store, caller)
    const query = () => nameQuery('find', clauses.filter, clauses.sort)
    const withSearchFields = showsSearchFields(projection)
    const { hits, nextPageState, warnings } = await searchPage(
      this.#store,
      { by, filter, limit, withSearchFields, pageState, query },
      caller,
    )
    const isVector = by.kind === 'vector'
    const showHit = ({ record, score }: Hit) => {
      const shown = show(record, projection)
      return isVector && includeSimilarity ? addSimilarity(shown, score) : shown
    }
    return {
      documents: await showAll(hits, showHit, caller),
      nextPageState,
      warnings,
      ...(isVector && { sortVector: by.numbers }),
    }
  }
}

function storeOf(
  { engine, limits, models, documentTurns }: DocumentServices,
  collection: Collection,
): Store {
  const { lexical, indexing } = collection.options
  return {
    ...collectionSource(engine, collection, limits),
    target: `${keyspaceOf(collection)}.${collection.name}`,
    indexing: indexingRule(indexing),
    analyzer: lexical.enabled ? analyzerFor(lexical.analyzer) : undefined,
    locks: documentTurns.locks,
    upserts: documentTurns.upserts,
    embedder: embedderOf(collection, models, {}),
  }
}

function embedderOf(
  { options }: Collection,
  models: DocumentServices['models'],
  credentials: Credentials,
): Embedder | undefined {
  return options.vector && embedderFor(options.vector, models, credentials)
}

/** Read without what stands beside them, and without being changed. */
const documentsAlone = { withSearchFields: false, stable: false } as const

const nothing = { matchedCount: 0, changedCount: 0 } as const

const unsorted: Sort = { kind: 'values', keys: [] }

function countsOf(matchedCount: number, { settled, failure }: Changed) {
  return {
    matchedCount,
    changedCount: settled.filter(({ kind }) => kind !== 'keep').length,
    ...(failure !== undefined && { failure }),
  }
}

/** A document that went away, or no longer matched, when its turn came is not shown. */
function outcomeOf(changed: Changed): ChangedOne {
  const [settled] = changed.settled
  const counts = countsOf(1, changed)
  if (settled === undefined) return counts
  const { before, after } = settled
  return { ...counts, before, ...(after !== undefined && { after }) }
}

/** How many ids the filter lists: those are answered in one page. */
function idCount(filter: Filter): number {
  for (const part of filter.kind === 'and' ? filter.of : [filter])
    if (part.kind === 'in' && part.path.text === '_id') return part.values.length
  return 0
}
