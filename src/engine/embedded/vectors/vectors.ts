/**
 * The vector indexes as seen by the request thread: which indexes exist, and up to which write each
 * has followed its store.
 */
import { rm } from 'node:fs/promises'
import type { VectorMemory } from '../../../search/vector/code-width.ts'
import type { SharedIndex } from '../../../search/vector/vector-index.ts'
import { siblingModule } from '../../../runtime/sibling-module.ts'
import type { ThreadMemory } from '../../operations.ts'
import { EngineError } from '../../errors.ts'
import type { VectorField } from '../../record-view.ts'
import { keyOf, type IndexName } from './index-name.ts'
import type { KnownFiles } from '../files/known-files.ts'
import type {
  IndexerMessage,
  IndexerNotice,
  IndexerReply,
  IndexOptions,
} from './indexer-thread.ts'
import { errorOf, Thread } from '../worker/thread.ts'
import type { DamageCount } from '../format/damage.ts'
import { snapshotFolder } from './snapshot.ts'

/** An index that contains all writes that a search must see. */
export interface CurrentIndex {
  readonly index: SharedIndex
  /** Changes whenever the list of segments changes. */
  readonly generation: number
}

export interface VectorsOptions {
  readonly files: KnownFiles
  readonly damage: DamageCount
  /** Number of threads that search, in addition to the indexer thread. */
  readonly searchers: number
  /** Memory of indexes whose collection has no option for it. */
  readonly memory: VectorMemory
  /** Called when a snapshot is complete up to a write. */
  readonly onSaved: (name: IndexName, version: number) => void
  readonly log: (level: 'info' | 'warn', message: string) => void
}

interface Followed {
  readonly name: IndexName
  readonly options: IndexOptions
  index: SharedIndex
  generation: number
  /** The write up to which the index is complete; -1: not open. */
  version: number
  /** The latest known write. */
  latest: number
  /** Number of vectors and the bytes that they take, as last reported. */
  count: number
  size: number
  following: Promise<void> | undefined
}

export class Vectors {
  readonly #options: VectorsOptions
  readonly #indexes = new Map<string, Followed>()
  /** Indexes that are being closed, by key. */
  readonly #closing = new Map<string, Promise<unknown>>()
  #started: Thread<IndexerMessage, IndexerReply> | undefined

  constructor(options: VectorsOptions) {
    this.#options = options
  }

  /** The indexer thread, started at its first use: not every server has vectors. */
  get #thread(): Thread<IndexerMessage, IndexerReply> {
    const { onSaved, log, damage } = this.#options
    if (this.#started?.isLost === true) {
      // A new thread starts from the snapshots.
      this.#started = undefined
      for (const followed of this.#indexes.values())
        followed.version = followed.generation = -1
    }
    this.#started ??= new Thread<IndexerMessage, IndexerReply>(
      'indexer',
      siblingModule('indexer-thread', import.meta.url),
      (reason, options, reply) => damage.note(errorOf('read', reason, options, reply)),
      (message) => {
        const notice = message as IndexerNotice
        if ('saved' in notice) onSaved(notice.saved, notice.saved.version)
        else if ('converted' in notice) this.#fetchConverted(notice.converted)
        else log(notice.level, notice.log)
      },
    )
    return this.#started
  }

  /** Fetches the new segments of an index, so that the memory of the old ones becomes free. */
  #fetchConverted(name: IndexName): void {
    const followed = this.#indexes.get(keyOf(name))
    // If it fails, the next write or search fetches them.
    if (followed !== undefined) this.#follow(followed).catch(() => undefined)
  }

  /** Number of vectors in all open indexes. */
  get count(): number {
    return this.#indexes.values().reduce((sum, { count }) => sum + count, 0)
  }

  /** Bytes of the vectors in all open indexes. Much more memory is reserved for new vectors. */
  get size(): number {
    return this.#indexes.values().reduce((sum, { size }) => sum + size, 0)
  }

  /**
   * Number of vectors of one store, and their bytes; undefined when none of its indexes is open.
   */
  sizeIn(file: string): { readonly count: number; readonly memory: number } | undefined {
    const open = [...this.#indexes.values()].filter(({ name }) => name.file === file)
    if (open.length === 0) return undefined
    return {
      count: open.reduce((sum, { count }) => sum + count, 0),
      memory: open.reduce((sum, { size }) => sum + size, 0),
    }
  }

  /** Memory of the indexer thread; undefined when it was not started. */
  async threadMemory(): Promise<ThreadMemory | undefined> {
    return this.#started?.memory()
  }

  /** Reports a write. The index follows soon, even without a search. */
  noteWrite(file: string, field: VectorField, version: number): void {
    const followed = this.#followed(file, field)
    followed.latest = Math.max(followed.latest, version)
    // If the index cannot follow, the next search reports it.
    this.#follow(followed).catch(() => undefined)
  }

  /** The index, once it has all writes made before the call. */
  async current(file: string, field: VectorField): Promise<CurrentIndex> {
    const followed = this.#followed(file, field)
    const needed = followed.latest
    while (followed.version < needed || followed.version < 0) {
      await this.#follow(followed)
      // Another request for a closed index would make the thread open the index of a new store at
      // the same path.
      if (!this.#isOpen(followed))
        throw new EngineError('gone', 'the vector index was closed')
    }
    return followed
  }

  /** Closes an index and removes its snapshot. */
  async drop(name: IndexName): Promise<void> {
    await this.#close(name, false)
    await rm(snapshotFolder(name.file, name.suffix), { recursive: true, force: true })
  }

  /** Closes all indexes of a dropped store. */
  async closeAll(file: string): Promise<void> {
    for (const name of this.#namesIn(file)) await this.#close(name, false)
  }

  /** Saves and closes all indexes of a store. They are opened again when they are needed. */
  async releaseAll(file: string): Promise<void> {
    for (const name of this.#namesIn(file)) await this.#close(name, true)
  }

  #namesIn(file: string): IndexName[] {
    return [...this.#indexes.values()]
      .map(({ name }) => name)
      .filter((name) => name.file === file)
  }

  async #close(name: IndexName, save: boolean): Promise<void> {
    const key = keyOf(name)
    await this.#closing.get(key)
    if (!this.#indexes.delete(key)) return
    const closing = this.#thread.ask({ kind: 'close', name, save }).finally(() => {
      this.#closing.delete(key)
    })
    this.#closing.set(
      key,
      closing.catch(() => undefined),
    )
    await closing
  }

  async stop(): Promise<void> {
    await this.#started?.stop({ kind: 'stop' })
  }

  #isOpen(followed: Followed): boolean {
    return this.#indexes.get(keyOf(followed.name)) === followed
  }

  #followed(file: string, { suffix, ...field }: VectorField): Followed {
    const { searchers } = this.#options
    const { dimension, metric, memory = this.#options.memory } = field
    const name = { file, suffix }
    let followed = this.#indexes.get(keyOf(name))
    if (followed === undefined) {
      followed = {
        name,
        options: { dimension, metric: metric!, memory, searchers },
        index: [],
        generation: -1,
        version: -1,
        latest: -1,
        count: 0,
        size: 0,
        following: undefined,
      }
      this.#indexes.set(keyOf(name), followed)
    }
    return followed
  }

  /**
   * Makes the index follow its store. Only one request runs at a time: writes made meanwhile are
   * part of the next request.
   */
  #follow(followed: Followed): Promise<void> {
    if (followed.following !== undefined) return followed.following
    const following = this.#followOnce(followed).finally(() => {
      followed.following = undefined
    })
    followed.following = following
    // After a failure, the index does not follow again here: the next write or search retries.
    following
      .then(() => {
        if (followed.version < followed.latest && this.#isOpen(followed))
          return this.#follow(followed)
        return undefined
      })
      .catch(() => undefined)
    return following
  }

  async #followOnce(followed: Followed): Promise<void> {
    const { name, options, generation, latest } = followed
    const closing = this.#closing.get(keyOf(name))
    if (closing !== undefined) {
      // Closing the index may save a snapshot, from which the index is opened again.
      await closing
      if (!this.#isOpen(followed)) return
    }
    if (followed.version < 0) this.#options.files.open(name.file, 'read', () => undefined)
    const reply = await this.#thread.ask({
      kind: 'follow',
      name,
      options,
      version: latest,
      generation,
    })
    if (!('version' in reply)) return
    followed.version = reply.version
    followed.generation = reply.generation
    followed.count = reply.count
    followed.size = reply.size
    if (reply.index !== undefined) followed.index = reply.index
  }
}
