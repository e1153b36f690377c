/**
 * Rebuilds the term index of a cluster while servers run. Every text is written again; older
 * entries are then removed, such as those of former texts and of dropped targets. Entries younger
 * than the longest duration of a write are kept, because their records may have been written after
 * the scan.
 */
import { ownCaller } from '../../../caller/caller.ts'
import type { Collection, Position, Target } from '../../contract.ts'
import { EngineError } from '../../errors.ts'
import { ClusterCatalog } from '../catalog/catalog.ts'
import type { Defaults } from '../catalog/collection-comment.ts'
import { listKeyspaces, readSchemaRows } from '../catalog/system-schema.ts'
import { engineErrorOf } from '../cluster/failures.ts'
import {
  openClient,
  probeCluster,
  sessionOf,
  withDataCenter,
  type ClusterOptions,
} from '../cluster/open-cluster.ts'
import { WriteClock } from '../cluster/write-clock.ts'
import { analyzerIn, textKeyOf, textPlace } from '../documents/document-texts.ts'
import { filterCapabilitiesOf } from '../documents/filter-capabilities.ts'
import { readDocuments, type DocumentAccess } from '../documents/read-documents.ts'
import { ClusterPostings } from '../lexical/postings.ts'
import { staleAfterMicros } from '../lexical/search-terms.ts'
import { fillIndex } from '../rows/index-texts.ts'
import type { RowAccess } from '../rows/read-rows.ts'
import { textIndexesOf } from '../rows/row-texts.ts'
import { missingTables } from '../system/system-keyspace.ts'

export interface RepairOptions extends ClusterOptions {
  readonly systemKeyspace: string
  readonly defaults: Defaults
}

export interface RepairListener {
  /**
   * Called before the texts of a place are indexed; the returned function receives the number of
   * records read so far.
   */
  indexing(place: RepairedPlace): (count: number) => void
  indexed(place: RepairedPlace, count: number): void
}

/** Texts that share one index. */
export interface RepairedPlace {
  readonly keyspace: string
  readonly name: string
  /** Name of the index of a table; undefined for a collection. */
  readonly index: string | undefined
}

/**
 * Repairs the term index. Returns false if the cluster has its own term index, which needs no
 * repair.
 */
export async function repairTerms(
  given: RepairOptions,
  listener: RepairListener,
): Promise<boolean> {
  const options = await withDataCenter(given)
  const clock = new WriteClock()
  const parts = { retried: () => undefined, clock }
  const client = await openClient(options, options.account, parts)
  try {
    const can = await probeCluster(client)
    if (can.indexAnalyzer) return false
    const session = sessionOf(client, options)
    const { systemKeyspace } = options
    if ((await missingTables(session, systemKeyspace)).length > 0)
      throw new EngineError(
        'gone',
        `no server has used the system keyspace ${systemKeyspace} yet`,
      )
    const postings = ClusterPostings.open(session, systemKeyspace, clock)
    const more = filterCapabilitiesOf(can, false)
    const access = { session, can, more, limits, postings }
    await repairAll(access, options, listener)
    return true
  } catch (error) {
    throw engineErrorOf(error)
  } finally {
    await client.shutdown()
  }
}

type Access = RowAccess & DocumentAccess

/** A repair reads all records, so its reads have no limit. */
const limits = { scannedMax: Infinity, comparedMax: 0 }

async function repairAll(
  access: Access,
  { systemKeyspace, defaults }: RepairOptions,
  listener: RepairListener,
): Promise<void> {
  const { session, postings, can } = access
  const startedAt = postings.nextTimestamp()
  const catalog = new ClusterCatalog(session, defaults, can, systemKeyspace)
  const unread = new Set<string>()
  for (const keyspace of await listKeyspaces(session, systemKeyspace)) {
    const rows = await readSchemaRows(session, keyspace)
    for (const { id } of rows?.tables ?? []) unread.add(id.toString())
    const schema = await catalog.refresh(keyspace)
    for (const target of schema?.targets ?? []) {
      await unlessGone(catalog, target, () => indexTarget(access, target, listener))
      unread.delete(target.uid)
    }
  }
  // Entries of targets that cannot be read now are kept, because their schema may be repaired
  // later.
  const before = startedAt - staleAfterMicros
  await postings.removeBefore(before, (target) => unread.has(target))
}

async function unlessGone(
  catalog: ClusterCatalog,
  target: Target,
  act: () => Promise<void>,
): Promise<void> {
  try {
    await act()
  } catch (error) {
    const { keyspace, name } = target
    const schema = await catalog.refresh(keyspace)
    if (!schema?.targets.some(({ uid }) => uid === target.uid)) return
    const { kind, message } = engineErrorOf(error)
    throw new EngineError(kind, `${keyspace}.${name}: ${message}`, { cause: error })
  }
}

async function indexTarget(
  access: Access,
  target: Target,
  listener: RepairListener,
): Promise<void> {
  const { keyspace, name } = target
  const index = async (
    indexName: string | undefined,
    act: (report: (count: number) => void) => Promise<void>,
  ) => {
    const place = { keyspace, name, index: indexName }
    const report = listener.indexing(place)
    let count = 0
    await act((read) => report((count = read)))
    listener.indexed(place, count)
  }
  if (target.kind === 'collection') {
    if (target.options.lexical.enabled)
      await index(undefined, (report) => indexDocuments(access, target, report))
    return
  }
  for (const textIndex of textIndexesOf(target))
    await index(textIndex.name, (report) => fillIndex(access, target, textIndex, report))
}

/** Documents per page. */
const atATime = 50

async function indexDocuments(
  access: Access,
  collection: Collection,
  report: (count: number) => void,
): Promise<void> {
  const { postings } = access
  const analyzer = analyzerIn(collection)
  const place = textPlace(collection)
  const timestamp = postings.nextTimestamp()
  const query = { filter: everything, sort: [], skip: 0, limit: atATime, stable: false }
  let count = 0
  let after: Position | undefined
  do {
    const page = await readDocuments(
      access,
      collection,
      { ...query, after, withSearchFields: true },
      ownCaller(),
    )
    const texts = page.records.flatMap(({ id, search }) => {
      const text = search?.lexical ?? ''
      return text === '' ? [] : [{ key: textKeyOf(id), text, terms: analyzer.terms(text) }]
    })
    await postings.putAll(place, texts, timestamp)
    report((count += page.records.length))
    after = page.next
  } while (after !== undefined)
}

const everything = { kind: 'and', of: [] } as const
