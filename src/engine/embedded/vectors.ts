/**
 * The vector indexes, as the thread that answers requests sees them: which there are, and
 * how far each has followed its store.
 */
import type { SharedIndex } from '../../search/vector/vector-index.ts'
import { EngineError } from '../engine.ts'
import type {
  IndexerMessage,
  IndexerNotice,
  IndexerReply,
  IndexOptions,
} from './indexer-thread.ts'
import { Thread } from './thread.ts'

/** An index that has everything that a search must see. */
export interface CurrentIndex {
  readonly index: SharedIndex
  /** Another number whenever there are other segments. */
  readonly generation: number
}

export interface VectorsOptions {
  /** Called when a snapshot has everything up to a write. */
  readonly onSaved: (file: string, version: number) => void
  readonly log: (level: 'info' | 'warn', message: string) => void
}

interface Followed {
  readonly options: IndexOptions
  index: SharedIndex
  generation: number
  /** The write up to which the index has everything; -1: not open. */
  version: number
  /** The latest write that is known of. */
  latest: number
  following: Promise<void> | undefined
}

export class Vectors {
  readonly #options: VectorsOptions
  readonly #indexes = new Map<string, Followed>()
  #started: Thread<IndexerMessage, IndexerReply> | undefined

  constructor(options: VectorsOptions) {
    this.#options = options
  }

  /** Started by the first who needs it: not every server has vectors. */
  get #thread(): Thread<IndexerMessage, IndexerReply> {
    const { onSaved, log } = this.#options
    this.#started ??= new Thread<IndexerMessage, IndexerReply>(
      new URL('indexer-thread.ts', import.meta.url),
      (reason) => new EngineError('read', reason),
      (message) => {
        const notice = message as IndexerNotice
        if ('saved' in notice) onSaved(notice.saved.file, notice.saved.version)
        else log(notice.level, notice.log)
      },
    )
    return this.#started
  }

  /** Takes note of a write. The index follows soon, whether anybody searches or not. */
  noteWrite(file: string, options: IndexOptions, version: number): void {
    const followed = this.#followed(file, options)
    followed.latest = Math.max(followed.latest, version)
    // Whoever searches next is told if it fails.
    this.#follow(file, followed).catch(() => undefined)
  }

  /** The index, once it has everything that was written before. */
  async current(file: string, options: IndexOptions): Promise<CurrentIndex> {
    const followed = this.#followed(file, options)
    const needed = followed.latest
    while (followed.version < needed || followed.version < 0) {
      await this.#follow(file, followed)
      // Asked again, the thread would open the index of whatever took the file's place.
      if (this.#indexes.get(file) !== followed)
        throw new EngineError('gone', `the vector index of ${file} was closed`)
    }
    return followed
  }

  async close(file: string): Promise<void> {
    if (!this.#indexes.delete(file)) return
    await this.#thread.ask({ kind: 'close', file })
  }

  async stop(): Promise<void> {
    await this.#started?.ask({ kind: 'stop' })
  }

  #followed(file: string, options: IndexOptions): Followed {
    let followed = this.#indexes.get(file)
    if (followed === undefined) {
      followed = {
        options,
        index: [],
        generation: -1,
        version: -1,
        latest: -1,
        following: undefined,
      }
      this.#indexes.set(file, followed)
    }
    return followed
  }

  /** One request at a time: what is written meanwhile goes with the next. */
  #follow(file: string, followed: Followed): Promise<void> {
    if (followed.following !== undefined) return followed.following
    const following = this.#followOnce(file, followed).finally(() => {
      followed.following = undefined
    })
    followed.following = following
    // Not after a failure: then the next who writes or searches tries again.
    following
      .then(() => {
        if (followed.version < followed.latest && this.#indexes.get(file) === followed)
          return this.#follow(file, followed)
        return undefined
      })
      .catch(() => undefined)
    return following
  }

  async #followOnce(file: string, followed: Followed): Promise<void> {
    const { options, generation, latest } = followed
    const reply = await this.#thread.ask({
      kind: 'follow',
      file,
      options,
      version: latest,
      generation,
    })
    if (!('version' in reply)) return
    followed.version = reply.version
    followed.generation = reply.generation
    if (reply.index !== undefined) followed.index = reply.index
  }
}
