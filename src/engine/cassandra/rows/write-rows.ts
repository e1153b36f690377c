/** Writes of rows. The cluster makes them blindly: what is said last is what there is. */
import type { Caller } from '../../../caller.ts'
import type { KeyConditions } from '../../../language/columns/key-conditions.ts'
import { keyFilter } from '../../../language/columns/key-conditions.ts'
import type { MergeOptions, MergeOutcome, RowMerge } from '../../contract.ts'
import { keyNames, type Table } from '../../schema.ts'
import { isInDoubt } from '../cluster/failures.ts'
import type { Session } from '../cluster/session.ts'
import type { Statement } from '../cluster/statement.ts'
import type { EngineError } from '../../errors.ts'
import { keyOf } from './found-row.ts'
import { mergeRow, type RowWrite } from './merge-statements.ts'
import { readRows, type RowAccess } from './read-rows.ts'
import { deleteRows as deletionsOf } from './row-statements.ts'

/** Writes that are on their way at a time, of one command. */
const atATime = 32

/** How often a write is sent of which no answer came. */
const attemptsMax = 3

export async function mergeRows(
  session: Session,
  table: Table,
  merges: readonly RowMerge[],
  { ordered = false, deadline }: MergeOptions,
): Promise<readonly MergeOutcome[]> {
  const outcomes: MergeOutcome[] = Array<MergeOutcome>(merges.length).fill('skipped')
  // Those of one row are made in their order.
  const groups = Map.groupBy(merges.keys(), (position) => {
    const { values } = merges[position]!
    return keyOf(new Map(Array.from(values, ([{ name }, value]) => [name, value!])), table)
  })
  const left = ordered ? Iterator.from([[...merges.keys()]]) : groups.values()
  const takeAll = async () => {
    for (const group of left)
      for (const position of group) {
        deadline?.check()
        await makeAll(session, mergeRow(table, merges[position]!))
        outcomes[position] = 'done'
      }
  }
  const takers = ordered ? 1 : Math.min(atATime, groups.size)
  await Promise.all(Array.from({ length: takers }, takeAll))
  return outcomes
}

/** Those of one row, at once. */
async function makeAll(session: Session, writes: readonly RowWrite[]): Promise<void> {
  const [first] = writes
  if (first === undefined) return
  const isIdempotent = writes.every((write) => write.isIdempotent)
  const make = () =>
    writes.length === 1
      ? session.run(first, 'write', { isIdempotent })
      : session.runAll(writes, { isIdempotent })
  for (let attempt = 1; ; attempt++)
    try {
      await make()
      return
    } catch (error) {
      const maySend = isIdempotent && attempt < attemptsMax
      if (!maySend || !isInDoubt((error as EngineError).cause)) throw error
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
  for (const statement of statements) await remove(access.session, statement)
}

/** Where the cluster has another order than ours. */
async function deleteOneByOne(
  access: RowAccess,
  table: Table,
  conditions: KeyConditions,
  caller: Caller,
): Promise<void> {
  const { columns } = table.definition
  const key = keyNames(table.definition).map((name) =>
    columns.find((column) => column.name === name)!,
  )
  const query = { filter: keyFilter(conditions, key), sort: [], skip: 0, columns: key }
  let after: string | undefined
  do {
    const page = await readRows(access, table, { ...query, limit: atATime, after }, caller)
    await Promise.all(
      page.records.map(async (row) => {
        const own = new Map(key.map((column) => [column.name, { eq: [row.get(column)!] }]))
        for (const one of deletionsOf(table, own)!) await remove(access.session, one)
      }),
    )
    after = page.next
  } while (after !== undefined)
}

async function remove(session: Session, statement: Statement): Promise<void> {
  await makeAll(session, [{ ...statement, isIdempotent: true }])
}
