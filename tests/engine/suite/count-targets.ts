import type { Engine } from '../../../src/engine/contract.ts'

/** Targets in all keyspaces together. */
export async function countTargets(engine: Engine): Promise<number> {
  let count = 0
  for (const keyspace of await engine.listKeyspaces())
    count += (await engine.listTargets(keyspace))?.length ?? 0
  return count
}
