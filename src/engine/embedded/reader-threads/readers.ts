/** The reader threads. read-schedule.ts decides which reads run. */
import type { Caller } from '../../../caller/caller.ts'
import type { StoredTarget } from '../schema/stored-schema.ts'
import type { Search } from '../../contract.ts'
import type { ThreadMemory } from '../../operations.ts'
import { EngineError } from '../../errors.ts'
import type { Metric } from '../../../search/vector/similarity.ts'
import { siblingModule } from '../../../runtime/sibling-module.ts'
import { NeededThreads } from './needed-threads.ts'
import { ReadSchedule, type Turn } from './read-schedule.ts'
import {
  answerHold,
  hasBegun,
  isAborted,
  newCommand,
  readCommands,
  tell,
} from '../store/budget.ts'
import type {
  ReaderMessage,
  ReaderReply,
  SearchedIndex,
  MemoryRequest,
} from './reader-thread.ts'
import type { Filter } from '../../../language/filters/filter.ts'
import type { CountResult, Result } from '../read/result.ts'
import type { ScoredRows, StoreQuery } from '../read/store-query.ts'
import { receiveRows } from './row-transfer.ts'
import { keyOf, type IndexName } from '../vectors/index-name.ts'
import type { KnownFiles } from '../files/known-files.ts'
import { errorOf, Thread } from '../worker/thread.ts'
import type { DamageCount } from '../format/damage.ts'
import type { CurrentIndex } from '../vectors/vectors.ts'

/** The target as the caller knows it, and its store file. */
export interface ReadSource {
  readonly file: string
  readonly target: StoredTarget
}

interface Member {
  readonly number: number
  readonly thread: Thread<ReaderMessage, ReaderReply>
  /** The running read, if any. */
  read: PendingRead | undefined
  /** Latest generation of each vector index that the thread has. */
  readonly seen: Map<string, number>
  /** Targets that the thread knows, by store file. */
  readonly targets: Map<string, StoredTarget>
}

/** The message of a read, without its number and control word. */
type Read =
  Extract<ReaderMessage, { kind: 'read' | 'count' | 'search' }> extends infer M
    ? M extends unknown
      ? Omit<M, 'id' | 'command' | 'target'>
      : never
    : never

/** A waiting, running or paused read. */
interface PendingRead {
  readonly source: ReadSource
  readonly message: Read
  readonly caller: Caller
  /** Returns the fields of the message that depend on the thread. */
  readonly extra: (member: Member) => object
  /** Control word, shared with the thread; a new word for each start. */
  command: Int32Array
  /** Bytes that the caller has reserved. */
  held: number
  /** Present when a reservation failed. */
  lack: LackOfRoom | undefined
  readonly resolve: (reply: ReaderReply | LackOfRoom) => void
  readonly reject: (error: unknown) => void
}

/** A read that failed to reserve memory: it restarts when the memory is available. */
interface LackOfRoom {
  /** Bytes that the caller has reserved once the memory is available. */
  readonly held: number
  readonly room: Promise<void>
}

export interface ReadersOptions {
  /** Maximum concurrent reads. */
  readonly runningMax: number
  /** Maximum reads of one principal that wait for a thread. */
  readonly waitingMax: number
  /** Idle time in milliseconds after which spare threads end. */
  readonly spareThreadMs?: number | undefined
  readonly files: KnownFiles
  readonly damage: DamageCount
  /** Throws when the target was dropped or has another schema. */
  readonly checkCurrent: (target: StoredTarget) => void
}

/**
 * Number of threads in addition to the threads of running reads. They are needed because a paused
 * read keeps its thread.
 */
const spareThreads = 4

/**
 * Threads beyond `runningMax` are spare, and end after this idle time in milliseconds. Each takes
 * 45 MB, and 0.1 s of processor time to start.
 */
const spareThreadMsUsual = 10_000

/** Length of a turn in milliseconds. */
const turnMs = 20

/**
 * Milliseconds after which the first thread starts, if no read needs it earlier. An immediate start
 * would delay the server's start.
 */
const firstThreadMs = 5_000

export class Readers {
  /** Maximum number of threads. */
  readonly size: number
  readonly #options: ReadersOptions
  readonly #schedule: ReadSchedule<PendingRead>
  readonly #needed: NeededThreads
  /** Threads that are ready. */
  readonly #members: Member[] = []
  /**
   * The thread that is starting. Only one starts at a time: a start uses as much CPU as many reads.
   */
  #starting: Member | undefined
  #nextTurn: NodeJS.Timeout | undefined
  readonly #firstStart: NodeJS.Timeout
  #ending: NodeJS.Timeout | undefined
  #isStopping = false

  /** The first thread starts after `firstThreadMs`, others when all threads are busy. */
  constructor(options: ReadersOptions) {
    const { runningMax, waitingMax } = options
    const longMax = runningMax + spareThreads
    this.#options = options
    this.#schedule = new ReadSchedule({ runningMax, waitingMax, longMax })
    this.#needed = new NeededThreads(runningMax)
    this.size = this.#schedule.threadsMax
    this.#firstStart = setTimeout(() => this.#startThreads(), firstThreadMs).unref()
  }

  async read(source: ReadSource, query: StoreQuery, caller: Caller): Promise<Result> {
    const reply = await this.#ask(
      source,
      { kind: 'read', query, file: source.file },
      caller,
    )
    const { result, texts } = reply as Extract<ReaderReply, { result: Result }>
    const rows = await receiveRows(result.rows, texts, caller)
    return { ...result, rows }
  }

  async count(
    source: ReadSource,
    filter: Filter,
    stopAt: number,
    caller: Caller,
  ): Promise<CountResult> {
    const reply = await this.#ask(
      source,
      { kind: 'count', filter, stopAt, file: source.file },
      caller,
    )
    return (reply as { counted: CountResult }).counted
  }

  /** Searches by terms or, with `vectors`, in a vector index. */
  async search(
    source: ReadSource,
    search: Search,
    caller: Caller,
    vectors?: SearchedNow,
  ): Promise<ScoredRows> {
    const message = { kind: 'search', search, file: source.file } as const
    const reply = await this.#ask(source, message, caller, (member) =>
      vectors === undefined ? {} : { vectors: introduce(member, source.file, vectors) },
    )
    const { found, texts } = reply as Extract<ReaderReply, { found: ScoredRows }>
    const { hits, statistics } = found
    const rows = await receiveRows(
      hits.map(({ row }) => row),
      texts,
      caller,
    )
    return { hits: hits.map(({ score }, i) => ({ row: rows[i]!, score })), statistics }
  }

  /** Evicts a dropped vector index from all threads, because a new index can get the same name. */
  async forget(name: IndexName): Promise<void> {
    this.#removeDead()
    await Promise.all(
      this.#members.map(({ thread, seen }) => {
        seen.delete(keyOf(name))
        return thread.ask({ kind: 'forget', name })
      }),
    )
  }

  async close(file: string): Promise<void> {
    this.#removeDead()
    await Promise.all(
      this.#members.map(({ thread, seen, targets }) => {
        for (const key of [...seen.keys()]) if (key.startsWith(`${file} `)) seen.delete(key)
        targets.delete(file)
        return thread.ask({ kind: 'close', file })
      }),
    )
  }

  /** Number of waiting, running and paused reads. */
  get waiting(): number {
    return this.#schedule.size
  }

  memory(): Promise<(ThreadMemory | undefined)[]> {
    return Promise.all(this.#members.map(({ thread }) => thread.memory()))
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    clearTimeout(this.#nextTurn)
    clearTimeout(this.#firstStart)
    clearTimeout(this.#ending)
    for (const { read } of this.#members)
      if (read !== undefined) tell(read.command, readCommands.giveUp)
    const all = [
      ...this.#members,
      ...(this.#starting === undefined ? [] : [this.#starting]),
    ]
    await Promise.all(all.map(({ thread }) => thread.stop({ kind: 'stop' })))
  }

  async #ask(
    source: ReadSource,
    message: Read,
    caller: Caller,
    extra: PendingRead['extra'] = () => ({}),
  ): Promise<ReaderReply> {
    for (let held = 0; ;) {
      const reply = await this.#askOnce({ source, message, caller, extra, held })
      if (!('room' in reply)) return reply
      await reply.room
      held = reply.held
    }
  }

  async #askOnce(
    asked: Pick<PendingRead, 'source' | 'message' | 'caller' | 'extra' | 'held'>,
  ): Promise<ReaderReply | LackOfRoom> {
    const { caller } = asked
    caller.check()
    const { signal } = caller
    signal.throwIfAborted()
    const { promise, ...settle } = Promise.withResolvers<ReaderReply | LackOfRoom>()
    const read = { ...asked, ...settle, command: newCommand(), lack: undefined }
    if (!this.#schedule.add(read, caller)) throw this.#overloaded()
    // A caller that aborts gets its error at once, and does not wait until the thread stops the
    // read.
    const giveUp = (): void => {
      if (!this.#schedule.giveUp(read)) tell(read.command, readCommands.giveUp)
      settle.reject(signal.reason)
      // Reads with the same signal are aborted in this turn of the event loop, too, and must not
      // start before that.
      queueMicrotask(() => this.#fill())
    }
    signal.addEventListener('abort', giveUp)
    this.#fill()
    try {
      return await promise
    } finally {
      signal.removeEventListener('abort', giveUp)
    }
  }

  #overloaded(): EngineError {
    const { waitingMax } = this.#options
    return new EngineError(
      'overloaded',
      `${waitingMax} reads of this token already wait for a reader thread ` +
        '(--max-waiting-reads)',
    )
  }

  #fill(): void {
    this.#removeDead()
    this.#carryOut(this.#schedule.fill())
  }

  #carryOut({ starts, resumes, pauses, putBacks }: Turn<PendingRead>): void {
    for (const { command } of putBacks) tell(command, readCommands.giveUp)
    for (const { command } of pauses) tell(command, readCommands.pause)
    for (const { command } of resumes) tell(command, readCommands.run)
    for (const read of starts) void this.#start(read)
    this.#startThreads()
    if (!this.#schedule.isContended || this.#nextTurn !== undefined) return
    this.#nextTurn = setTimeout(() => {
      this.#nextTurn = undefined
      this.#removeDead()
      this.#carryOut(this.#schedule.rotate(({ command }) => hasBegun(command)))
    }, turnMs)
  }

  async #start(read: PendingRead): Promise<void> {
    let member: Member | undefined
    let isPutBack = false
    try {
      member = this.#idleMember()
      member.read = read
      this.#needed.begin()
      read.resolve(await this.#askMember(member, read))
    } catch (error) {
      isPutBack = read.lack === undefined && this.#schedule.hasLeft(read)
      if (isPutBack) read.command = newCommand()
      else if (read.lack !== undefined) read.resolve(read.lack)
      else read.reject(error)
    }
    if (member !== undefined) {
      member.read = undefined
      this.#needed.end()
    }
    if (!isPutBack) this.#schedule.end(read)
    this.#fill()
  }

  #askMember(member: Member, read: PendingRead): Promise<ReaderReply> {
    const { message, extra, command, source } = read
    const { file, target } = source
    // While the read waited, its target may have been dropped. A thread that has closed a dropped
    // file must not reopen it: the next store at this path would be mistaken for the dropped store.
    this.#options.checkCurrent(target)
    // The target is sent only to a thread that does not have it.
    const isKnown = member.targets.get(file) === target
    if (!member.targets.has(file)) this.#options.files.open(file, 'read', () => undefined)
    member.targets.set(file, target)
    const news = isKnown ? {} : { target }
    return member.thread.ask({ ...message, ...news, ...extra(member), command })
  }

  /**
   * Reserves memory for a read. If the reservation fails, the read leaves its thread, and restarts
   * when memory is available.
   */
  #hold(read: PendingRead, size: number): void {
    const { command, caller, held } = read
    if (isAborted(command)) return
    const room = size > held ? caller.reserve?.(size, held) : undefined
    if (room === undefined) {
      read.held = Math.max(held, size)
      answerHold(command)
      return
    }
    read.lack = { room, held: size }
    // The promise is awaited after the thread has left the read. If the caller aborts before that,
    // its rejection must not be unhandled.
    room.catch(() => undefined)
    tell(command, readCommands.giveUp)
  }

  /**
   * Starts a thread if it would help. Waiting reads use another thread if it becomes free earlier.
   */
  #startThreads(): void {
    if (this.#starting !== undefined || this.#isStopping) return
    if (!this.#schedule.wantsThread) return
    const taken = new Set(this.#members.map(({ number }) => number))
    let number = 1
    while (taken.has(number)) number++
    const { damage } = this.#options
    const member = startMember(number, damage, ({ size }) => {
      if (member.read !== undefined) this.#hold(member.read, size)
    })
    this.#starting = member
    void this.#join(member)
  }

  async #join(member: Member): Promise<void> {
    try {
      await member.thread.ask({ kind: 'begin' })
      this.#members.push(member)
      this.#schedule.addThread()
      this.#starting = undefined
      this.#endSparesLater()
    } catch (error) {
      this.#starting = undefined
      // If other threads are ready, reads wait for them: the next attempt to start a thread may
      // succeed.
      if (this.#members.length === 0) this.#failAll(error)
      return
    }
    this.#fill()
  }

  #endSparesLater(): void {
    const { runningMax, spareThreadMs = spareThreadMsUsual } = this.#options
    if (this.#members.length <= runningMax || this.#ending !== undefined) return
    this.#needed.take()
    this.#ending = setTimeout(() => {
      this.#ending = undefined
      this.#endSpares()
      this.#endSparesLater()
    }, spareThreadMs).unref()
  }

  /**
   * Ends idle threads that were not needed since the timer started; threads that started last end
   * first.
   */
  #endSpares(): void {
    const kept = this.#needed.take()
    for (const member of this.#members.toReversed()) {
      if (this.#members.length <= kept) return
      if (member.read !== undefined || member.thread.waiting > 0) continue
      this.#members.splice(this.#members.indexOf(member), 1)
      this.#schedule.loseThread()
      // A failure is ignored: a thread that dies while it ends is gone as well.
      member.thread.stop({ kind: 'stop' }).catch(() => undefined)
    }
  }

  #failAll(error: unknown): void {
    for (const read of this.#schedule.reads) {
      this.#schedule.end(read)
      read.reject(error)
    }
  }

  /** Removes dead threads. Their reads have failed; new threads start when they are needed. */
  #removeDead(): void {
    for (const member of [...this.#members]) {
      if (!member.thread.isLost || member.read !== undefined) continue
      this.#members.splice(this.#members.indexOf(member), 1)
      this.#schedule.loseThread()
    }
  }

  /** A thread without a read. The schedule starts a read only when there is such a thread. */
  #idleMember(): Member {
    if (this.#isStopping) throw new EngineError('closed', 'the server is shutting down')
    return this.#members.find(({ read }) => read === undefined)!
  }
}

/** An index that includes all earlier writes. */
interface SearchedNow extends CurrentIndex {
  readonly suffix: string
  readonly metric: Metric
}

/** Reference to an index; includes the index itself when the thread does not have it. */
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

function startMember(
  number: number,
  damage: DamageCount,
  onWanted: (wanted: MemoryRequest) => void,
): Member {
  const thread = new Thread<ReaderMessage, ReaderReply>(
    `reader ${number}`,
    siblingModule('reader-thread', import.meta.url),
    (reason, options, reply) => damage.note(errorOf('read', reason, options, reply)),
    (notice) => onWanted(notice as MemoryRequest),
  )
  return { number, thread, read: undefined, seen: new Map(), targets: new Map() }
}
