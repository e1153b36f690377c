/** Writes rows. Writes are unconditional: the latest timestamp wins. */
import type { Caller } from '../../../caller/caller.ts'
import type { Column } from '../../../language/columns/column.ts'
import type { KeyConditions } from '../../../language/columns/key-conditions.ts'
import { keyFilter } from '../../../language/columns/key-conditions.ts'
import { forEachConcurrent } from '../../../runtime/for-each-concurrent.ts'
import { atOnce, inTurns } from '../../../runtime/steps.ts'
import type { MergeOptions, MergeOutcome, RowMerge } from '../../contract.ts'
import { keyColumns, keyNames, type Table } from '../../schema.ts'
import { isOutcomeUnknown, orFailure } from '../cluster/failures.ts'
import type { Session } from '../cluster/session.ts'
import type { TextPlace } from '../lexical/postings.ts'
import type { Statement } from '../cluster/statement.ts'
import type { EngineError } from '../../errors.ts'
import { keyOf } from './found-row.ts'
import { mergeRow, type RowWrite } from './merge-statements.ts'
import { readRows, type RowAccess } from './read-rows.ts'
import { analyzerOf, placeOfIndex, textIndexesOf, textPlaceOf } from './row-texts.ts'
import { deleteRows as deletionsOf } from './row-statements.ts'

/** Number of concurrent writes of one command. */
const atATime = 32

/** Maximum number of attempts to send an idempotent write, if replies are lost. */
const attemptsMax = 3

export async function mergeRows(
  access: RowAccess,
  table: Table,
  merges: readonly RowMerge[],
  { ordered = false, caller }: MergeOptions,
): Promise<readonly MergeOutcome[]> {
  const outcomes: MergeOutcome[] = Array<MergeOutcome>(merges.length).fill('skipped')
  // Merges of the same row keep their order.
  const groups = Map.groupBy(merges.keys(), (position) => {
    return keyOfMerge(merges[position]!, table)
  })
  await forEachConcurrent(
    ordered ? [[...merges.keys()]] : groups.values(),
    atATime,
    async (group) => {
      for (const position of group) {
        caller?.check()
        const failure = await orFailure(mergeOne(access, table, merges[position]!, caller))
        outcomes[position] = failure ?? 'done'
        if (ordered && failure !== undefined) return
      }
    },
  )
  return outcomes
}

function keyOfMerge({ values }: RowMerge, table: Table): string {
  const byName = new Map(Array.from(values, ([{ name }, value]) => [name, value!]))
  return keyOf(byName, table)
}

/**
 * Writes the entries of the term index before the row. All statements have the same timestamp, so
 * that of two concurrent merges the same one wins in the row and in the index.
 */
async function mergeOne(
  access: RowAccess,
  table: Table,
  merge: RowMerge,
  caller: Caller | undefined,
): Promise<void> {
  const { session, can, postings } = access
  const pause = caller?.pause()
  if (pause !== undefined) await pause
  const making = mergeRow(table, merge)
  const statements = await (caller === undefined ? atOnce(making) : inTurns(making, caller))
  const texts = can.indexAnalyzer ? [] : textsOf(table, merge)
  if (texts.length === 0) {
    await makeAll(session, statements)
    return
  }
  const timestamp = postings.nextTimestamp()
  const key = keyOfMerge(merge, table)
  for (const { place, text, column } of texts) {
    if (text === undefined) continue
    const terms = merge.terms?.(column) ?? analyzerOf(table, column).terms(text)
    await postings.put(place, { key, text, terms }, timestamp)
  }
  await makeAll(session, statements, timestamp)
  for (const { place, text } of texts)
    await postings.removeOthers(place, key, text, timestamp)
}

interface MergedText {
  readonly place: TextPlace
  readonly column: Column
  /** The text that the merge sets; undefined: the merge clears the text. */
  readonly text: string | undefined
}

function textsOf(table: Table, { values }: RowMerge): readonly MergedText[] {
  return Array.from(values).flatMap(([column, value]): MergedText[] => {
    const place = textPlaceOf(table, column.name)
    const text = typeof value === 'string' && value !== '' ? value : undefined
    return place === undefined ? [] : [{ place, column, text }]
  })
}

/** Applies the writes of one row together: several writes are sent as a batch. */
async function makeAll(
  session: Session,
  writes: readonly RowWrite[],
  timestamp?: bigint,
): Promise<void> {
  const [first] = writes
  if (first === undefined) return
  const isIdempotent = writes.every((write) => write.isIdempotent)
  const options = { isIdempotent, timestamp }
  const make = () =>
    writes.length === 1
      ? session.run(first, 'write', options)
      : session.runAll(writes, options)
  for (let attempt = 1; ; attempt++)
    try {
      await make()
      return
    } catch (error) {
      const maySend = isIdempotent && attempt < attemptsMax
      if (!maySend || !isOutcomeUnknown((error as EngineError).cause)) throw error
    }
}

export async function deleteRows(
  access: RowAccess,
  table: Table,
  conditions: KeyConditions,
  caller: Caller,
): Promise<void> {
  const statements = deletionsOf(table, conditions)
  if (statements === undefined) return deleteOneByOne(access, table, conditions, caller)
  const timestamp = access.postings.nextTimestamp()
  for (const statement of statements) await remove(access.session, statement, timestamp)
  await removeTexts(access, table, conditions, timestamp)
}

/**
 * Removes the texts of the deleted row from the term index if the conditions fix the whole key.
 * Texts of other deleted rows stay until a search finds that they are stale.
 */
async function removeTexts(
  { can, postings }: RowAccess,
  table: Table,
  conditions: KeyConditions,
  timestamp: bigint,
): Promise<void> {
  const named = keyNames(table.definition).map(
    (name) => [name, conditions.get(name)?.eq] as const,
  )
  if (can.indexAnalyzer || named.some(([, eq]) => eq?.length !== 1)) return
  const key = keyOf(new Map(named.map(([name, eq]) => [name, eq![0]!])), table)
  for (const index of textIndexesOf(table))
    await postings.removeOthers(placeOfIndex(table, index), key, undefined, timestamp)
}

export function deleteAllRows(
  access: RowAccess,
  table: Table,
  caller: Caller,
): Promise<void> {
  return deleteOneByOne(access, table, new Map(), caller)
}

/**
 * Deletes rows one by one. Needed where Cassandra orders texts differently from this server, and
 * where Cassandra rejects TRUNCATE.
 */
async function deleteOneByOne(
  access: RowAccess,
  table: Table,
  conditions: KeyConditions,
  caller: Caller,
): Promise<void> {
  const key = keyColumns(table.definition)
  const query = { filter: keyFilter(conditions, key), sort: [], skip: 0, columns: key }
  let after: string | undefined
  do {
    const page = await readRows(access, table, { ...query, limit: atATime, after }, caller)
    await Promise.all(
      page.records.map(async (row) => {
        const own = new Map(key.map((column) => [column.name, { eq: [row.get(column)!] }]))
        await deleteRows(access, table, own, caller)
      }),
    )
    after = page.next
  } while (after !== undefined)
}

async function remove(
  session: Session,
  statement: Statement,
  timestamp: bigint,
): Promise<void> {
  await makeAll(session, [{ ...statement, isIdempotent: true }], timestamp)
}
