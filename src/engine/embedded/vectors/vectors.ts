/**
 * The vector indexes, as the thread that answers requests sees them: which there are, and
 * how far each has followed its store.
 */
import { rm } from 'node:fs/promises'
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

/** An index that has everything that a search must see. */
export interface CurrentIndex {
  readonly index: SharedIndex
  /** Another number whenever there are other segments. */
  readonly generation: number
}

export interface VectorsOptions {
  readonly files: KnownFiles
  readonly damage: DamageCount
  /** Threads that search, beside the one that builds. */
  readonly searchers: number
  /** Called when a snapshot has everything up to a write. */
  readonly onSaved: (name: IndexName, version: number) => void
  readonly log: (level: 'info' | 'warn', message: string) => void
}

interface Followed {
  readonly name: IndexName
  readonly options: IndexOptions
  index: SharedIndex
  generation: number
  /** The write up to which the index has everything; -1: not open. */
  version: number
  /** The latest write that is known of. */
  latest: number
  /** Vectors in the index, and the bytes that they take, as it was last heard of. */
  count: number
  size: number
  following: Promise<void> | undefined
}

export class Vectors {
  readonly #options: VectorsOptions
  readonly #indexes = new Map<string, Followed>()
  /** Indexes that are being saved and evicted. */
  readonly #closing = new Map<string, Promise<unknown>>()
  #started: Thread<IndexerMessage, IndexerReply> | undefined

  constructor(options: VectorsOptions) {
    this.#options = options
  }

  /** Started by the first who needs it: not every server has vectors. */
  get #thread(): Thread<IndexerMessage, IndexerReply> {
    const { onSaved, log, damage } = this.#options
    if (this.#started?.isLost === true) {
      // Another takes over, from what is stored.
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
        else log(notice.level, notice.log)
      },
    )
    return this.#started
  }

  /** Vectors in all open indexes. */
  get count(): number {
    return this.#indexes.values().reduce((sum, { count }) => sum + count, 0)
  }

  /** Bytes that they take. Much more is reserved for those to come. */
  get size(): number {
    return this.#indexes.values().reduce((sum, { size }) => sum + size, 0)
  }

  /** The same of one store; undefined when none of its indexes is open. */
  sizeIn(file: string): { readonly count: number; readonly memory: number } | undefined {
    const open = [...this.#indexes.values()].filter(({ name }) => name.file === file)
    if (open.length === 0) return undefined
    return {
      count: open.reduce((sum, { count }) => sum + count, 0),
      memory: open.reduce((sum, { size }) => sum + size, 0),
    }
  }

  /** Of the thread that builds them, once there is one. */
  async threadMemory(): Promise<ThreadMemory | undefined> {
    return this.#started?.memory()
  }

  /** Takes note of a write. The index follows soon, whether anybody searches or not. */
  noteWrite(file: string, field: VectorField, version: number): void {
    const followed = this.#followed(file, field)
    followed.latest = Math.max(followed.latest, version)
    // The next search fails if this does.
    this.#follow(followed).catch(() => undefined)
  }

  /** The index, once it has everything that was written before. */
  async current(file: string, field: VectorField): Promise<CurrentIndex> {
    const followed = this.#followed(file, field)
    const needed = followed.latest
    while (followed.version < needed || followed.version < 0) {
      await this.#follow(followed)
      // Asked again, the thread would open the index of whatever took the file's place.
      if (!this.#isOpen(followed))
        throw new EngineError('gone', 'the vector index was closed')
    }
    return followed
  }

  /** Closes an index for good: what it saved goes too. */
  async drop(name: IndexName): Promise<void> {
    await this.#close(name, false)
    await rm(snapshotFolder(name.file, name.suffix), { recursive: true, force: true })
  }

  /** Closes all indexes of a store that is no more. */
  async closeAll(file: string): Promise<void> {
    for (const name of this.#namesIn(file)) await this.#close(name, false)
  }

  /** Evicts all indexes of a store, which are opened again when they are needed. */
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

  #followed(file: string, { suffix, dimension, metric }: VectorField): Followed {
    const name = { file, suffix }
    let followed = this.#indexes.get(keyOf(name))
    if (followed === undefined) {
      followed = {
        name,
        options: { dimension, metric: metric!, searchers: this.#options.searchers },
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

  /** One request at a time: what is written meanwhile goes with the next. */
  #follow(followed: Followed): Promise<void> {
    if (followed.following !== undefined) return followed.following
    const following = this.#followOnce(followed).finally(() => {
      followed.following = undefined
    })
    followed.following = following
    // Not after a failure: then the next who writes or searches tries again.
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
      // What it saves is what this starts from.
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
