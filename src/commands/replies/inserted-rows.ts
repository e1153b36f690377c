/** Replies of inserts into tables. */
import { ApiError } from '../../errors/api-error.ts'
import type { Value } from '../../json/value.ts'
import type { RowStore } from '../../tables/row-store.ts'
import { describeForProjection } from '../../tables/schema/describe.ts'
import type { RowInsertion } from '../../tables/write/insert-rows.ts'
import type { Reply } from '../dispatch/define.ts'

/** Keys of inserted rows, and errors of rows that were not inserted. */
export function replyInsertedRows(
  { table, key }: RowStore,
  insertions: readonly RowInsertion[],
): Reply {
  const errors = insertions.flatMap(({ outcome }) =>
    outcome instanceof ApiError ? [outcome] : [],
  )
  const insertedIds = insertions.flatMap((insertion): Value[] =>
    insertion.outcome === 'done' ? [[...insertion.key!]] : [],
  )
  if (insertedIds.length === 0) return { errors }
  return { status: { primaryKeySchema: schemaOf({ table, key }), insertedIds }, errors }
}

/**
 * The reply with one response per row. A response contains the position of its error in `errors`,
 * where equal errors are listed once.
 */
export function replyEachRow(store: RowStore, insertions: readonly RowInsertion[]): Reply {
  const errors: ApiError[] = []
  const positionOf = (error: ApiError): number => {
    const known = errors.findIndex((other) => areEqual(other, error))
    return known === -1 ? errors.push(error) - 1 : known
  }
  const documentResponses = insertions.map(({ key, outcome }) => {
    const response = new Map<string, Value>([['_id', [...(key ?? [])]]])
    if (outcome === 'done') return response.set('status', 'OK')
    if (outcome === 'skipped') return response.set('status', 'SKIPPED')
    return response.set('status', 'ERROR').set('errorsIdx', positionOf(outcome))
  })
  const isAnyGood = insertions.some(({ key }) => key !== undefined)
  return {
    status: {
      ...(isAnyGood && { primaryKeySchema: schemaOf(store) }),
      documentResponses,
    },
    errors,
  }
}

function schemaOf({ table, key }: Pick<RowStore, 'table' | 'key'>): Value {
  return new Map(key.map((column) => [column.name, describeForProjection(column, table)]))
}

function areEqual(a: ApiError, b: ApiError): boolean {
  return a.code === b.code && a.scope === b.scope && a.message === b.message
}
