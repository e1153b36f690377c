/** Deleting rows, by their keys. */
import type { Caller } from '../../caller.ts'
import { columnPath } from '../../language/columns/column-path.ts'
import { ApiError } from '../../errors/api-error.ts'
import type { Filter } from '../../language/filters/filter.ts'
import { change, type Decision } from '../../paging/change.ts'
import { anyOrder, read, type Place } from '../../paging/read.ts'
import { filterOf, idParts, type IdPart, type KeyConditions } from '../key-filter.ts'
import type { RowStore } from '../row-store.ts'
import { changeRows } from './change-rows.ts'
import { withContents, type Contents } from './row.ts'

export async function deleteRow(
  store: RowStore,
  key: Contents,
  caller: Caller,
): Promise<void> {
  const id = store.view.idOfRow(withContents(store, undefined, key, false).values)
  const options = { ordered: true, likelyNew: false }
  const [outcome] = await changeRows(
    store,
    [{ id, apply: () => undefined }],
    options,
    caller,
  )
  if (outcome instanceof ApiError) throw outcome
}

/** Deletes all that match, however many, but not those that come to match meanwhile. */
export async function deleteRows(
  store: RowStore,
  conditions: KeyConditions,
  caller: Caller,
): Promise<void> {
  const filters =
    waysToTake(conditions) > waysMax
      ? [filterOnColumns(store, conditions)]
      : filtersOf(idParts(store, conditions)!)
  for (const filter of filters) await deleteMatching(store, filter, caller)
}

/** Beyond this, looking at every row is less work than looking for every key. */
const waysMax = 10_000

/** In how many ways each column can take one of its values. */
function waysToTake(conditions: KeyConditions): number {
  let ways = 1
  for (const { eq } of conditions.values()) ways *= eq?.length ?? 1
  return ways
}

/** What is said about the key, said about its columns. */
function filterOnColumns({ columns }: RowStore, conditions: KeyConditions): Filter {
  const parts: Filter[] = []
  for (const [name, { eq, low, high }] of conditions) {
    const path = columnPath(columns.get(name)!.id)
    if (eq !== undefined) parts.push({ kind: 'in', path, values: eq })
    if (low) parts.push({ kind: low.inclusive ? 'gte' : 'gt', path, value: low.value })
    if (high) parts.push({ kind: high.inclusive ? 'lte' : 'lt', path, value: high.value })
  }
  return { kind: 'and', of: parts }
}

export async function deleteAllRows({ engine, table }: RowStore): Promise<void> {
  await engine.truncate(table)
}

/** Ids that are looked for in one read. */
const idsMax = 100

/** Ranges one by one, single ids many at once. */
function* filtersOf(parts: Iterable<IdPart>): Generator<Filter> {
  let ids: IdPart[] = []
  for (const part of parts)
    if (part.kind === 'range') yield filterOf([part])
    else {
      ids.push(part)
      if (ids.length < idsMax) continue
      yield filterOf(ids)
      ids = []
    }
  if (ids.length > 0) yield filterOf(ids)
}

/** Rows that are read and deleted at once: as many as make a text of about this length. */
const lengthAimed = 1_000_000
const rowsMax = 1_000
const rowsAtFirst = 100

const deleting = () => Promise.resolve<Decision>({ kind: 'delete' })

async function deleteMatching(
  store: RowStore,
  filter: Filter,
  caller: Caller,
): Promise<void> {
  // The engine must be told which vectors go with the rows.
  const withSearchFields = store.view.vectors.size > 0
  const paging = { ...anyOrder, withSearchFields, stable: true, lookAhead: true }
  let after: Place | undefined
  let limit = rowsAtFirst
  do {
    caller.check()
    const wanted = { ...paging, filter, limit, after }
    const { records, next } = await read(store, wanted, caller)
    const { failure } = await change(store, records, filter, deleting, caller)
    if (failure !== undefined) {
      // Ids of rows are texts of ours, which say nothing to clients.
      failure.documentIds = []
      throw failure
    }
    const length = records.reduce((sum, { text }) => sum + text.length, 0)
    const average = length / Math.max(records.length, 1)
    limit = Math.max(1, Math.min(rowsMax, Math.floor(lengthAimed / Math.max(average, 1))))
    after = next
  } while (after !== undefined)
}
