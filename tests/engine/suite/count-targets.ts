import type { Engine } from '../../../src/engine/contract.ts'
import { databaseKeyOf } from '../../../src/engine/database-key.ts'

/**
 * Targets in all keyspaces together, but for those of databases: where tests share a node,
 * other files make and drop these meanwhile.
 */
export async function countTargets(engine: Engine): Promise<number> {
  let count = 0
  for (const keyspace of await engine.listKeyspaces())
    if (databaseKeyOf(keyspace) === '')
      count += (await engine.listTargets(keyspace))?.length ?? 0
  return count
}
