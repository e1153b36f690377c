/**
 * Reads documents by their keys, by our own term index, or one branch of the plan after the other,
 * each branch in the order of partition tokens. A position is that of the last document: its key,
 * or its branch and its token. Any server can therefore continue from it, whatever was written in
 * between.
 */
import type { types } from 'cassandra-driver'
import type { Caller } from '../../../caller/caller.ts'
import type { JsonObject, Value } from '../../../json/value.ts'
import { flatten, type Filter } from '../../../language/filters/filter.ts'
import { indexingRule, type IndexingRule } from '../../../language/filters/indexing.ts'
import { matches } from '../../../language/filters/matches.ts'
import { sortInSteps } from '../../../runtime/sort-in-steps.ts'
import { inTurns, Pace, type Steps } from '../../../runtime/steps.ts'
import type { Collection, Page, Position, Query, StoredRecord } from '../../contract.ts'
import { EngineError } from '../../errors.ts'
import type { SentStatements } from '../cluster/sent-statements.ts'
import { pageSizeOf } from '../cluster/page-size.ts'
import type { Session } from '../cluster/session.ts'
import { preparedTarget } from '../cluster/statement.ts'
import type { ClusterPostings } from '../lexical/postings.ts'
import { keysWithTerms } from '../lexical/search-terms.ts'
import { placeInScan, Scan, textsMaxOf, type ReadLimits } from '../system/read-limits.ts'
import { boundKey, conditionsOf } from './columns.ts'
import { keysOf, type DocumentKey } from './document-key.ts'
import { matcherOf } from './document-filter.ts'
import { idOfTextKey, textPlace } from './document-texts.ts'
import { versionIn } from './document-version.ts'
import { satisfiesAll, type Branch, type FilterPlan } from './filter-plan.ts'
import { planWith, type FilterCapabilities } from './filter-capabilities.ts'
import { shredInSteps } from './shred.ts'
import { idIn, readInTurns, splitText } from './stored-text.ts'

/** Maximum documents per page; pages of large documents have fewer. */
const fetchSize = 50

/** Number of documents per page when they are only counted. */
const countedAtATime = 5_000

/** Number of documents that are read concurrently by key. */
const keysAtATime = 16

interface MatchingText {
  readonly stored: string
  /** The parsed document, if the check of the filter has parsed it. */
  readonly document?: JsonObject
  readonly version: string
  readonly branch: number
  /** Position directly after this document. */
  readonly position: Position
}

interface Kept extends StoredRecord {
  readonly position: Position
}

/** Everything that a read of documents needs. */
export interface DocumentAccess {
  readonly session: Session
  readonly limits: ReadLimits
  /** Our own term index; undefined: the collection has none, or the cluster provides one. */
  readonly postings: ClusterPostings | undefined
  /** Kinds of filter conditions that this cluster serves in addition to equality and presence. */
  readonly more: FilterCapabilities
}

export async function readDocuments(
  access: DocumentAccess,
  collection: Collection,
  query: Query,
  caller: Caller,
  sent?: SentStatements,
): Promise<Page> {
  const { filter, lookAhead, limit } = query
  const scan = new Scan(query.after)
  const { after } = scan
  const page = new PageOfDocuments(query, scan)
  const plan = planWith(filter, access.more)
  sent?.check(checkedOf(filter, plan))
  if (isOfFewIds(filter, plan)) {
    const first = after === undefined ? 0 : placeAt(after).branch
    const keys = plan.keys.slice(first)
    for (const one of await readByKeys(access.session, collection, keys, first)) {
      // Only the _id is parsed here. The filter is checked on it, because a string and a UUID can
      // share a key.
      const id = idIn(one.stored)
      if (matches(filter, new Map([['_id', id]])) && !page.take(one, id)) break
    }
    return page
  }
  const count = page.isServed
    ? page.toSkip + limit + (lookAhead === false ? 0 : 1)
    : Infinity
  const wanted = { filter, after, count }
  for await (const one of findMatching(access, collection, wanted, plan, scan, caller))
    if (!page.take(one)) break
  return page
}

class PageOfDocuments implements Page {
  readonly records: Kept[] = []
  readonly served: Page['served']
  next: Position | undefined
  readonly isServed: boolean
  toSkip: number
  readonly #query: Query
  readonly #scan: Scan
  #size = 0
  #scanned = 0

  constructor(query: Query, scan: Scan) {
    this.#query = query
    this.#scan = scan
    this.isServed = query.sort.length === 0
    this.served = { filter: true, sort: this.isServed }
    this.toSkip = this.isServed && scan.after === undefined ? query.skip : 0
  }

  /** Adds a document to the page. Returns whether the page has room for more. */
  take({ stored, version, document, position }: MatchingText, id?: Value): boolean {
    if (this.toSkip-- > 0) return true
    const { records, isServed } = this
    const { limit, lookAhead, withSearchFields, sizeMax = Infinity } = this.#query
    if (records.length === limit || (isServed && this.#size > sizeMax)) {
      const last = records.at(-1)!.position
      this.next = isServed ? last : placeInScan(this.#scanned, last)
      return false
    }
    const record = splitText(stored, version, withSearchFields, { id, document })
    records.push({ ...record, position })
    this.#scanned = this.#scan.count
    this.#size += record.text.length
    return !isServed || lookAhead !== false || records.length < limit
  }

  positionAfter(record: StoredRecord): Position {
    return (record as Kept).position
  }
}

export async function countDocuments(
  access: DocumentAccess,
  collection: Collection,
  filter: Filter,
  stopAt: number,
  caller: Caller,
  sent?: SentStatements,
): Promise<number> {
  const plan = planWith(filter, access.more)
  sent?.check(checkedOf(filter, plan))
  const wanted = { filter, after: undefined, count: Infinity }
  const all =
    plan.kind === 'branches' && plan.isExact
      ? findWritten(access, collection, plan.branches[0]!, Math.min(stopAt, countedAtATime))
      : findMatching(access, collection, wanted, plan, new Scan(), caller)
  let count = 0
  while (count < stopAt && !(await all.next()).done) {
    caller.check()
    count++
  }
  await all.return(undefined)
  return count
}

/**
 * Describes the conditions that this server checks on documents of a plan: the whole filter, or
 * nothing if all candidates match.
 */
function checkedOf(filter: Filter, plan: FilterPlan): readonly string[] {
  const isExact = plan.kind === 'branches' ? plan.isExact : isOfFewIds(filter, plan)
  return isExact
    ? []
    : flatten(filter).map((part) =>
        part.kind === 'or' ? `one of ${part.of.length}` : `${part.path.text} ${part.kind}`,
      )
}

/**
 * Yields a write time for each document that a branch finds. This is enough to count the documents,
 * and does not read their content.
 */
async function* findWritten(
  { session, limits }: DocumentAccess,
  collection: Collection,
  terms: Branch,
  fetchSize: number,
): AsyncGenerator<types.Long> {
  const { text: where, values } = conditionsOf(terms)
  const text =
    `SELECT WRITETIME(doc_json) AS written FROM ${preparedTarget(collection)}` +
    (where === '' ? '' : ` WHERE ${where}`)
  const scan = new Scan()
  for await (const row of session.rowsOf({ text, values }, 'read', fetchSize)) {
    if (!scan.takeOne(limits)) throw tooMuch(collection, limits)
    const written = row['written'] as types.Long | null
    if (written !== null) yield written
  }
}

interface Wanted {
  readonly filter: Filter
  readonly after: Position | undefined
  /** Maximum number of documents that the caller reads. */
  readonly count: number
}

async function* findMatching(
  access: DocumentAccess,
  collection: Collection,
  wanted: Wanted,
  plan: FilterPlan,
  scan: Scan,
  caller: Caller,
): AsyncGenerator<MatchingText> {
  const { limits } = access
  const isMatch = matcherOf(wanted.filter, collection, caller)
  const indexing = indexingRule(collection.options.indexing)
  const isExact = plan.kind === 'branches' && plan.isExact
  for await (const one of findCandidates(access, collection, wanted, plan, caller)) {
    caller.check()
    if (!scan.takeOne(limits)) throw tooMuch(collection, limits)
    if (isExact) {
      const pause = caller.pause()
      if (pause !== undefined) await pause
      yield one
      continue
    }
    const document = await readInTurns(one.stored, caller)
    const isWanted =
      (await isMatch(document)) &&
      !(
        plan.kind === 'branches' &&
        (await inTurns(isOfEarlier(plan.branches, one.branch, document, indexing), caller))
      )
    if (isWanted) yield { ...one, document }
  }
}

type KeyPlan = Extract<FilterPlan, { kind: 'keys' }>

/** Whether the filter only restricts the _id, to a few values, as in most reads. */
function isOfFewIds(filter: Filter, plan: FilterPlan): plan is KeyPlan {
  return (
    plan.kind === 'keys' &&
    plan.keys.length <= keysAtATime &&
    flatten(filter).every((one) => 'path' in one && one.path.text === '_id')
  )
}

/**
 * Finds candidates by key if the filter contains keys, else by our own term index if it contains
 * terms, else by branches.
 */
function findCandidates(
  access: DocumentAccess,
  collection: Collection,
  { filter, after, count }: Wanted,
  plan: FilterPlan,
  caller: Caller,
): AsyncGenerator<MatchingText> {
  const { session, postings } = access
  if (plan.kind === 'keys') {
    const first = after === undefined ? 0 : placeAt(after).branch
    return findByKeys(session, collection, plan.keys.slice(first), first)
  }
  const terms = flatten(filter).find((part) => part.kind === 'match')?.terms
  if (postings !== undefined && terms !== undefined && terms.length > 0)
    return findByTerms(access, postings, collection, terms, after, caller)
  const place = after === undefined ? { branch: 0, token: undefined } : placeAt(after)
  // If some candidates may not match, it is unknown how many of them must be read.
  const firstPage = plan.isWhole ? Math.min(count, fetchSize) : fetchSize
  return findByBranches(session, collection, plan.branches, place, firstPage)
}

export function tooMuch({ name }: Collection, { scannedMax }: ReadLimits): EngineError {
  return new EngineError(
    'unsupported',
    `more than ${scannedMax} documents of ${name} must be read. Add a condition that ` +
      'an index supports, such as an equality, or raise --max-scanned',
  )
}

/** Whether an earlier branch also finds the document, and so has returned it already. */
function* isOfEarlier(
  branches: readonly Branch[],
  branch: number,
  document: JsonObject,
  indexing: IndexingRule,
): Steps<boolean> {
  if (branch === 0) return false
  const shredded = yield* shredInSteps(yield* indexing.pruneInSteps(document), {})
  return branches.slice(0, branch).some((terms) => satisfiesAll(terms, shredded))
}

const columns = 'doc_json, tx_id'

async function* findByKeys(
  session: Session,
  collection: Collection,
  keys: readonly DocumentKey[],
  first: number,
): AsyncGenerator<MatchingText> {
  for (let from = 0; from < keys.length; from += keysAtATime) {
    const some = keys.slice(from, from + keysAtATime)
    yield* await readByKeys(session, collection, some, first + from)
  }
}

async function readByKeys(
  session: Session,
  collection: Collection,
  keys: readonly DocumentKey[],
  first: number,
): Promise<readonly MatchingText[]> {
  const text = textByKey(collection)
  const read = (key: DocumentKey) => session.run({ text, values: [boundKey(key)] }, 'read')
  const pages =
    keys.length === 1 ? [await read(keys[0]!)] : await Promise.all(keys.map(read))
  const found: MatchingText[] = []
  for (const [at, { rows }] of pages.entries())
    for (const row of rows) {
      const one = foundIn(row, 0, `${first + at + 1}`)
      if (one !== undefined) found.push(one)
    }
  return found
}

/** The statement that reads a document by its key, cached because most reads use it. */
function textByKey(collection: Collection): string {
  let text = textsByKey.get(collection)
  if (text === undefined) {
    text = `SELECT ${columns} FROM ${preparedTarget(collection)} WHERE key = ?`
    textsByKey.set(collection, text)
  }
  return text
}

const textsByKey = new WeakMap<Collection, string>()

/** Yields documents in the order of their keys in the term index. */
async function* findByTerms(
  { session, limits }: DocumentAccess,
  postings: ClusterPostings,
  collection: Collection,
  terms: readonly string[],
  after: Position | undefined,
  caller: Caller,
): AsyncGenerator<MatchingText> {
  if (after !== undefined && !after.startsWith('t'))
    throw new EngineError('position', 'the position is invalid')
  const textsMax = textsMaxOf(limits)
  const place = textPlace(collection)
  const known = await keysWithTerms(postings, place, terms, textsMax, caller)
  const keys = await inTurns(keysBehind(after, known), caller)
  for (let from = 0; from < keys.length; from += keysAtATime) {
    const some = keys.slice(from, from + keysAtATime)
    const found = await readByTextKeys(session, collection, some)
    for (const [at, row] of found.entries()) {
      const one = row && foundIn(row, 0, `t${some[at]!}`)
      if (one !== undefined) yield one
    }
  }
}

/** Keys after the position, ordered by code units. */
function* keysBehind(
  after: Position | undefined,
  keys: readonly string[],
): Steps<readonly string[]> {
  const pace = new Pace()
  const behind: string[] = []
  for (const key of keys) {
    if (pace.isDue()) yield
    if (after === undefined || `t${key}` > after) behind.push(key)
  }
  return yield* sortInSteps(behind, (a, b) => (a < b ? -1 : a === b ? 0 : 1), pace)
}

/** Reads documents by their keys in the term index; undefined for documents that do not exist. */
export function readByTextKeys(
  session: Session,
  collection: Collection,
  keys: readonly string[],
): Promise<readonly (types.Row | undefined)[]> {
  const text = textByKey(collection)
  return Promise.all(
    keys.map(async (key) => {
      for (const spelling of keysOf(idOfTextKey(key))) {
        const { rows } = await session.run({ text, values: [boundKey(spelling)] }, 'read')
        if (rows[0] !== undefined) return rows[0]
      }
      return undefined
    }),
  )
}

async function* findByBranches(
  session: Session,
  collection: Collection,
  branches: readonly Branch[],
  place: Place,
  firstPage: number,
): AsyncGenerator<MatchingText> {
  for (let branch = place.branch; branch < branches.length; branch++) {
    const after = branch === place.branch ? place.token : undefined
    const from = { branch, token: after }
    yield* findByBranch(session, collection, branches[branch]!, from, firstPage)
  }
}

async function* findByBranch(
  session: Session,
  collection: Collection,
  terms: Branch,
  { branch, token: after }: Place,
  firstPage: number,
): AsyncGenerator<MatchingText> {
  const conditions = conditionsOf(terms)
  const where = [conditions.text, after === undefined ? '' : 'token(key) > ?'].filter(
    Boolean,
  )
  const text =
    `SELECT ${columns}, token(key) AS place FROM ${preparedTarget(collection)}` +
    (where.length === 0 ? '' : ` WHERE ${where.join(' AND ')}`)
  const values =
    after === undefined ? conditions.values : [...conditions.values, BigInt(after)]
  const statement = { text, values }
  const size = pageSizeOf(collection)
  for await (const row of session.rowsOf(statement, 'read', fetchSize, firstPage, size)) {
    const one = foundIn(row, branch, `${branch}:${String(row['place'])}`)
    if (one !== undefined) yield one
  }
}

function foundIn(
  row: types.Row,
  branch: number,
  position: Position,
): MatchingText | undefined {
  const stored = row['doc_json'] as string | null
  // An unapplied conditional write can leave a row without a document.
  if (stored === null) return undefined
  return { stored, version: versionIn(row), branch, position }
}

interface Place {
  readonly branch: number
  readonly token: string | undefined
}

function placeAt(position: Position): Place {
  const [, branch, token] = /^(\d{1,9})(?::(-?\d{1,19}))?$/.exec(position) ?? []
  if (branch === undefined) throw new EngineError('position', 'the position is invalid')
  return { branch: Number(branch), token }
}
