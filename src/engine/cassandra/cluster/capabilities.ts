/**
 * What the grammar of a cluster has. Statements are prepared, not run: one that cannot be
 * parsed is told from one that is refused for what it says.
 */
import type { Client } from 'cassandra-driver'
import { engineErrorOf, isInvalid, isSyntaxError } from './failures.ts'

export interface Capabilities {
  readonly release: string
  /** Order by nearness to a vector. */
  readonly vectors: boolean
  /** Order by BM25. */
  readonly bm25: boolean
  readonly or: boolean
  /** Indexes of terms, and conditions on them. */
  readonly analyzers: boolean
  /** Whether vector indexes take the model that made the vectors. */
  readonly sourceModel: boolean
}

const probes = {
  vectors: 'SELECT key FROM system.local ORDER BY rack ANN OF [1.0]',
  bm25: "SELECT key FROM system.local ORDER BY rack BM25 OF 'x'",
  or: "SELECT key FROM system.local WHERE key = 'a' OR key = 'b'",
  analyzers: "SELECT key FROM system.local WHERE rack : 'x'",
} as const

export async function probe(client: Client): Promise<Capabilities> {
  const { rows } = await client.execute('SELECT release_version FROM system.local', [], {
    prepare: true,
  })
  const [vectors, bm25, or, analyzers] = await Promise.all([
    knows(client, probes.vectors),
    knows(client, probes.bm25),
    knows(client, probes.or),
    knows(client, probes.analyzers),
  ])
  const release = String(rows[0]?.['release_version'] ?? 'unknown')
  // The option came with the fork that has them.
  return { release, vectors, bm25, or, analyzers, sourceModel: analyzers }
}

async function knows(client: Client, text: string): Promise<boolean> {
  try {
    await client.execute(text, [], { prepare: true })
    return true
  } catch (error) {
    if (isSyntaxError(error)) return false
    if (isInvalid(error)) return true
    throw engineErrorOf(error)
  }
}
