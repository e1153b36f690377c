/**
 * Writes documents, each on the condition that the document has not changed since it was read.
 * Every insert and replacement stores a new version, which is a time-based id. If the reply to a
 * write is lost, the stored version shows whether the write was applied.
 */
import type { types } from 'cassandra-driver'
import type { Caller } from '../../../caller/caller.ts'
import type { Value } from '../../../json/value.ts'
import { indexingRule, type IndexingRule } from '../../../language/filters/indexing.ts'
import { idKey } from '../../../language/values/record-id.ts'
import { forEachConcurrent } from '../../../runtime/for-each-concurrent.ts'
import { atOnce, inTurns } from '../../../runtime/steps.ts'
import type {
  Collection,
  NewRecord,
  Outcome,
  StoredRecord,
  Write,
  WriteOptions,
} from '../../contract.ts'
import type { EngineError } from '../../errors.ts'
import { isOutcomeUnknown, orFailure } from '../cluster/failures.ts'
import type { Session } from '../cluster/session.ts'
import { preparedTarget, type Statement } from '../cluster/statement.ts'
import type { ClusterPostings } from '../lexical/postings.ts'
import { boundColumns, boundKey } from './columns.ts'
import { keysOf, type DocumentKey } from './document-key.ts'
import { analyzerIn, textKeyOf, textPlace } from './document-texts.ts'
import {
  ifVersion,
  noVersion,
  timestampIn,
  timestampOf,
  versionAfter,
  versionIn,
} from './document-version.ts'
import type { DocumentAccess } from './read-documents.ts'

/** Number of concurrent writes of one command. */
const atATime = 32

/** Maximum number of times that a write is sent while it is unknown whether it was applied. */
const settleAttempts = 3

export async function writeDocuments(
  { session, postings }: Pick<DocumentAccess, 'session' | 'postings'>,
  collection: Collection,
  writes: readonly Write[],
  { ordered = false, caller }: WriteOptions,
): Promise<readonly Outcome[]> {
  const writing: Writing = {
    session,
    collection,
    indexing: indexingRule(collection.options.indexing),
    postings,
    caller,
  }
  const outcomes: Outcome[] = Array<Outcome>(writes.length).fill('skipped')
  const makeOne = async (position: number): Promise<Outcome> => {
    caller?.check()
    return (outcomes[position] = await orFailure(make(writing, writes[position]!)))
  }
  if (ordered) {
    for (const position of writes.keys()) if ((await makeOne(position)) !== 'done') break
    return outcomes
  }
  // Writes of the same document keep their order.
  const groups = Map.groupBy(writes.keys(), (position) => idKey(idOf(writes[position]!)))
  await forEachConcurrent(groups.values(), atATime, async (group) => {
    for (const position of group) await makeOne(position)
  })
  return outcomes
}

function idOf(write: Write): Value {
  return write.kind === 'insert' ? write.record.id : write.before.id
}

/** Arguments shared by all writes of a command. */
interface Writing {
  readonly session: Session
  readonly collection: Collection
  readonly indexing: IndexingRule
  readonly postings: ClusterPostings | undefined
  /** The caller of the writes; undefined: the server itself. */
  readonly caller: Caller | undefined
}

function make(writing: Writing, write: Write): Promise<Outcome> {
  switch (write.kind) {
    case 'insert':
      return insert(writing, write)
    case 'replace':
      return replace(writing, write)
    case 'delete':
      return remove(writing, write)
  }
}

async function insert(
  writing: Writing,
  { record }: Extract<Write, { kind: 'insert' }>,
): Promise<Outcome> {
  const { session, collection } = writing
  const transaction = versionAfter(undefined)
  const [key, ...otherKeys] = keysOf(record.id)
  // A document whose _id is a number may be stored under another spelling of its key.
  for (const other of otherKeys)
    if ((await versionOf(session, collection, other)) !== undefined) return 'exists'
  const columns = await columnsFor(writing, record, transaction)
  await putText(writing, record, transaction)
  const names = ['key', ...columns.map(([name]) => name)]
  const statement = {
    text:
      `INSERT INTO ${preparedTarget(collection)} (${names.join(', ')}) ` +
      `VALUES (${names.map(() => '?').join(', ')}) IF NOT EXISTS`,
    values: [boundKey(key!), ...columns.map(([, value]) => value)],
  }
  const versions = { before: undefined, after: String(transaction) }
  const applied = await runOnce(session, collection, statement, key!, versions)
  return applied ? 'done' : 'exists'
}

async function replace(
  writing: Writing,
  { before, after }: Extract<Write, { kind: 'replace' }>,
): Promise<Outcome> {
  const { session, collection } = writing
  const version = String(before.version)
  const transaction = versionAfter(version)
  const textBefore = before.search && (before.search.lexical ?? '')
  // The text of a document without a version has no entry in the term index yet.
  const hasSameText = version !== noVersion && textBefore === (after.search.lexical ?? '')
  const columns = await columnsFor(writing, after, transaction)
  if (!hasSameText) await putText(writing, after, transaction)
  const assignments = columns.map(([name]) => `${name} = ?`).join(', ')
  const condition = ifVersion(version)
  const text = `UPDATE ${preparedTarget(collection)} SET ${assignments} WHERE key = ? ${condition.text}`
  const assigned = columns.map(([, value]) => value)
  const outcome = await change(session, collection, before, String(transaction), (key) => ({
    text,
    values: [...assigned, boundKey(key), ...condition.values],
  }))
  if (outcome === 'done' && !hasSameText)
    await removeTexts(writing, before, after.search.lexical ?? undefined)
  return outcome
}

async function remove(
  writing: Writing,
  { before }: Extract<Write, { kind: 'delete' }>,
): Promise<Outcome> {
  const { session, collection } = writing
  const condition = ifVersion(String(before.version))
  const outcome = await change(session, collection, before, undefined, (key) => ({
    text: `DELETE FROM ${preparedTarget(collection)} WHERE key = ? ${condition.text}`,
    values: [boundKey(key), ...condition.values],
  }))
  if (outcome === 'done') await removeTexts(writing, before, undefined)
  return outcome
}

/** The columns to write. Yields to other requests before each document and during a large one. */
async function columnsFor(
  { collection, indexing, caller }: Writing,
  record: NewRecord,
  transaction: types.TimeUuid,
) {
  const steps = boundColumns(record, transaction, collection.options, indexing)
  if (caller === undefined) return atOnce(steps)
  const pause = caller.pause()
  if (pause !== undefined) await pause
  return inTurns(steps, caller)
}

/**
 * Adds the text of a document to the term index. The entry is written before the document, so every
 * stored text can be found.
 */
async function putText(
  { postings, collection }: Writing,
  { id, search, terms }: NewRecord,
  transaction: types.TimeUuid,
): Promise<void> {
  const text = search.lexical ?? ''
  if (postings === undefined || text === '') return
  const place = textPlace(collection)
  const own = terms?.(place.path) ?? analyzerIn(collection).terms(text)
  const indexed = { key: textKeyOf(id), text, terms: own }
  await postings.put(place, indexed, timestampOf(transaction))
}

async function removeTexts(
  { postings, collection }: Writing,
  before: StoredRecord,
  kept: string | undefined,
): Promise<void> {
  const timestamp = timestampIn(String(before.version))
  // A document without a version has no entries, unless a repair added some. A search removes such
  // entries when they are stale.
  if (timestamp === undefined) return
  const key = textKeyOf(before.id)
  await postings?.removeOthers(textPlace(collection), key, kept, timestamp)
}

/** Applies the statement to the spelling of the key under which the document is stored. */
async function change(
  session: Session,
  collection: Collection,
  { id, version }: StoredRecord,
  after: string | undefined,
  statementFor: (key: DocumentKey) => Statement,
): Promise<Outcome> {
  const versions = { before: String(version), after }
  let isDone = false
  for (const key of keysOf(id)) {
    if (await runOnce(session, collection, statementFor(key), key, versions)) isDone = true
    // A delete with an unknown outcome counts as done if no document has this spelling of the key.
    // The document may be stored under another spelling, so a delete tries all spellings.
    if (isDone && after !== undefined) break
  }
  return isDone ? 'done' : 'conflict'
}

/**
 * Whether the write was applied. After a lost reply, the stored version decides:
 * - the version of this write, or no document after a delete: applied;
 * - the version before: not applied, so the write is repeated;
 * - an older version than that of this write: not applied, because versions only increase;
 * - any other version: unknown.
 */
async function runOnce(
  session: Session,
  collection: Collection,
  statement: Statement,
  key: DocumentKey,
  { before, after }: Versions,
): Promise<boolean> {
  let failure: unknown
  for (let attempt = 1; attempt <= settleAttempts; attempt++) {
    try {
      const { wasApplied } = await session.run(statement, 'write')
      if (wasApplied) return true
      if (attempt === 1) return false
    } catch (error) {
      if (!isOutcomeUnknown((error as EngineError).cause)) throw error
      failure = error
    }
    const version = await versionOf(session, collection, key).catch(
      (): typeof unknown => unknown,
    )
    if (version === after) return true
    if (version === unknown || version === before) continue
    if (version !== undefined && after !== undefined && isOlder(version, after))
      return false
    break
  }
  throw failure
}

function isOlder(version: string, other: string): boolean {
  const [written, otherWritten] = [timestampIn(version), timestampIn(other)]
  return written !== undefined && otherWritten !== undefined && written < otherWritten
}

/** Versions of a document before and after a write; undefined: the document does not exist. */
interface Versions {
  readonly before: string | undefined
  readonly after: string | undefined
}

const unknown = Symbol('not known')

/** Reads the version at serial consistency; undefined: the document does not exist. */
async function versionOf(
  session: Session,
  collection: Collection,
  key: DocumentKey,
): Promise<string | undefined> {
  const text = `SELECT tx_id, WRITETIME(doc_json) AS written FROM ${preparedTarget(collection)} WHERE key = ?`
  const { rows } = await session.run({ text, values: [boundKey(key)] }, 'settle')
  // An unapplied conditional write can leave a row without a document.
  return rows[0]?.['written'] ? versionIn(rows[0]) : undefined
}
