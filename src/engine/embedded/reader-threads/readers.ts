/** The threads that long reads go to. Whose turn it is, read-schedule.ts says. */
import type { Caller } from '../../../caller/caller.ts'
import type { StoredTarget } from '../schema/stored-schema.ts'
import type { Search } from '../../contract.ts'
import type { ThreadMemory } from '../../operations.ts'
import { EngineError } from '../../errors.ts'
import type { Metric } from '../../../search/vector/similarity.ts'
import { siblingModule } from '../../../runtime/sibling-module.ts'
import { ReadSchedule, type Turn } from './read-schedule.ts'
import {
  answerHold,
  hasBegun,
  isGivenUp,
  newCommand,
  readCommands,
  tell,
} from '../store/budget.ts'
import type {
  ReaderMessage,
  ReaderReply,
  SearchedIndex,
  WantedRoom,
} from './reader-thread.ts'
import type { Filter } from '../../../language/filters/filter.ts'
import type { Result, ScoredRows, StoreQuery } from '../read/store-query.ts'
import { receiveRows } from './row-transfer.ts'
import { keyOf, type IndexName } from '../vectors/index-name.ts'
import type { KnownFiles } from '../files/known-files.ts'
import { errorOf, Thread } from '../worker/thread.ts'
import type { DamageCount } from '../format/damage.ts'
import type { CurrentIndex } from '../vectors/vectors.ts'

/** What is read: a target, as the read takes it to be, and where it is kept. */
export interface ReadSource {
  readonly file: string
  readonly target: StoredTarget
}

interface Member {
  readonly number: number
  readonly thread: Thread<ReaderMessage, ReaderReply>
  /** What it reads, if anything. */
  read: PendingRead | undefined
  /** The generation of each vector index that the thread has seen. */
  readonly seen: Map<string, number>
  /** The targets that the thread has seen, by their files. */
  readonly targets: Map<string, StoredTarget>
}

/** A read before it has its number and runs. */
type Read =
  Extract<ReaderMessage, { kind: 'read' | 'count' | 'search' }> extends infer M
    ? M extends unknown
      ? Omit<M, 'id' | 'command' | 'target'>
      : never
    : never

/** A read that has not ended. */
interface PendingRead {
  readonly source: ReadSource
  readonly message: Read
  readonly caller: Caller
  /** What the thread that it goes to needs to know beside it. */
  readonly extra: (member: Member) => object
  /** Shared with its thread: what to do. Another each time that it starts. */
  command: Int32Array
  /** Bytes that the caller has room for. */
  held: number
  /** Present once there was too little. */
  lack: LackOfRoom | undefined
  readonly resolve: (reply: ReaderReply | LackOfRoom) => void
  readonly reject: (error: unknown) => void
}

/** Why a read has to start again, and when. */
interface LackOfRoom {
  /** What the caller will have room for then. */
  readonly held: number
  readonly room: Promise<void>
}

export interface ReadersOptions {
  /** Reads that run at a time. */
  readonly runningMax: number
  /** Reads of one principal that wait for a thread. */
  readonly waitingMax: number
  /** Milliseconds without a read after which spare threads end. */
  readonly spareThreadMs?: number | undefined
  readonly files: KnownFiles
  readonly damage: DamageCount
  /** Throws when a target is no more, or has another schema by now. */
  readonly checkCurrent: (target: StoredTarget) => void
}

/** Threads beyond those that run at a time: a paused read keeps its thread while others run. */
const spareThreads = 4

/**
 * Threads beyond `runningMax` are spare, and end after so long without a read. Each takes 45 MB,
 * and 0.1 s of processor time to start.
 */
const spareThreadMsUsual = 10_000

/** How long reads run before it is another's turn. */
const turnMs = 20

/** When the first thread starts if no read needs it before: a start has enough to do. */
const firstThreadMs = 5_000

export class Readers {
  /** Threads that there are at most. */
  readonly size: number
  readonly #options: ReadersOptions
  readonly #schedule: ReadSchedule<PendingRead>
  /** Those that are ready. */
  readonly #members: Member[] = []
  /** One after the other: each takes as much of the processor as many reads. */
  #starting: Member | undefined
  #nextTurn: NodeJS.Timeout | undefined
  readonly #firstStart: NodeJS.Timeout
  #ending: NodeJS.Timeout | undefined
  #isStopping = false

  /** The first thread starts soon, the others when all that there are have reads. */
  constructor(options: ReadersOptions) {
    const { runningMax, waitingMax } = options
    const longMax = runningMax + spareThreads
    this.#options = options
    this.#schedule = new ReadSchedule({ runningMax, waitingMax, longMax })
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
    return { ...result, rows, way: `${result.way}, on a reading thread` }
  }

  async count(
    source: ReadSource,
    filter: Filter,
    stopAt: number,
    caller: Caller,
  ): Promise<number> {
    const reply = await this.#ask(
      source,
      { kind: 'count', filter, stopAt, file: source.file },
      caller,
    )
    return (reply as { count: number }).count
  }

  /** Searches by terms, or in a vector index. */
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

  /** Evicts an index that was dropped. Another may come to have its name. */
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

  /** Reads that have not ended. */
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
    // A caller that gives up does not wait until a thread has noticed.
    const giveUp = (): void => {
      if (!this.#schedule.giveUp(read)) tell(read.command, readCommands.giveUp)
      settle.reject(signal.reason)
      // Others of the same signal are about to be given up, and are not to start before.
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
      `${waitingMax} reads of this token wait for a thread already (--max-waiting-reads)`,
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
      read.resolve(await this.#askMember(member, read))
    } catch (error) {
      isPutBack = read.lack === undefined && this.#schedule.hasLeft(read)
      if (isPutBack) read.command = newCommand()
      else if (read.lack !== undefined) read.resolve(read.lack)
      else read.reject(error)
    }
    if (member !== undefined) member.read = undefined
    if (!isPutBack) this.#schedule.end(read)
    this.#fill()
  }

  #askMember(member: Member, read: PendingRead): Promise<ReaderReply> {
    const { message, extra, command, source } = read
    const { file, target } = source
    // It may have waited. A thread that has closed a dropped file must not open it again:
    // by its path, the store that comes next would be taken for this one.
    this.#options.checkCurrent(target)
    // Sent only when it is new to the thread.
    const isKnown = member.targets.get(file) === target
    if (!member.targets.has(file)) this.#options.files.open(file, 'read', () => undefined)
    member.targets.set(file, target)
    const news = isKnown ? {} : { target }
    return member.thread.ask({ ...message, ...news, ...extra(member), command })
  }

  /** A read that finds no room leaves its thread, and starts again when there is some. */
  #hold(read: PendingRead, size: number): void {
    const { command, caller, held } = read
    if (isGivenUp(command)) return
    const room = size > held ? caller.reserve?.(size, held) : undefined
    if (room === undefined) {
      read.held = Math.max(held, size)
      answerHold(command)
      return
    }
    read.lack = { room, held: size }
    // It is waited for when the thread has left, and by then nobody may care any more.
    room.catch(() => undefined)
    tell(command, readCommands.giveUp)
  }

  /** Has another thread start, if it would be of use. Nobody waits for it who need not. */
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
      // Others may be ready, or the next attempt succeeds.
      if (this.#members.length === 0) this.#failAll(error)
      return
    }
    this.#fill()
  }

  #endSparesLater(): void {
    const { runningMax, spareThreadMs = spareThreadMsUsual } = this.#options
    if (this.#members.length <= runningMax) return
    this.#ending ??= setTimeout(() => {
      this.#ending = undefined
      if (this.#schedule.size === 0) this.#endSpares()
      this.#endSparesLater()
    }, spareThreadMs).unref()
  }

  /** Ends idle threads until `runningMax` are left, the latest first. */
  #endSpares(): void {
    const { runningMax } = this.#options
    for (const member of this.#members.toReversed()) {
      if (this.#members.length <= runningMax) return
      if (member.read !== undefined || member.thread.waiting > 0) continue
      this.#members.splice(this.#members.indexOf(member), 1)
      this.#schedule.loseThread()
      // One that dies while it ends is gone as well.
      member.thread.stop({ kind: 'stop' }).catch(() => undefined)
    }
  }

  #failAll(error: unknown): void {
    for (const read of this.#schedule.reads) {
      this.#schedule.end(read)
      read.reject(error)
    }
  }

  /** Reads of a thread that died have failed; others take its place when they are needed. */
  #removeDead(): void {
    for (const member of [...this.#members]) {
      if (!member.thread.isLost || member.read !== undefined) continue
      this.#members.splice(this.#members.indexOf(member), 1)
      this.#schedule.loseThread()
    }
  }

  /** There is one for every read that the schedule lets begin. */
  #idleMember(): Member {
    if (this.#isStopping) throw new EngineError('closed', 'the store is closed')
    return this.#members.find(({ read }) => read === undefined)!
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

function startMember(
  number: number,
  damage: DamageCount,
  onWanted: (wanted: WantedRoom) => void,
): Member {
  const thread = new Thread<ReaderMessage, ReaderReply>(
    `reader ${number}`,
    siblingModule('reader-thread', import.meta.url),
    (reason, options, reply) => damage.note(errorOf('read', reason, options, reply)),
    (notice) => onWanted(notice as WantedRoom),
  )
  return { number, thread, read: undefined, seen: new Map(), targets: new Map() }
}
