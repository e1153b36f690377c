/** A thread for reads that would block the main thread for too long. */
import { flushCompileCache } from 'node:module'
import { parentPort } from 'node:worker_threads'
import { collectWhenQuiet } from '../../../runtime/collect-garbage.ts'
import type { Filter } from '../../../language/filters/filter.ts'
import type { Search } from '../../contract.ts'
import { viewOf } from '../format/views.ts'
import type { StoredTarget } from '../schema/stored-schema.ts'
import type { Metric } from '../../../search/vector/similarity.ts'
import { VectorView, type SharedIndex } from '../../../search/vector/vector-index.ts'
import { commandedBudget, type Budget } from '../store/budget.ts'
import { printedPlan, type CountResult, type Result } from '../read/result.ts'
import type { ScoredRows, StoreQuery } from '../read/store-query.ts'
import { keyOf, type IndexName } from '../vectors/index-name.ts'
import { readerCache } from '../store/shared-cache.ts'
import { buffersOf, sendRows, type SentText } from './row-transfer.ts'
import { StoreReader } from '../read/store-reader.ts'
import { StoresByFile } from '../store/stores-by-file.ts'
import { failureOf, type Failure } from '../worker/thread.ts'
import { KnownMatches, type SearchedVectors } from '../read/vector-search.ts'

export type ReaderMessage =
  /** Answered when the thread is ready. */
  | { readonly id: number; readonly kind: 'begin' }
  | ({ readonly id: number; readonly kind: 'read'; readonly query: StoreQuery } & Source)
  | ({
      readonly id: number
      readonly kind: 'count'
      readonly filter: Filter
      readonly stopAt: number
    } & Source)
  | ({
      readonly id: number
      readonly kind: 'search'
      readonly search: Search
      /** Present for a search by vector. */
      readonly vectors?: SearchedIndex
    } & Source)
  | { readonly id: number; readonly kind: 'forget'; readonly name: IndexName }
  | { readonly id: number; readonly kind: 'close'; readonly file: string }
  | { readonly id: number; readonly kind: 'stop' }

/** The vector index to search. */
export interface SearchedIndex {
  readonly suffix: string
  readonly metric: Metric
  readonly generation: number
  /** Present when this thread does not have this generation of the index yet. */
  readonly index?: SharedIndex
  /** Number of this thread, by which the index distinguishes the threads that search it. */
  readonly thread: number
}

/** The store to read, and the control word of the read. */
interface Source {
  readonly file: string
  /** Present when this thread does not know the target, or knows an older version. */
  readonly target?: StoredTarget
  /** Holds one of `readCommands`; the main thread may change it at any time. */
  readonly command: Int32Array
}

export type ReaderReply =
  | { readonly id: number; readonly result: Result; readonly texts: readonly SentText[] }
  | { readonly id: number; readonly counted: CountResult }
  | { readonly id: number; readonly found: ScoredRows; readonly texts: readonly SentText[] }
  | { readonly id: number }
  | Failure

/**
 * Sent without a request: a read asks to hold this many bytes in total, and waits for
 * `answerHold`.
 */
export interface MemoryRequest {
  readonly id: 0
  readonly size: number
}

function serve(port: NonNullable<typeof parentPort>): void {
  const stores = new StoresByFile<StoreReader>(readerCache)

  const storeOf = ({ file, target }: Source): StoreReader => {
    const open = stores.get(file)
    if (open === undefined) return stores.add(file, new StoreReader(file, viewOf(target!)))
    if (target !== undefined) open.view = viewOf(target)
    return open
  }

  const views = new Map<string, SearchedVectors & { readonly generation: number }>()

  const searchedIn = (file: string, asked: SearchedIndex): SearchedVectors => {
    const { generation, suffix, metric, index, thread } = asked
    const key = keyOf({ file, suffix })
    const known = views.get(key)
    if (index === undefined && known?.generation === generation) return known
    const view = new VectorView(index!, thread)
    const searched = { generation, suffix, view, metric, matches: new KnownMatches() }
    views.set(key, searched)
    return searched
  }

  const readFrom = <T>(
    source: Source,
    read: (reader: StoreReader, budget: Required<Budget>) => T,
  ): T => {
    const reader = storeOf(source)
    const budget = commandedBudget(source.command, (size) => {
      const wanted: MemoryRequest = { id: 0, size }
      port.postMessage([wanted])
    })
    return reader.store.reading(() => read(reader, budget))
  }

  const answer = (message: ReaderMessage): ReaderReply => {
    const { id } = message
    switch (message.kind) {
      case 'begin':
        // Node would otherwise write its compile cache only when this thread ends, too late for
        // threads that start before that.
        flushCompileCache()
        return { id }
      case 'read': {
        const { query } = message
        return readFrom(message, (reader, budget) => {
          const result = reader.read(query, budget)
          const { rows, texts } = sendRows(reader, result.rows, query, budget)
          const more = result.more || rows.length < result.rows.length
          return {
            id,
            result: { ...result, rows, more, plan: printedPlan(result.plan) },
            texts,
          }
        })
      }
      case 'count': {
        const { filter, stopAt } = message
        return readFrom(message, (reader, budget) => {
          const result = reader.count(filter, stopAt, budget)
          return { id, counted: { ...result, plan: printedPlan(result.plan) } }
        })
      }
      case 'search': {
        const { search, vectors } = message
        const searched = vectors && searchedIn(message.file, vectors)
        return readFrom(message, (reader, budget) => {
          const { hits, statistics } = reader.search(search, budget, searched)
          const found = hits.map(({ row }) => row)
          const { rows, texts } = sendRows(reader, found, search, budget)
          const sent = rows.map((row, i) => ({ row, score: hits[i]!.score }))
          return { id, found: { hits: sent, statistics }, texts }
        })
      }
      case 'forget':
        views.delete(keyOf(message.name))
        return { id }
      case 'close':
        stores.close(message.file)
        for (const key of [...views.keys()])
          if (key.startsWith(`${message.file} `)) views.delete(key)
        return { id }
      case 'stop':
        stores.closeAll()
        return { id }
    }
  }

  port.on('message', (message: ReaderMessage) => {
    let reply: ReaderReply
    try {
      reply = answer(message)
    } catch (error) {
      reply = failureOf(message.id, error)
    }
    port.postMessage([reply], 'texts' in reply ? buffersOf(reply.texts) : [])
    if (message.kind === 'stop') port.close()
  })
}

if (parentPort !== null) {
  collectWhenQuiet()
  serve(parentPort)
}
