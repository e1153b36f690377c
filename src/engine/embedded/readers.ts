/** The threads that long reads go to, and whose turn it is. */
import type { IndexingOptions } from '../schema.ts'
import { EngineError, type Search } from '../engine.ts'
import type { ReaderMessage, ReaderReply } from './reader-thread.ts'
import type { Filter } from '../../query/filter.ts'
import type { Result, ScoredRow, StoreQuery } from './store-query.ts'
import { Thread } from './thread.ts'

interface Store {
  readonly file: string
  readonly indexing: IndexingOptions | undefined
}

interface Member {
  readonly thread: Thread<ReaderMessage, ReaderReply>
  busy: number
}

/** A read before it has its number and its flag. */
type Read =
  Extract<ReaderMessage, { kind: 'read' | 'count' | 'search' }> extends infer M
    ? M extends unknown
      ? Omit<M, 'id' | 'cancelled'>
      : never
    : never

export class Readers {
  readonly #count: number
  readonly #members: Member[] = []

  /** The first thread starts at once, the others when they are needed. */
  constructor(count: number) {
    this.#count = count
    this.#members.push({ thread: startReader(), busy: 0 })
  }

  async read(store: Store, query: StoreQuery, signal: AbortSignal): Promise<Result> {
    const reply = await this.#ask({ kind: 'read', query, ...store }, signal)
    return (reply as { result: Result }).result
  }

  async count(
    store: Store,
    filter: Filter,
    stopAt: number,
    signal: AbortSignal,
  ): Promise<number> {
    const reply = await this.#ask({ kind: 'count', filter, stopAt, ...store }, signal)
    return (reply as { count: number }).count
  }

  async search(
    store: Store,
    search: Search,
    signal: AbortSignal,
  ): Promise<readonly ScoredRow[]> {
    const reply = await this.#ask({ kind: 'search', search, ...store }, signal)
    return (reply as { hits: readonly ScoredRow[] }).hits
  }

  async close(file: string): Promise<void> {
    await Promise.all(
      this.#members.map(({ thread }) => thread.ask({ kind: 'close', file })),
    )
  }

  async stop(): Promise<void> {
    await Promise.all(this.#members.map(({ thread }) => thread.ask({ kind: 'stop' })))
  }

  async #ask(message: Read, signal: AbortSignal): Promise<ReaderReply> {
    signal.throwIfAborted()
    const cancelled = new Int32Array(new SharedArrayBuffer(4))
    const cancel = (): void => {
      Atomics.store(cancelled, 0, 1)
    }
    signal.addEventListener('abort', cancel)
    const member = this.#leastBusy()
    member.busy++
    try {
      return await member.thread.ask({ ...message, cancelled })
    } catch (error) {
      // A read that was given up did not fail.
      signal.throwIfAborted()
      throw error
    } finally {
      member.busy--
      signal.removeEventListener('abort', cancel)
    }
  }

  #leastBusy(): Member {
    const idle = this.#members.find(({ busy }) => busy === 0)
    if (idle !== undefined) return idle
    if (this.#members.length < this.#count) {
      const member = { thread: startReader(), busy: 0 }
      this.#members.push(member)
      return member
    }
    return this.#members.reduce((least, other) => (other.busy < least.busy ? other : least))
  }
}

function startReader(): Thread<ReaderMessage, ReaderReply> {
  return new Thread<ReaderMessage, ReaderReply>(
    new URL('reader-thread.ts', import.meta.url),
    (reason) => new EngineError('read', reason),
  )
}
