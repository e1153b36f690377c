/**
 * Atomic changes of documents that a read found; each document is changed at most once.
 *
 * Turns serialize requests of this server for the same documents; versions in the engine detect
 * other writers. A document is read again after a wait for its turn, and after its version
 * changed, and is skipped when it no longer matches.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Caller } from '../caller/caller.ts'
import type { NewRecord, Outcome, StoredRecord, Write } from '../engine/contract.ts'
import { throwFailed } from '../engine/errors.ts'
import { keyspaceOf } from '../engine/schema.ts'
import { apiError, type ApiError } from '../errors/api-error.ts'
import type { JsonObject } from '../json/value.ts'
import type { Filter } from '../language/filters/filter.ts'
import { idKey, idPath } from '../language/values/record-id.ts'
import { reserveMemory } from '../paging/parse-with-memory.ts'
import { anyOrder, read } from '../paging/read.ts'
import type { CollectionSource } from './document-source.ts'
import { waitForTurn, type DocumentTurns } from './document-turns.ts'

export type Decision =
  | { readonly kind: 'keep' }
  | { readonly kind: 'delete' }
  | {
      readonly kind: 'replace'
      /** The parsed text of the record. */
      readonly beforeDocument: JsonObject
      readonly after: NewRecord
    }

/** Computes the change of a record: keep, replace or delete. */
export type Decide = (record: StoredRecord) => Decision | Promise<Decision>

interface Decided {
  readonly before: StoredRecord
  readonly decision: Decision
}

export interface Settled {
  readonly kind: Decision['kind']
  readonly before: StoredRecord
  /** The document after the change; absent when it was deleted. */
  readonly after?: Pick<StoredRecord, 'text' | 'search'>
}

export interface Changed {
  /** Records that were changed, or needed no change. */
  readonly settled: readonly Settled[]
  /**
   * Why some records are missing in `settled`. It is not a failure if a record was deleted
   * meanwhile or stopped matching.
   */
  readonly failure: ApiError | undefined
}

/** Waits for the turns of all records, then changes the records. */
export async function change(
  source: CollectionSource & { readonly turns: DocumentTurns },
  found: readonly StoredRecord[],
  filter: Filter,
  decide: Decide,
  caller: Caller,
): Promise<Changed> {
  const keys = found.map((record) => lockKey(source, record.id))
  const changeAll = async (waited: boolean) => {
    const current = waited ? await readAgain(source, found, filter, caller) : found
    return changeLocked(source, current, filter, decide, caller)
  }
  return waitForTurn(changeAll, (work) => source.turns.holding(keys, work), caller)
}

export function lockKey({ collection }: CollectionSource, id: StoredRecord['id']): string {
  return `${collection.uid} ${idKey(id)}`
}

/** Changes records whose turn the caller already holds. */
export async function changeLocked(
  source: CollectionSource,
  found: readonly StoredRecord[],
  filter: Filter,
  decide: Decide,
  caller: Caller,
): Promise<Changed> {
  const settled: Settled[] = []
  const lost: StoredRecord[] = []
  const parts = partsOf(found)
  const texts = parts.map((part) => part.map(({ text }) => text))
  // Memory is reserved once for all parts: after the first part is written, the other parts must
  // not fail for lack of memory.
  const borrowing = reserveMemory(texts, caller)
  const release = borrowing instanceof Promise ? await borrowing : borrowing
  try {
    for (const part of parts)
      lost.push(...(await changePart(source, part, settled, { filter, decide, caller })))
  } finally {
    release()
  }
  return { settled, failure: lost.length === 0 ? undefined : contended(source, lost) }
}

/** Maximum characters of the records in one part, unless a part has a single record. */
const partLength = 1_000_000

/**
 * Splits records into parts that are written together. New versions stay in memory until they
 * are written, so large documents are changed one at a time.
 */
function partsOf(records: readonly StoredRecord[]): readonly (readonly StoredRecord[])[] {
  const parts: StoredRecord[][] = []
  let room = -1
  for (const record of records) {
    room -= record.text.length
    if (room >= 0) parts.at(-1)!.push(record)
    else {
      parts.push([record])
      room = partLength - record.text.length
    }
  }
  return parts
}

interface Change {
  readonly filter: Filter
  readonly decide: Decide
  readonly caller: Caller
}

/**
 * Maximum random delay in milliseconds before a retry. Writers that conflicted get different
 * delays, so that they are unlikely to conflict again.
 */
const pauseMsMax = 64

/**
 * Changes the records of a part. Returns the records that other writers changed first in every
 * attempt.
 */
async function changePart(
  source: CollectionSource,
  found: readonly StoredRecord[],
  settled: Settled[],
  { filter, decide, caller }: Change,
): Promise<readonly StoredRecord[]> {
  const { engine, collection, limits } = source
  let pending = found
  for (let attempt = 1; ; attempt++) {
    const decided: Decided[] = []
    let refusal: { readonly error: unknown } | undefined
    try {
      for (const before of pending) {
        const pause = caller.pause()
        if (pause !== undefined) await pause
        const deciding = decide(before)
        const decision = deciding instanceof Promise ? await deciding : deciding
        decided.push({ before, decision })
      }
    } catch (error) {
      // This record cannot be changed; earlier records of the part are still written.
      refusal = { error }
    }
    const writes = decided.map(writeOf).filter((write) => write !== undefined)
    const outcomes =
      writes.length === 0 ? [] : await engine.write(collection, writes, { caller })
    const lost = settle(decided, outcomes, settled)
    throwFailed(outcomes)
    if (refusal !== undefined) throw refusal.error
    if (lost.length === 0 || attempt >= limits.changeAttemptsMax) return lost
    if (attempt > 1) await delay(Math.random() * Math.min(2 ** attempt, pauseMsMax))
    pending = await readAgain(source, lost, filter, caller)
  }
}

/**
 * Adds written records to `settled`, and returns the records that another writer changed first.
 */
function settle(
  decided: readonly Decided[],
  outcomes: readonly Outcome[],
  settled: Settled[],
): readonly StoredRecord[] {
  const lost: StoredRecord[] = []
  let next = 0
  for (const entry of decided)
    if (entry.decision.kind === 'keep' || outcomes[next++] === 'done')
      settled.push(settledOf(entry))
    else lost.push(entry.before)
  return lost
}

/**
 * The part of a change that the reply needs. It omits members that only the write needs, because
 * they can be large.
 */
function settledOf({ before, decision }: Decided): Settled {
  const { kind } = decision
  switch (kind) {
    case 'keep':
      return { kind, before, after: before }
    case 'delete':
      return { kind, before }
    case 'replace': {
      const { text, search } = decision.after
      return { kind, before, after: { text, search } }
    }
  }
}

function writeOf({ before, decision }: Decided): Write | undefined {
  switch (decision.kind) {
    case 'keep':
      return undefined
    case 'delete':
      return { kind: 'delete', before }
    case 'replace':
      return {
        kind: 'replace',
        before,
        beforeDocument: decision.beforeDocument,
        after: decision.after,
      }
  }
}

async function readAgain(
  source: CollectionSource,
  records: readonly StoredRecord[],
  filter: Filter,
  caller: Caller,
): Promise<readonly StoredRecord[]> {
  const ids = records.map(({ id }) => id)
  const among: Filter = { kind: 'in', path: idPath, values: ids }
  const both: Filter = { kind: 'and', of: [among, filter] }
  const fields = { withSearchFields: true, stable: false }
  const wanted = { ...anyOrder, ...fields, filter: both, limit: ids.length }
  return (await read(source, wanted, caller)).records
}

function contended(
  { collection, limits }: CollectionSource,
  lost: readonly StoredRecord[],
): ApiError {
  const attempts = limits.changeAttemptsMax
  const target = `${keyspaceOf(collection)}.${collection.name}`
  const failure = apiError('FAILED_CONCURRENT_OPERATIONS', { target, attempts })
  failure.documentIds = lost.map(({ id }) => id)
  return failure
}
