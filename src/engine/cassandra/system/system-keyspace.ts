/**
 * The keyspace with the state that servers share: settings and leases, and the term index on
 * clusters without one.
 */
import { createHash } from 'node:crypto'
import { EngineError } from '../../errors.ts'
import type { Replication } from '../../schema.ts'
import type { Session } from '../cluster/session.ts'
import { quoteName, quoteTarget, quoteText } from '../cluster/statement.ts'
import { lexicalTables } from '../lexical/postings.ts'

const tables = {
  settings: 'name text PRIMARY KEY, value text, version timeuuid',
  leases: 'name text PRIMARY KEY, holder uuid',
  ...lexicalTables,
} as const

/**
 * Creates the keyspace and its tables, and waits until all nodes agree on the schema. Another
 * server may create them at the same time, and some nodes may not have its tables yet.
 */
export async function createSystemKeyspace(
  session: Session,
  systemKeyspace: string,
  replication: Replication,
  agree: () => Promise<unknown>,
): Promise<void> {
  const missing = await missingTables(session, systemKeyspace)
  if (missing.length > 0) await createTables(session, systemKeyspace, missing, replication)
  await agree()
}

async function createTables(
  session: Session,
  systemKeyspace: string,
  missing: readonly (keyof typeof tables)[],
  replication: Replication,
): Promise<void> {
  try {
    // The server's user may lack the permission to create keyspaces, so CREATE is not sent if the
    // keyspace exists.
    if (!(await exists(session, systemKeyspace)))
      await session.define(createKeyspaceText(systemKeyspace, replication))
    for (const name of missing) {
      const target = quoteTarget({ keyspace: systemKeyspace, name })
      const id = tableId(systemKeyspace, name)
      await session.define(
        `CREATE TABLE IF NOT EXISTS ${target} (${tables[name]}) WITH id = ${id}`,
      )
    }
  } catch (error) {
    throw explained(error, systemKeyspace)
  }
}

async function exists(session: Session, keyspace: string): Promise<boolean> {
  const text = 'SELECT keyspace_name FROM system_schema.keyspaces WHERE keyspace_name = ?'
  const { rows } = await session.run({ text, values: [keyspace] }, 'schema')
  return rows.length > 0
}

function explained(error: unknown, keyspace: string): unknown {
  if (!(error instanceof EngineError) || error.kind !== 'unauthorized') return error
  return new EngineError(
    'unauthorized',
    `the cluster user of the server may not create the keyspace ${keyspace} or ` +
      'tables in it. Create the keyspace, and grant CREATE, SELECT and MODIFY on it to ' +
      'that user, or choose another one with --system-keyspace. Message of the ' +
      'cluster: ' +
      error.message,
    { cause: error },
  )
}

export async function missingTables(
  session: Session,
  systemKeyspace: string,
): Promise<readonly (keyof typeof tables)[]> {
  const text = 'SELECT table_name FROM system_schema.tables WHERE keyspace_name = ?'
  const { rows } = await session.run({ text, values: [systemKeyspace] }, 'schema')
  const known = rows.map((row) => row['table_name'] as string)
  const names = Object.keys(tables) as (keyof typeof tables)[]
  return names.filter((name) => !known.includes(name))
}

/**
 * Id of a table, derived from its name, so that two servers that create a table concurrently create
 * the same one.
 */
function tableId(keyspace: string, name: string): string {
  const digest = createHash('sha256').update(`${keyspace}.${name}`).digest('hex')
  const parts = [digest.slice(0, 8), digest.slice(8, 12), `1${digest.slice(13, 16)}`]
  return [...parts, `8${digest.slice(17, 20)}`, digest.slice(20, 32)].join('-')
}

export function createKeyspaceText(name: string, replication: Replication): string {
  const counts = Array.from(
    countsOf(replication),
    ([place, count]) => `, ${quoteText(place)}: ${count}`,
  )
  return (
    `CREATE KEYSPACE IF NOT EXISTS ${quoteName(name)} WITH REPLICATION = ` +
    `{'class': ${quoteText(replication.class)}${counts.join('')}}`
  )
}

/**
 * The replicas of a keyspace. Clients spell the replication factor of SimpleStrategy differently,
 * or omit it.
 */
function countsOf({ class: strategy, counts }: Replication): Replication['counts'] {
  if (strategy !== 'SimpleStrategy') return counts
  const count = counts.get('replication_factor') ?? counts.get('replicationFactor') ?? 1
  return new Map([['replication_factor', count]])
}
