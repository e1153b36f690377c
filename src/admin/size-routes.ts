/** Sizes of the collections and tables of a database. */
import type { Engine } from '../engine/contract.ts'
import { EngineError } from '../engine/errors.ts'
import { keyspaceOf, type Target } from '../engine/schema.ts'
import { forEachConcurrent } from '../runtime/for-each-concurrent.ts'
import { isVisible, unknownDatabase } from './database-routes.ts'
import type { AdminCall, AdminReply, AdminRoute } from './route.ts'

export const sizeRoutes: readonly AdminRoute[] = [
  { method: 'GET', path: '/databases/:id/sizes', run: listSizes },
]

/** Documents and bytes of a target. Fields that the store does not report are absent. */
interface Size {
  readonly documents: number
  readonly bytes?: number
  readonly vectors?: VectorSize
}

interface VectorSize {
  readonly count: number
  readonly memoryBytes: number
  readonly diskBytes: number
}

/**
 * Maximum number of targets that are measured at the same time. Measuring competes with commands
 * for the disk or the cluster.
 */
const atATime = 4

async function listSizes(call: AdminCall): Promise<AdminReply> {
  const { databases } = call.services
  const info = databases.info(call.params['id']!)
  const mayKnow = (id: string) => call.principal.may('describe', { database: id })
  if (info === undefined || !(isVisible(info, call) || mayKnow(info.id)))
    throw unknownDatabase(call)
  const engine = databases.find(info.id)?.engine.as(call.credentials)
  const targets = engine === undefined ? [] : await visibleTargets(info.id, engine, call)
  const sizes = new Map<Target, Size>()
  await forEachConcurrent(targets, atATime, async (target) => {
    const size = await sizeFor(target, info.id, engine!, call)
    if (size !== undefined) sizes.set(target, size)
  })
  const collections = targets.map((target) => ({
    keyspace: keyspaceOf(target),
    name: target.name,
    kind: target.kind,
    ...sizes.get(target),
  }))
  return { status: 200, body: { collections } }
}

async function visibleTargets(
  database: string,
  engine: Engine,
  { principal }: AdminCall,
): Promise<Target[]> {
  const found: Target[] = []
  for (const keyspace of (await engine.listKeyspaces()).toSorted()) {
    const targets = (await engine.listTargets(keyspace)) ?? []
    const visible = targets.filter(({ name }) =>
      principal.may('describe', { database, keyspace, target: name }),
    )
    found.push(...visible.toSorted((a, b) => (a.name < b.name ? -1 : 1)))
  }
  return found
}

/**
 * The size of a target; undefined if the token may not read the target or the target was dropped
 * meanwhile.
 */
async function sizeFor(
  target: Target,
  database: string,
  engine: Engine,
  { principal, services }: AdminCall,
): Promise<Size | undefined> {
  // A size requires the same permission as estimatedDocumentCount.
  const place = { database, keyspace: keyspaceOf(target), target: target.name }
  if (!principal.may('read', place)) return undefined
  try {
    const { operations } = services.engine
    if (operations === undefined) return { documents: await engine.estimateCount(target) }
    const { count, diskUse, vectors } = await operations.sizeOf(target)
    return {
      documents: count,
      bytes: Object.values(diskUse).reduce((sum, bytes) => sum + bytes, 0),
      ...(vectors !== undefined && {
        vectors: {
          count: vectors.count,
          memoryBytes: vectors.memory,
          diskBytes: diskUse['vectors'] ?? 0,
        },
      }),
    }
  } catch (error) {
    if (error instanceof EngineError && isPassing.has(error.kind)) return undefined
    throw error
  }
}

/** Errors that concern only one target: the list contains this target without its size. */
const isPassing: ReadonlySet<EngineError['kind']> = new Set([
  ...(['gone', 'changed', 'unauthorized'] as const),
])
