import type { Engine } from '../../../src/engine/contract.ts'
import { databaseKeyOf } from '../../../src/engine/database-key.ts'

/**
 * The number of targets in all keyspaces except those of databases. Other test files create and
 * drop databases on the same node at the same time.
 */
export async function countTargets(engine: Engine): Promise<number> {
  let count = 0
  for (const keyspace of await engine.listKeyspaces())
    if (databaseKeyOf(keyspace) === '')
      count += (await engine.listTargets(keyspace))?.length ?? 0
  return count
}
