/** Schema changes of commands, and their replies. */
import { EngineError, type EngineErrorKind } from '../../engine/errors.ts'
import type { KeyspaceSchema, Table } from '../../engine/schema.ts'
import type { KeyspaceCounts, SchemaPlan } from '../../engine/schema-change.ts'
import { ApiError, apiError } from '../../errors/api-error.ts'
import type { KeyspaceContext, Reply } from './define.ts'

/**
 * Applies the changes, if any, that `plan` derives from the schema of the keyspace.
 *
 * The reply to an invalid request has only errors. If the request is valid but conflicts with the
 * existing schema, the reply also has `ok` 0, because the schema change was attempted.
 */
export async function changeSchema(
  { engine, keyspace, caller, explain }: KeyspaceContext,
  plan: SchemaPlan,
): Promise<Reply> {
  try {
    return done(await engine.changeSchema(keyspace, plan, caller))
  } catch (failure) {
    const isRejected = failure instanceof EngineError && rejections.has(failure.kind)
    const error = isRejected ? explain(failure) : failure
    if (error instanceof ApiError && (isRejected || failures.has(error.code)))
      return { status: { ok: 0 }, errors: [error] }
    throw failure
  }
}

/**
 * The reply of a schema command. `changed` is false when a created object already existed, or a
 * dropped one was absent.
 */
export function done(changed: boolean): Reply {
  return { status: { ok: 1 }, changed }
}

/** Errors of schema changes that the stored data does not permit. */
const rejections: ReadonlySet<EngineErrorKind> = new Set<EngineErrorKind>([
  'droppedColumn',
  'keptColumn',
  'unorderedSet',
])

const failures: ReadonlySet<string> = new Set([
  'CANNOT_ADD_EXISTING_TABLE',
  'CANNOT_ADD_EXISTING_INDEX',
  'CANNOT_ADD_EXISTING_TYPE',
  'CANNOT_DROP_UNKNOWN_TABLE',
  'CANNOT_DROP_UNKNOWN_INDEX',
  'CANNOT_DROP_UNKNOWN_TYPE',
  'CANNOT_DROP_TYPE_USED_BY_TABLE',
  'CANNOT_ADD_EXISTING_FIELD',
  'CANNOT_RENAME_UNKNOWN_TYPE_FIELD',
  'UNKNOWN_USER_DEFINED_TYPE',
  'INVALID_INDEX_DEFINITION',
  'UNEXPECTED_DRIVER_ERROR',
  'INVALID_DATABASE_QUERY',
])

export async function readSchema({
  engine,
  keyspace,
}: KeyspaceContext): Promise<KeyspaceSchema> {
  const schema = await engine.readSchema(keyspace)
  if (schema === undefined) throw apiError('INVALID_KEYSPACE', { keyspace })
  return schema
}

export function tablesOf({ targets }: KeyspaceSchema): readonly Table[] {
  return targets.filter((target) => target.kind === 'table')
}

/** The current definition of a table, which may have changed since the command started. */
export function currentTable(schema: KeyspaceSchema, { name }: Table): Table {
  const table = tablesOf(schema).find((candidate) => candidate.name === name)
  if (table === undefined)
    throw new EngineError('gone', `the table ${name} no longer exists`)
  return table
}

export function byName<T extends { readonly name: string }>(things: readonly T[]): T[] {
  return things.toSorted((one, other) => (one.name < other.name ? -1 : 1))
}

export function namesOf(things: readonly { readonly name: string }[]): string[] {
  return byName(things).map(({ name }) => name)
}

/** Number of collections or tables in all keyspaces. */
export function countIn(
  counts: readonly KeyspaceCounts[],
  kind: 'collections' | 'tables',
): number {
  return counts.reduce((sum, count) => sum + count[kind], 0)
}
