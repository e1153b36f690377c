/** Changes of what a keyspace holds. Only one server makes one at a time. */
import { setTimeout as delay } from 'node:timers/promises'
import type { CollectionOptions } from '../../schema.ts'
import { EngineError } from '../../errors.ts'
import type { KeyspaceCounts, SchemaChange } from '../../schema-change.ts'
import type { Capabilities } from '../cluster/capabilities.ts'
import type { Session } from '../cluster/session.ts'
import { quoteTarget } from '../cluster/statement.ts'
import { createIndexTexts, createTableText } from './collection-table.ts'

export async function makeChange(
  session: Session,
  keyspace: string,
  change: SchemaChange,
  capabilities: Capabilities,
): Promise<void> {
  switch (change.kind) {
    case 'createCollection':
      await createCollection(session, keyspace, change.name, change.options, capabilities)
      return
    case 'dropTarget':
      await session.define(
        `DROP TABLE IF EXISTS ${quoteTarget({ keyspace, name: change.name })}`,
      )
      return
    default:
      throw new EngineError('unsupported', 'tables cannot be changed on a cluster yet')
  }
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
    const drop = `DROP TABLE IF EXISTS ${quoteTarget(target)}`
    await session.define(drop).catch(() => undefined)
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
  for (let attempt = 0; attempt < readyAttempts; attempt++) {
    const indexes = await Array.fromAsync(
      session.rowsOf({ text, values: [keyspace] }, 'schema'),
    )
    const own = indexes.filter((row) => row['table_name'] === name)
    if (own.every((row) => row['is_queryable'] === true)) return
    await delay(readyMs)
  }
  throw new EngineError('timeout', `the indexes of ${name} are not ready`)
}

const readyMs = 20
const readyAttempts = 1_500

/** Of all keyspaces. */
export async function readCounts(session: Session): Promise<readonly KeyspaceCounts[]> {
  const text = 'SELECT keyspace_name, table_name, column_name FROM system_schema.columns'
  const counts = new Map<string, Map<string, boolean>>()
  for await (const row of session.rowsOf({ text, values: [] }, 'schema')) {
    const keyspace = row['keyspace_name'] as string
    const table = row['table_name'] as string
    const tables = counts.get(keyspace) ?? new Map<string, boolean>()
    counts.set(keyspace, tables)
    const isDocument = row['column_name'] === 'doc_json'
    tables.set(table, (tables.get(table) ?? false) || isDocument)
  }
  return Array.from(counts, ([keyspace, tables]) => {
    const collections = [...tables.values()].filter(Boolean).length
    return { keyspace, collections, tables: tables.size - collections }
  })
}
