/** The threads that long reads go to, and whose turn it is. */
import type { Caller } from '../../caller.ts'
import type { Target } from '../schema.ts'
import { EngineError, type Search, type ThreadMemory } from '../engine.ts'
import type { Metric } from '../../search/vector/similarity.ts'
import type { ReaderMessage, ReaderReply, SearchedIndex } from './reader-thread.ts'
import type { Filter } from '../../query/filter.ts'
import type { Result, ScoredRow, StoreQuery } from './store-query.ts'
import { keyOf, type IndexName } from './index-name.ts'
import type { KnownFiles } from './known-files.ts'
import { Thread } from './thread.ts'
import type { CurrentIndex } from './vectors.ts'

/** What is read: a target, as it is now, and where it is kept. */
interface Store {
  readonly file: string
  readonly target: Target
}

interface Member {
  readonly number: number
  readonly thread: Thread<ReaderMessage, ReaderReply>
  busy: number
  /** The generation of each vector index that the thread has seen. */
  readonly seen: Map<string, number>
  /** The targets that the thread has seen, by their files. */
  readonly targets: Map<string, Target>
}

/** A read before it has its number and its flag. */
type Read =
  Extract<ReaderMessage, { kind: 'read' | 'count' | 'search' }> extends infer M
    ? M extends unknown
      ? Omit<M, 'id' | 'cancelled' | 'target'>
      : never
    : never

export class Readers {
  /** Threads that there are at most. */
  readonly size: number
  readonly #files: KnownFiles
  readonly #members: Member[] = []

  /** The first thread starts at once, the others when they are needed. */
  constructor(size: number, files: KnownFiles) {
    this.size = size
    this.#files = files
    this.#addMember()
  }

  async read(store: Store, query: StoreQuery, caller: Caller): Promise<Result> {
    const reply = await this.#ask(store, { kind: 'read', query, file: store.file }, caller)
    const { result } = reply as { result: Result }
    return { ...result, way: `${result.way}, on a reading thread` }
  }

  async count(
    store: Store,
    filter: Filter,
    stopAt: number,
    caller: Caller,
  ): Promise<number> {
    const reply = await this.#ask(
      store,
      { kind: 'count', filter, stopAt, file: store.file },
      caller,
    )
    return (reply as { count: number }).count
  }

  /** Searches by terms, or in a vector index. */
  async search(
    store: Store,
    search: Search,
    caller: Caller,
    vectors?: SearchedNow,
  ): Promise<readonly ScoredRow[]> {
    const message = { kind: 'search', search, file: store.file } as const
    const reply = await this.#ask(store, message, caller, (member) =>
      vectors === undefined ? {} : { vectors: introduce(member, store.file, vectors) },
    )
    return (reply as { hits: readonly ScoredRow[] }).hits
  }

  /** Lets go of an index that is no more. Another may come to have its name. */
  async forget(name: IndexName): Promise<void> {
    this.#replaceDead()
    await Promise.all(
      this.#members.map(({ thread, seen }) => {
        seen.delete(keyOf(name))
        return thread.ask({ kind: 'forget', name })
      }),
    )
  }

  async close(file: string): Promise<void> {
    this.#replaceDead()
    await Promise.all(
      this.#members.map(({ thread, seen, targets }) => {
        for (const key of [...seen.keys()]) if (key.startsWith(`${file} `)) seen.delete(key)
        targets.delete(file)
        return thread.ask({ kind: 'close', file })
      }),
    )
  }

  /** Reads that have not ended. */
  get waiting(): number {
    return this.#members.reduce((sum, { busy }) => sum + busy, 0)
  }

  memory(): Promise<(ThreadMemory | undefined)[]> {
    return Promise.all(this.#members.map(({ thread }) => thread.memory()))
  }

  async stop(): Promise<void> {
    await Promise.all(this.#members.map(({ thread }) => thread.stop({ kind: 'stop' })))
  }

  async #ask(
    { file, target }: Store,
    message: Read,
    caller: Caller,
    extra: (member: Member) => object = () => ({}),
  ): Promise<ReaderReply> {
    caller.check()
    const cancelled = new Int32Array(new SharedArrayBuffer(4))
    const cancel = (): void => {
      Atomics.store(cancelled, 0, 1)
    }
    caller.signal.addEventListener('abort', cancel)
    const member = this.#leastBusy()
    member.busy++
    try {
      // Told only when it is news.
      const isKnown = member.targets.get(file) === target
      if (!member.targets.has(file)) this.#files.open(file, 'read', () => undefined)
      member.targets.set(file, target)
      const news = isKnown ? {} : { target }
      return await member.thread.ask({ ...message, ...news, ...extra(member), cancelled })
    } catch (error) {
      // A read that was given up did not fail.
      caller.check()
      throw error
    } finally {
      member.busy--
      caller.signal.removeEventListener('abort', cancel)
    }
  }

  #addMember(): Member {
    const member = startMember(this.#members.length + 1)
    this.#members.push(member)
    return member
  }

  /** Who waited for a thread that died was told; whoever comes next gets another. */
  #replaceDead(): void {
    for (const [i, { thread, number }] of this.#members.entries())
      if (thread.isLost) this.#members[i] = startMember(number)
  }

  #leastBusy(): Member {
    this.#replaceDead()
    const idle = this.#members.find(({ busy }) => busy === 0)
    if (idle !== undefined) return idle
    if (this.#members.length < this.size) {
      return this.#addMember()
    }
    return this.#members.reduce((least, other) => (other.busy < least.busy ? other : least))
  }
}

/** An index that has everything that was written before. */
interface SearchedNow extends CurrentIndex {
  readonly suffix: string
  readonly metric: Metric
}

/** What a thread needs to know of an index: all of it only when it is new to the thread. */
function introduce(
  { number, seen }: Member,
  file: string,
  { suffix, metric, generation, index }: SearchedNow,
): SearchedIndex {
  const key = keyOf({ file, suffix })
  const isKnown = seen.get(key) === generation
  seen.set(key, generation)
  return { suffix, metric, generation, thread: number, ...(!isKnown && { index }) }
}

function startMember(number: number): Member {
  const thread = new Thread<ReaderMessage, ReaderReply>(
    `reader ${number}`,
    new URL('reader-thread.ts', import.meta.url),
    (reason) => new EngineError('read', reason),
  )
  return { number, thread, busy: 0, seen: new Map(), targets: new Map() }
}
