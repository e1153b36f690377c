/** Changes of what a keyspace holds. Only one server makes one at a time. */
import { setTimeout as delay } from 'node:timers/promises'
import type { CollectionOptions, KeyspaceSchema, Table } from '../../schema.ts'
import { EngineError } from '../../errors.ts'
import type { SchemaChange, TableChange } from '../../schema-change.ts'
import type { Capabilities } from '../cluster/capabilities.ts'
import type { Session } from '../cluster/session.ts'
import { createIndexTexts, createTableText } from './collection-table.ts'
import { readNoteSource } from './system-schema.ts'
import { changeTable, createTable, dropTable } from './table-ddl.ts'
import { alterType, createType, dropType } from './type-ddl.ts'

/** What changes are made of: the keyspace as it is, and who makes them. */
export interface SchemaAccess {
  readonly session: Session
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
      return createCollection(session, keyspace, change.name, change.options, can)
    case 'createTable':
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
  if (source === undefined) throw new EngineError('gone', `${name} is gone`)
  await defineAll(session, changeTable({ ...table, source }, change, can))
  if (change.kind === 'createIndex') await indexesAreReady(session, { keyspace, name })
}

/** One after the other. */
async function defineAll(session: Session, texts: readonly string[]): Promise<void> {
  for (const text of texts) await session.define(text)
}

/** Whole, or not at all: what was begun is removed where a step fails. */
async function createCollection(
  session: Session,
  keyspace: string,
  name: string,
  options: CollectionOptions,
  capabilities: Capabilities,
): Promise<void> {
  const target = { keyspace, name }
  try {
    await session.define(createTableText(target, options))
    const texts = createIndexTexts(target, options, capabilities)
    await Promise.all(texts.map((text) => session.define(text)))
    await indexesAreReady(session, target)
  } catch (error) {
    await session.define(dropTable(target)).catch(() => undefined)
    throw error
  }
}

/** An index is made before it is ready, and reads that need it fail until then. */
async function indexesAreReady(
  session: Session,
  { keyspace, name }: { readonly keyspace: string; readonly name: string },
): Promise<void> {
  const text =
    'SELECT table_name, is_queryable FROM system_views.sai_column_indexes WHERE keyspace_name = ?'
  for (let waited = 0, pause = readyMsMin; waited < readyMsMax; waited += pause) {
    const indexes = await Array.fromAsync(
      session.rowsOf({ text, values: [keyspace] }, 'schema'),
    )
    const own = indexes.filter((row) => row['table_name'] === name)
    if (own.every((row) => row['is_queryable'] === true)) return
    await delay(pause)
    pause = Math.min(2 * pause, lookMsMax)
  }
  throw new EngineError('timeout', `the indexes of ${name} are not ready`)
}

/** How often it is looked, and for how long: rows that are there already are indexed first. */
const readyMsMin = 10
const lookMsMax = 500
const readyMsMax = 600_000
