/**
 * Inserts rows. Inserting an existing row updates it: columns that the request omits keep their
 * values.
 */
import type { Caller } from '../../caller/caller.ts'
import { shownForm } from '../../language/columns/values.ts'
import type { Column, ColumnValue } from '../../language/columns/column.ts'
import type { UserTypes } from '../../language/columns/column-type.ts'
import {
  EngineError,
  rethrow,
  throwIfAllFailed,
  type Explain,
} from '../../engine/errors.ts'
import { ApiError } from '../../errors/api-error.ts'
import { asFloats } from '../../json/floats.ts'
import { isObject, type Value } from '../../json/value.ts'
import { inTurns, mapInTurns, type Steps } from '../../runtime/steps.ts'
import type { RowStore } from '../row-store.ts'
import {
  checkVectors,
  embedTexts,
  type Contents,
  type GivenContents,
} from './column-content.ts'
import { mergeRows, type RowOutcome } from './merge-rows.ts'
import { readRow } from './read-row.ts'

/** The outcome of one row of an insert. */
export interface RowInsertion {
  /** The key values in key order; undefined when the row is invalid. */
  readonly key: readonly Value[] | undefined
  readonly outcome: Exclude<RowOutcome, EngineError>
}

/**
 * Inserts rows, after validating every row. Errors of single rows are in the result; other errors
 * are thrown.
 */
export async function insertRows(
  store: RowStore,
  documents: readonly Value[],
  ordered: boolean,
  caller: Caller,
  explain: Explain = rethrow,
): Promise<readonly RowInsertion[]> {
  const reading = inTurns(readRows(store, documents), caller)
  const given = reading instanceof Promise ? await reading : reading
  const prepared = await prepareRows(store, given, caller)
  const firstBad = prepared.findIndex((row) => row instanceof ApiError)
  const attempted = ordered && firstBad >= 0 ? prepared.slice(0, firstBad) : prepared
  const merges = attempted
    .filter(isFine)
    .map((values) => ({ kind: 'insert', values }) as const)
  const merged = await mergeRows(store, merges, ordered, caller)
  throwIfAllFailed([...prepared.filter((row) => row instanceof ApiError), ...merged])
  const outcomes = merged.values()
  return prepared.map((row, position): RowInsertion => {
    if (row instanceof ApiError) return { key: undefined, outcome: row }
    const outcome = position < attempted.length ? outcomes.next().value! : 'skipped'
    return {
      key: keyOf(store, row),
      outcome: outcome instanceof EngineError ? explain(outcome) : outcome,
    }
  })
}

function* readRows(
  store: RowStore,
  documents: readonly Value[],
): Steps<readonly (GivenContents | ApiError)[]> {
  const given: (GivenContents | ApiError)[] = []
  for (const document of documents) {
    try {
      given.push(yield* readRow(store, document))
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      given.push(error)
    }
    yield
  }
  return given
}

async function prepareRows(
  store: RowStore,
  given: readonly (GivenContents | ApiError)[],
  caller: Caller,
): Promise<readonly (Contents | ApiError)[]> {
  const good = given.filter(isFine)
  const whole = (await embedTexts(store, good, caller)).values()
  return mapInTurns(
    given,
    (contents) =>
      contents instanceof ApiError
        ? contents
        : orError(() => checkVectors(store, whole.next().value!)),
    caller,
  )
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

function keyOf({ key, table }: RowStore, contents: Contents): readonly Value[] {
  return key.map((column) => shownKey(column, contents.get(column)!, table.types))
}

/** A key value for the reply. Clients expect the bytes of a blob without a wrapper here. */
function shownKey({ type }: Column, value: ColumnValue, types: UserTypes): Value {
  if (value instanceof Float32Array) return asFloats(value)
  const shown = shownForm(type, value, types)
  return isObject(shown) && type.type === 'blob' ? shown.get('$binary')! : shown
}
