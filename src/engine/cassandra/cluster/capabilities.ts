/**
 * What a cluster can do: releases and products differ. Statements tell: one that cannot be
 * parsed fails in another way than one that is refused for what it says.
 */
import { errors, type Client } from 'cassandra-driver'
import { engineErrorOf, isInvalid, isSyntaxError } from './failures.ts'

export interface Capabilities {
  /** Whether tables keep `extensions`; otherwise what they would hold is in their comments. */
  readonly extensions: boolean
  /** Whether indexes of vectors take a `source_model`. */
  readonly sourceModel: boolean
  /** Whether indexes of texts take an `index_analyzer`, and `:` and `BM25 OF` use them. */
  readonly indexAnalyzer: boolean
  /** Whether conditions can be joined by OR, in parentheses. */
  readonly or: boolean
  /** Whether there are `!=` and `NOT IN`, which find no rows that lack the column. */
  readonly notEquals: boolean
  /** Whether there are `NOT CONTAINS` and the like, which find rows that lack the column. */
  readonly notContains: boolean
  /** Whether an index serves IN. */
  readonly indexedIn: boolean
  /** Whether an index serves `map[key] > value` and the like. */
  readonly mapRanges: boolean
  /** Where nodes tell which of their indexes can be searched; undefined: nowhere. */
  readonly indexView: string | undefined
}

export interface ProbedCluster extends Capabilities {
  /** "5.0.9", or of a product with numbers of its own "4.0.0, DSE 6.9.21". */
  readonly release: string
  /** Whether rows can be ordered by nearness to a vector. */
  readonly vectors: boolean
}

const probes = {
  vectors: 'SELECT key FROM system.local ORDER BY rack ANN OF [1.0]',
  or: "SELECT key FROM system.local WHERE key = 'a' OR key = 'b'",
  terms: "SELECT key FROM system.local WHERE rack : 'x'",
  ranks: "SELECT key FROM system.local ORDER BY rack BM25 OF 'x'",
  notContains: "SELECT key FROM system.local WHERE tokens NOT CONTAINS 'x'",
} as const

export async function probe(client: Client): Promise<ProbedCluster> {
  const [release, vectors, or, terms, ranks, negations, indexView] = await Promise.all([
    readRelease(client),
    knows(client, probes.vectors),
    knows(client, probes.or),
    knows(client, probes.terms),
    knows(client, probes.ranks),
    knows(client, probes.notContains),
    findIndexView(client),
  ])
  // Releases that parse NOT CONTAINS and no OR have no index that serves it.
  const notContains = negations && or
  return {
    release,
    vectors,
    or,
    indexAnalyzer: terms && ranks,
    notContains,
    // No statement asks for these alone; the products that have the one have the others.
    notEquals: notContains,
    indexedIn: or,
    mapRanges: or,
    extensions: terms,
    sourceModel: terms,
    indexView,
  }
}

async function readRelease(client: Client): Promise<string> {
  const read = async (column: string) => {
    const text = `SELECT ${column} FROM system.local`
    const { rows } = await client.execute(text, [], { prepare: true })
    return rows[0]?.[column] as string | null | undefined
  }
  const release = (await read('release_version')) ?? 'unknown'
  try {
    const dse = await read('dse_version')
    return dse ? `${release}, DSE ${dse}` : release
  } catch (error) {
    // Others than DSE have no such column.
    if (isInvalid(error)) return release
    throw engineErrorOf(error)
  }
}

/** Of Apache Cassandra, and of its relatives. */
const indexViews = ['system_views.sai_column_indexes', 'system_views.indexes']

async function findIndexView(client: Client): Promise<string | undefined> {
  for (const view of indexViews)
    try {
      const text = `SELECT is_queryable FROM ${view} WHERE keyspace_name = 'system'`
      await client.execute(text, [], { prepare: true })
      return view
    } catch (error) {
      // There is none of this name, or the server's user may not read it.
      if (!(error instanceof errors.ResponseError)) throw engineErrorOf(error)
    }
  return undefined
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
