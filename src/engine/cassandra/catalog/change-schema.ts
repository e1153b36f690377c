/** Executes schema changes of a keyspace. The caller holds the schema lease. */
import { setTimeout as delay } from 'node:timers/promises'
import { fixedLimits } from '../../../limits.ts'
import {
  findNamed,
  type CollectionOptions,
  type KeyspaceSchema,
  type Table,
} from '../../schema.ts'
import { EngineError } from '../../errors.ts'
import type { SchemaChange, TableChange } from '../../schema-change.ts'
import type { Capabilities } from '../cluster/capabilities.ts'
import { isAlreadyExistsError } from '../cluster/failures.ts'
import type { Session } from '../cluster/session.ts'
import { collectionIndexes, createIndexTexts, createTableText } from './collection-table.ts'
import { readIndexNames, readNoteSource, readViewNames } from './system-schema.ts'
import { changeTable, createTable, dropTable } from './table-ddl.ts'
import { alterType, createType, dropType } from './type-ddl.ts'

/** Everything that a change needs: the current keyspace and the session that changes it. */
export interface SchemaAccess {
  readonly session: Session
  /** Indexes that some node cannot search yet, as "keyspace.index". */
  readonly unreadyIndexes: () => Promise<ReadonlySet<string>>
  readonly can: Capabilities
  readonly keyspace: string
  readonly schema: KeyspaceSchema
}

export async function makeChange(
  access: SchemaAccess,
  change: SchemaChange,
): Promise<void> {
  const { session, can, keyspace } = access
  switch (change.kind) {
    case 'createCollection':
      return createCollection(access, change.name, change.options)
    case 'createTable':
      await checkNoView(session, { keyspace, name: change.name })
      return session.define(createTable({ keyspace, name: change.name }, change, can))
    case 'dropTarget':
      return session.define(dropTable({ keyspace, name: change.name }))
    case 'createType':
      return session.define(createType(keyspace, change))
    case 'alterType':
      return defineAll(session, alterType(keyspace, change.name, change))
    case 'dropType':
      return session.define(dropType(keyspace, change.name))
    default:
      return makeTableChange(access, change)
  }
}

async function makeTableChange(access: SchemaAccess, change: TableChange): Promise<void> {
  const { session, can, keyspace, schema } = access
  const name = change.table
  const table = schema.targets.find((target) => target.name === name) as Table
  const source = await readNoteSource(session, keyspace, name)
  if (source === undefined) throw new EngineError('gone', `${name} no longer exists`)
  await defineAll(session, changeTable({ ...table, source }, change, can))
  if (change.kind === 'createIndex') await indexesAreReady(access, [change.index.name])
}

/** Runs definitions one after the other, because each may depend on the one before. */
async function defineAll(session: Session, texts: readonly string[]): Promise<void> {
  for (const text of texts) await session.define(text)
}

/**
 * Creates a collection completely or not at all: if a step fails, drops the table, unless other
 * software has just created it. An existing table gets the indexes that it lacks.
 */
const noMemoryOption =
  'the option vector.memory has no effect on a cluster, which has its own vector indexes. ' +
  'Create the collection without it'

async function createCollection(
  access: SchemaAccess,
  name: string,
  options: CollectionOptions,
): Promise<void> {
  const { session, can, keyspace, schema } = access
  if (options.vector?.memory !== undefined)
    throw new EngineError('unsupported', noMemoryOption)
  const target = { keyspace, name }
  const isNew = findNamed(schema, name) === undefined
  const indexes = collectionIndexes(options, can).map(({ suffix }) => `${name}_${suffix}`)
  await checkIndexNames(session, target, indexes)
  try {
    if (isNew) {
      await checkNoView(session, target)
      await session.define(createTableText(target, options))
    }
    await defineSideBySide(session, createIndexTexts(target, options, can))
    await indexesAreReady(access, indexes)
  } catch (error) {
    const isOurs = isNew && !isAlreadyExistsError((error as Error).cause)
    if (isOurs) await session.define(dropTable(target)).catch(() => undefined)
    if (!(error instanceof EngineError) || error.kind !== 'indexLimit') throw error
    const problem = `"${name}" requires ${indexes.length} indexes, but ${error.message}`
    throw new EngineError('indexLimit', problem, { cause: error })
  }
}

/**
 * Throws when a view has the name of the new table. A node that creates such a table fails half-way
 * and then has both the view and the table.
 */
async function checkNoView(
  session: Session,
  { keyspace, name }: { readonly keyspace: string; readonly name: string },
): Promise<void> {
  if ((await readViewNames(session, keyspace)).includes(name))
    throw new EngineError(
      'unsupported',
      `"${name}" is the name of a materialized view. Choose another name`,
    )
}

/**
 * Throws when another table has an index with one of the new names: CREATE INDEX IF NOT EXISTS
 * would silently accept it.
 */
async function checkIndexNames(
  session: Session,
  { keyspace, name }: { readonly keyspace: string; readonly name: string },
  indexes: readonly string[],
): Promise<void> {
  for (const { table_name: table, index_name: index } of await readIndexNames(
    session,
    keyspace,
  ))
    if (table !== name && indexes.includes(index))
      throw new EngineError('indexExists', `the index ${index} belongs to ${table}`)
}

/**
 * Runs definitions concurrently. Waits until all have ended before it fails, because the caller
 * then drops the table.
 */
async function defineSideBySide(session: Session, texts: readonly string[]): Promise<void> {
  const running = texts.map((text) => session.define(text))
  await Promise.allSettled(running)
  await Promise.all(running)
}

/** Waits until the indexes are ready on all nodes. Until then, reads that need the indexes fail. */
async function indexesAreReady(
  { unreadyIndexes, keyspace }: SchemaAccess,
  names: readonly string[],
): Promise<void> {
  for (
    let waited = 0, pause = readyMsMin;
    waited < fixedLimits.indexBuildMsMax;
    waited += pause
  ) {
    const unready = await unreadyIndexes().catch(() => undefined)
    if (unready !== undefined && !names.some((name) => unready.has(`${keyspace}.${name}`)))
      return
    await delay(pause)
    pause = Math.min(2 * pause, lookMsMax)
  }
  throw new EngineError('timeout', `the indexes ${names.join(', ')} are not ready`)
}

/**
 * Minimum and maximum milliseconds between two checks. Each pause is twice as long as the previous
 * one.
 */
const readyMsMin = 10
const lookMsMax = 500
