/**
 * Detects what a cluster supports, because releases and products differ. Each feature is probed
 * with a statement. A syntax error means that the cluster lacks the feature; any other rejection
 * means that the feature exists.
 */
import { errors, type Client } from 'cassandra-driver'
import { engineErrorOf, isInvalid, isSyntaxError } from './failures.ts'

export interface Capabilities {
  /**
   * Whether tables have `extensions`; otherwise table comments store the notes (table-notes.ts).
   */
  readonly extensions: boolean
  /** Whether vector indexes accept a `source_model`. */
  readonly sourceModel: boolean
  /** Whether text indexes accept an `index_analyzer`, which `:` and `BM25 OF` use. */
  readonly indexAnalyzer: boolean
  /** Whether conditions can be combined with OR and parentheses. */
  readonly or: boolean
  /** Whether `!=` and `NOT IN` exist; they do not match rows that lack the column. */
  readonly notEquals: boolean
  /** Whether `NOT CONTAINS` and its variants exist; they match rows that lack the column. */
  readonly notContains: boolean
  /** Whether indexes serve IN conditions. */
  readonly indexedIn: boolean
  /** Whether an index serves range conditions on map entries, such as `map[key] > value`. */
  readonly mapRanges: boolean
  /** View in which nodes report their queryable indexes; undefined: the cluster has none. */
  readonly indexView: string | undefined
}

export interface ProbedCluster extends Capabilities {
  /**
   * Version of Cassandra, such as "5.0.9". The version of the product follows if it has one:
   * "4.0.0, DSE 6.9.21".
   */
  readonly release: string
  /** Whether rows can be ordered by similarity to a vector. */
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
  // Releases that parse NOT CONTAINS but not OR have no index that serves NOT CONTAINS.
  const notContains = negations && or
  return {
    release,
    vectors,
    or,
    indexAnalyzer: terms && ranks,
    notContains,
    // The following capabilities cannot be probed separately: a product has each of them if it has
    // the probed feature.
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
    // Clusters without this column are not DSE.
    if (isInvalid(error)) return release
    throw engineErrorOf(error)
  }
}

/** Views that list queryable indexes, in Apache Cassandra and in related products. */
const indexViews = ['system_views.sai_column_indexes', 'system_views.indexes']

async function findIndexView(client: Client): Promise<string | undefined> {
  for (const view of indexViews)
    try {
      const text = `SELECT is_queryable FROM ${view} WHERE keyspace_name = 'system'`
      await client.execute(text, [], { prepare: true })
      return view
    } catch (error) {
      // The view does not exist, or the server's user may not read it.
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
