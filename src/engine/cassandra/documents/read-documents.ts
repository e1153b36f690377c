/**
 * Reads of documents: one branch of the plan after the other, each in the order of tokens, by
 * which partitions are spread over the cluster. A place is a branch and the last document's
 * token, so any server can go on from there, whatever was written meanwhile.
 */
import type { types } from 'cassandra-driver'
import type { Caller } from '../../../caller.ts'
import type { JsonObject } from '../../../json/value.ts'
import type { Filter } from '../../../language/filters/filter.ts'
import { indexingRule, type IndexingRule } from '../../../language/filters/indexing.ts'
import { matches } from '../../../language/filters/matches.ts'
import type { Collection, Page, Position, Query, StoredRecord } from '../../contract.ts'
import { EngineError } from '../../errors.ts'
import type { Session } from '../cluster/session.ts'
import { quoteTarget } from '../cluster/statement.ts'
import { boundKey, conditionsOf } from './columns.ts'
import type { DocumentKey } from './document-key.ts'
import { holdsAll, planFilter, type Branch } from './filter-plan.ts'
import { shred } from './shred.ts'
import { readDocument, splitText } from './stored-text.ts'

export interface ReadLimits {
  /** Documents that one read may look at to find those that match. */
  readonly scannedMax: number
}

/** Documents of a page of the cluster's: a few, because each may be large. */
const fetchSize = 50

/** Documents that are asked for at a time by their keys. */
const keysAtATime = 16

interface Found {
  readonly stored: string
  /** Where it was read to see whether it matches. */
  readonly document?: JsonObject
  readonly version: string
  readonly branch: number
  /** Undefined where documents are read by their keys. */
  readonly token: string | undefined
}

interface Kept extends StoredRecord {
  readonly position: Position
}

/** Whether the filter can be answered from what is stored: terms need an analyzer. */
export function canMatch(filter: Filter): boolean {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return filter.of.every(canMatch)
    default:
      return filter.kind !== 'match'
  }
}

export async function readDocuments(
  session: Session,
  collection: Collection,
  query: Query,
  limits: ReadLimits,
  caller: Caller,
): Promise<Page> {
  const { filter, sort, limit, after, withSearchFields, lookAhead, sizeMax } = query
  const served = { filter: canMatch(filter), sort: sort.length === 0 }
  const isServed = served.filter && served.sort
  let toSkip = isServed && after === undefined ? query.skip : 0
  const records: Kept[] = []
  let size = 0
  let next: Position | undefined
  const wanted = { filter: served.filter ? filter : undefined, after }
  for await (const found of findMatching(
    session,
    collection,
    query.filter,
    wanted,
    limits,
    caller,
  )) {
    if (toSkip-- > 0) continue
    if (records.length === limit || size > (isServed ? (sizeMax ?? Infinity) : Infinity)) {
      next = records.at(-1)!.position
      break
    }
    const record = splitText(found.stored, found.version, withSearchFields, found.document)
    records.push({ ...record, position: positionOf(found) })
    size += record.text.length
    const isEnough = isServed && lookAhead === false && records.length === limit
    if (isEnough) break
  }
  return {
    records,
    served,
    next,
    positionAfter: (record) => (record as Kept).position,
  }
}

export async function countDocuments(
  session: Session,
  collection: Collection,
  filter: Filter,
  stopAt: number,
  limits: ReadLimits,
  caller: Caller,
): Promise<number | undefined> {
  if (!canMatch(filter)) return undefined
  let count = 0
  const wanted = { filter, after: undefined }
  const all = findMatching(session, collection, filter, wanted, limits, caller)
  while (count < stopAt && !(await all.next()).done) count++
  await all.return(undefined)
  return count
}

/** `filter` is what to sort out by, if anything; `planned` what led to the plan. */
async function* findMatching(
  session: Session,
  collection: Collection,
  planned: Filter,
  {
    filter,
    after,
  }: { readonly filter: Filter | undefined; readonly after: Position | undefined },
  { scannedMax }: ReadLimits,
  caller: Caller,
): AsyncGenerator<Found> {
  const plan = planFilter(planned)
  const place = after === undefined ? { branch: 0, token: undefined } : placeAt(after)
  const found =
    plan.kind === 'keys'
      ? findByKeys(session, collection, plan.keys.slice(place.branch), place.branch)
      : findByBranches(session, collection, plan.branches, place)
  const indexing = indexingRule(collection.options.indexing)
  let scanned = 0
  for await (const one of found) {
    caller.check()
    if (++scanned > scannedMax) throw tooMuch(collection, scannedMax)
    const pause = caller.pause()
    if (pause !== undefined) await pause
    if (filter === undefined) {
      yield one
      continue
    }
    const document = readDocument(one.stored)
    const isWanted =
      matches(filter, document) &&
      !(
        plan.kind === 'branches' &&
        isOfEarlier(plan.branches, one.branch, document, indexing)
      )
    if (isWanted) yield { ...one, document }
  }
}

function tooMuch({ name }: Collection, scannedMax: number): EngineError {
  return new EngineError(
    'unsupported',
    `more than ${scannedMax} documents of ${name} had to be looked at. Add a condition that an index ` +
      'serves, such as an equality, or raise --max-scanned',
  )
}

/** Documents that several branches find count for the first of them. */
function isOfEarlier(
  branches: readonly Branch[],
  branch: number,
  document: JsonObject,
  indexing: IndexingRule,
): boolean {
  if (branch === 0) return false
  const shredded = shred(indexing.prune(document), {})
  return branches.slice(0, branch).some((terms) => holdsAll(terms, shredded))
}

const columns = 'doc_json, tx_id'

async function* findByKeys(
  session: Session,
  collection: Collection,
  keys: readonly DocumentKey[],
  first: number,
): AsyncGenerator<Found> {
  const text = `SELECT ${columns} FROM ${quoteTarget(collection)} WHERE key = ?`
  for (let from = 0; from < keys.length; from += keysAtATime) {
    const some = keys.slice(from, from + keysAtATime)
    const found = await Promise.all(
      some.map((key) => session.run({ text, values: [boundKey(key)] }, 'read')),
    )
    for (const [i, { rows }] of found.entries())
      for (const row of rows) {
        const one = foundIn(row, first + from + i, undefined)
        if (one !== undefined) yield one
      }
  }
}

async function* findByBranches(
  session: Session,
  collection: Collection,
  branches: readonly Branch[],
  place: Place,
): AsyncGenerator<Found> {
  for (let branch = place.branch; branch < branches.length; branch++) {
    const after = branch === place.branch ? place.token : undefined
    yield* findByBranch(session, collection, branches[branch]!, branch, after)
  }
}

async function* findByBranch(
  session: Session,
  collection: Collection,
  terms: Branch,
  branch: number,
  after: string | undefined,
): AsyncGenerator<Found> {
  const conditions = conditionsOf(terms)
  const where = [conditions.text, after === undefined ? '' : 'token(key) > ?'].filter(
    Boolean,
  )
  const text =
    `SELECT ${columns}, token(key) AS place FROM ${quoteTarget(collection)}` +
    (where.length === 0 ? '' : ` WHERE ${where.join(' AND ')}`)
  const values =
    after === undefined ? conditions.values : [...conditions.values, BigInt(after)]
  for await (const row of session.rowsOf({ text, values }, 'read', fetchSize)) {
    const one = foundIn(row, branch, String(row['place']))
    if (one !== undefined) yield one
  }
}

function foundIn(
  row: types.Row,
  branch: number,
  token: string | undefined,
): Found | undefined {
  const stored = row['doc_json'] as string | null
  // A row that a condition left behind, without a document.
  if (stored === null) return undefined
  return { stored, version: String(row['tx_id']), branch, token }
}

interface Place {
  readonly branch: number
  readonly token: string | undefined
}

function positionOf({ branch, token }: Found): Position {
  return token === undefined ? `${branch + 1}` : `${branch}:${token}`
}

function placeAt(position: Position): Place {
  const [, branch, token] = /^(\d{1,9})(?::(-?\d{1,19}))?$/.exec(position) ?? []
  if (branch === undefined) throw new EngineError('position', 'no such place')
  return { branch: Number(branch), token }
}
