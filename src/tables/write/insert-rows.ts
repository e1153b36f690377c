/**
 * Inserting rows. A row that is there already takes what is given; its other columns keep
 * what they have.
 */
import type { Caller } from '../../caller.ts'
import { showValue } from '../../language/columns/values.ts'
import type { Column } from '../../engine/schema.ts'
import { ApiError } from '../../errors/api-error.ts'
import { isObject, type Value } from '../../json/value.ts'
import { mapInTurns } from '../../steps.ts'
import type { RowStore } from '../row-store.ts'
import { changeRows, type RowChange, type RowOutcome } from './change-rows.ts'
import { checkVectors, embedTexts, type GivenContents } from './column-content.ts'
import { readRow } from './read-row.ts'
import { withContents, type Contents, type Row } from './row.ts'

/** What became of one row of an insert. */
export interface RowInsertion {
  /** The values of its key, in the order of the key; undefined when it can't be a row. */
  readonly key: readonly Value[] | undefined
  readonly outcome: RowOutcome
}

/**
 * Every row is checked before any is written. Throws what fails the whole command; what
 * fails single rows is in the result.
 */
export async function insertRows(
  store: RowStore,
  documents: readonly Value[],
  ordered: boolean,
  caller: Caller,
): Promise<readonly RowInsertion[]> {
  const given = await mapInTurns(
    documents,
    (document) => orError(() => readRow(store, document)),
    caller,
  )
  const prepared = await prepareRows(store, given, caller)
  const firstBad = prepared.findIndex((row) => row instanceof ApiError)
  const attempted = ordered && firstBad >= 0 ? prepared.slice(0, firstBad) : prepared
  const changes = attempted.filter(isFine)
  const options = { ordered, likelyNew: true }
  const outcomes = (await changeRows(store, changes, options, caller)).values()
  const undone = attempted.length < prepared.length
  return prepared.map((row, position): RowInsertion => {
    if (row instanceof ApiError) return { key: undefined, outcome: row }
    const key = keyOf(store, row.row)
    const isAttempted = !undone || position < firstBad
    return { key, outcome: isAttempted ? outcomes.next().value! : 'skipped' }
  })
}

interface PreparedRow extends RowChange {
  /** As it is if there was none before. */
  readonly row: Row
}

async function prepareRows(
  store: RowStore,
  given: readonly (GivenContents | ApiError)[],
  caller: Caller,
): Promise<readonly (PreparedRow | ApiError)[]> {
  const good = given.filter(isFine)
  const whole = (await embedTexts(store, good, caller)).values()
  return mapInTurns(
    given,
    (contents) =>
      contents instanceof ApiError
        ? contents
        : orError(() => prepareRow(store, whole.next().value!)),
    caller,
  )
}

function prepareRow(store: RowStore, contents: Contents): PreparedRow {
  checkVectors(store, contents)
  const row = withContents(store, undefined, contents, true)
  return {
    row,
    id: store.view.idOfRow(row.values),
    apply: (before) =>
      before === undefined ? row : withContents(store, before, contents, true),
  }
}

function isFine<T>(made: T | ApiError): made is T {
  return !(made instanceof ApiError)
}

function orError<T>(make: () => T): T | ApiError {
  try {
    return make()
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
}

function keyOf({ key, table }: RowStore, { values }: Row): readonly Value[] {
  return key.map((column) => shownKey(column, values.get(column.key)!, table.types))
}

/** Clients wrap the bytes of a blob themselves here. */
function shownKey(
  { type }: Column,
  stored: Value,
  types: RowStore['table']['types'],
): Value {
  const shown = showValue(type, stored, types)
  return isObject(shown) && type.type === 'blob' ? shown.get('$binary')! : shown
}
