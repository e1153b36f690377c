/** Update, replace and delete commands of documents, with and without upsert. */
import type { Caller } from '../caller/caller.ts'
import type { NewRecord } from '../engine/contract.ts'
import { EngineError } from '../engine/errors.ts'
import type { ApiError } from '../errors/api-error.ts'
import type { JsonObject, Value } from '../json/value.ts'
import type { Filter } from '../language/filters/filter.ts'
import type { Sort } from '../language/sorts/sort.ts'
import type { Update } from '../language/updates/update.ts'
import { decodePageState, encodePageState, nameQuery } from '../paging/page-state.ts'
import { anyOrder, read } from '../paging/read.ts'
import { change, changeLocked, lockKey, type Changed, type Decide } from './change.ts'
import { operatorOf } from '../language/sorts/sort.ts'
import { withinReach } from './document-source.ts'
import type { DocumentStore } from './document-store.ts'
import { waitForTurn } from './document-turns.ts'
import { documentsAlone, readFirst } from './find-documents.ts'
import { inTurns } from '../runtime/steps.ts'
import type { Stored } from './records.ts'
import { deleting, pinnedId, replacing, updating, type Revision } from './revise.ts'
import { documentsSearchedBy } from './searched-by.ts'
import { expandHybrid } from './search-fields.ts'
import type { Selection } from './selection.ts'

export interface ChangedOne {
  readonly matchedCount: number
  readonly changedCount: number
  readonly upsertedId?: Value
  /** The document before and after the change; absent when it did not exist. */
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

export function updateDocument(
  store: DocumentStore,
  selection: Selection,
  update: Update,
  { upsert }: { readonly upsert: boolean },
  caller: Caller,
): Promise<ChangedOne> {
  const revision = updating(update, selection.filter, store, caller)
  return changeOne(store, selection, revision, upsert ? revision : undefined, caller)
}

export async function replaceDocument(
  store: DocumentStore,
  selection: Selection,
  replacement: JsonObject,
  { upsert }: { readonly upsert: boolean },
  caller: Caller,
): Promise<ChangedOne> {
  const expanding = inTurns(expandHybrid(replacement, 'the replacement'), caller)
  const expanded = expanding instanceof Promise ? await expanding : expanding
  const revision = replacing(expanded, selection.filter, store, caller)
  return changeOne(store, selection, revision, upsert ? revision : undefined, caller)
}

export function deleteDocument(
  store: DocumentStore,
  selection: Selection,
  caller: Caller,
): Promise<ChangedOne> {
  return changeOne(store, selection, { decide: deleting }, undefined, caller)
}

/** Updates the matching documents of one page. */
export async function updateDocuments(
  store: DocumentStore,
  { filter, clauses }: Selection,
  update: Update,
  options: { readonly upsert: boolean; readonly pageState?: string | undefined },
  caller: Caller,
): Promise<ChangedMany> {
  const { limits } = store
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
  const revision = updating(update, filter, store, caller)
  const isThere = async () =>
    (await readFirst(store, { filter, sort: unsorted }, false, caller)) !== undefined
  const readPage = () => read(store, wanted, caller)
  const found =
    from === undefined && options.upsert
      ? await changeOrInsert(
          store,
          async () => {
            const page = await readPage()
            return page.records.length === 0 ? undefined : page
          },
          () => insertNew(store, revision, filter, isThere, caller),
        )
      : await readPage()
  if (!('records' in found)) return found
  const { records, next } = found
  await revision.prepare?.(records)
  const changed = await change(store, records, filter, revision.decide, caller)
  const total = (from?.count ?? 0) + records.length
  const paged = { noun: store.noun, sort: [], limits }
  return {
    ...countsOf(records.length, changed),
    ...(next !== undefined && {
      nextPageState: encodePageState({ count: total, place: next }, query(), paged),
    }),
  }
}

/** Deletes up to `deleteManyMax` documents, and reports whether more match. */
export async function deleteDocuments(
  store: DocumentStore,
  { filter }: Selection,
  caller: Caller,
): Promise<ChangedMany & { readonly more: boolean }> {
  const limit = store.limits.deleteManyMax
  const wanted = { ...anyOrder, ...documentsAlone, filter, limit, lookAhead: true }
  const { records, next } = await read(store, wanted, caller)
  const changed = await change(store, records, filter, deleting, caller)
  return { ...countsOf(records.length, changed), more: next !== undefined }
}

/**
 * Changes the first matching document. If the filter requires one _id and the change embeds no
 * text, the document is locked before it is read. During an embedding request, a lock would keep
 * other writers waiting. `inserting` is the revision of an upsert; undefined: no upsert.
 */
async function changeOne(
  store: DocumentStore,
  selection: Selection,
  { prepare, decide }: Partial<Pick<Revision, 'prepare'>> & { readonly decide: Decide },
  inserting: Revision | undefined,
  caller: Caller,
): Promise<ChangedOne> {
  const { sort } = selection
  const by =
    sort.kind === 'values' ? undefined : await documentsSearchedBy(sort, store, caller)
  const filter =
    by === undefined
      ? selection.filter
      : withinReach(selection.filter, by, operatorOf(sort))
  const id = prepare === undefined ? pinnedId(selection.filter) : undefined
  const changes = id === undefined ? change : changeLocked
  const attempt = async () => {
    for (;;) {
      const reading = readFirst(store, selection, true, caller, by)
      const found = reading instanceof Promise ? await reading : reading
      if (found === undefined) return undefined
      if (prepare !== undefined) await prepare([found])
      const changed = await changes(store, [found], filter, decide, caller)
      // Concurrent writers removed or changed the document; another document may match.
      if (changed.settled.length > 0 || changed.failure !== undefined)
        return outcomeOf(changed)
    }
  }
  const isThere = async () =>
    (await readFirst(store, selection, false, caller, by)) !== undefined
  const run =
    inserting === undefined
      ? attempt
      : () =>
          changeOrInsert(store, attempt, () =>
            insertNew(store, inserting, filter, isThere, caller),
          )
  if (id === undefined) return (await run()) ?? nothing
  const keys = [lockKey(store, id)]
  const turn = waitForTurn(run, (work) => store.turns.holding(keys, work), caller)
  return (await turn) ?? nothing
}

/**
 * Runs `attempt`, which changes a matching document, and inserts a document if none matches. If a
 * concurrent request inserts a matching document first, changes that document instead.
 */
async function changeOrInsert<T>(
  { limits }: DocumentStore,
  attempt: () => Promise<T | undefined>,
  insertOne: () => Promise<ChangedOne | 'taken' | 'look again'>,
): Promise<T | ChangedOne> {
  // The attempts are limited: without a limit, they would fail forever if a document has the _id
  // but does not match the filter.
  for (let left = limits.writeAttemptsMax; ;) {
    const changed = await attempt()
    if (changed !== undefined) return changed
    if (left === 0) return nothing
    const inserted = await insertOne()
    if (inserted === 'taken') left--
    else if (inserted !== 'look again') return inserted
  }
}

/**
 * Inserts the document of an upsert. Returns 'taken' if a document with its _id exists, and 'look
 * again' if a concurrent upsert may have inserted a matching document.
 */
async function insertNew(
  store: DocumentStore,
  revision: Revision,
  filter: Filter,
  isThere: () => Promise<boolean>,
  caller: Caller,
): Promise<ChangedOne | 'taken' | 'look again'> {
  const { engine, collection, turns } = store
  const record = await revision.create()
  const insertRecord = async () => {
    const writes = [{ kind: 'insert', record }] as const
    const [outcome] = await engine.write(collection, writes, { caller })
    if (outcome instanceof EngineError) throw outcome
    if (outcome !== 'done') return 'taken'
    return { ...nothing, upsertedId: record.id, after: record }
  }
  // If the filter requires one _id, no turn is needed: concurrent inserts with the same _id fail as
  // duplicates.
  if (pinnedId(filter) !== undefined) return insertRecord()
  const wouldFind = (other: NewRecord) => {
    const look = () => store.matches(filter, { ...other, version: 0 }, caller)
    const pause = caller.pause()
    return pause === undefined ? look() : pause.then(look)
  }
  const inserted = await waitForTurn(
    async () => ((await isThere()) ? undefined : insertRecord()),
    (work) => turns.inserting(collection.uid, record, wouldFind, work),
    caller,
  )
  return inserted ?? 'look again'
}

const nothing = { matchedCount: 0, changedCount: 0 } as const

const unsorted: Sort = { kind: 'values', keys: [] }

function countsOf(matchedCount: number, { settled, failure }: Changed) {
  return {
    matchedCount,
    changedCount: settled.filter(({ kind }) => kind !== 'keep').length,
    ...(failure !== undefined && { failure }),
  }
}

/**
 * The outcome for the reply. It has no document if the document was deleted, or stopped matching,
 * before it could be changed.
 */
function outcomeOf(changed: Changed): ChangedOne {
  const [settled] = changed.settled
  const counts = countsOf(1, changed)
  if (settled === undefined) return counts
  const { before, after } = settled
  return { ...counts, before, ...(after !== undefined && { after }) }
}
