/**
 * Schedules reads on the reader threads. A fixed number of reads runs at a time. They take turns by
 * principal, then by connection, then in order of arrival.
 *
 * A read is new for its first two turns, and is not paused in them. After that it is long. A long
 * read keeps its thread, and is paused in place during turns of other reads. Long reads may hold
 * all threads except `runningMax`. If a read becomes long when no more threads are available for
 * long reads, it is put back: it leaves its thread, waits, and later restarts from the beginning as
 * a long read. So a read is put back at most once, and loses the work of at most two turns.
 *
 * Threads are added while reads wait, and count only once they are ready: starting a thread takes
 * as long as many short reads, and a read should not wait for it if another thread becomes free.
 *
 * The turns bound the wait of a new read, however many long reads there are, because long reads
 * without a thread take no turns. Let P principals, and C other connections of the read's own
 * principal, have reads that are new or hold a thread. Principals take turns in rounds, and the
 * read's connection has its turn within C + 1 rounds. So at most P·(C+1) reads run first, each for
 * two turns at most, and a third turn may pass while its thread stops. The read starts within
 * 3·P·(C+1)/runningMax turns, plus three for the reads that were running when it arrived. A thread
 * stops within milliseconds, at its next step.
 *
 * `ReadSchedule` only decides; readers.ts starts, pauses, resumes and stops reads.
 */
import type { Caller } from '../../../caller/caller.ts'

export interface ScheduleOptions {
  /** Maximum concurrent reads. */
  readonly runningMax: number
  /**
   * Number of threads for long reads when all threads exist. Another `runningMax` threads are
   * reserved for new reads.
   */
  readonly longMax: number
  /** Maximum reads of one principal that wait for a thread. */
  readonly waitingMax: number
}

/** Number of turns after which a read is long. The first turn may be partial. */
const turnsWhileNew = 2

/** Changes to the running reads when a turn starts. */
export interface Turn<Read> {
  readonly starts: readonly Read[]
  readonly resumes: readonly Read[]
  readonly pauses: readonly Read[]
  /** Reads to stop. When the thread has stopped one of them, `hasLeft` queues the read again. */
  readonly putBacks: readonly Read[]
}

interface Entry<Read> {
  readonly read: Read
  readonly line: Line<Read>
  /**
   * `leaving`: put back; `ending`: aborted. In both states, the thread has not stopped the read
   * yet.
   */
  state: 'waiting' | 'running' | 'paused' | 'leaving' | 'ending'
  isLong: boolean
  /** Number of turns in which the read ran while it was new. */
  turns: number
}

/** Reads of one connection. */
interface Line<Read> {
  readonly connection: object
  readonly principal: Principal<Read>
  readonly entries: Set<Entry<Read>>
  /** Number of threads held by long reads of the connection. */
  long: number
}

/**
 * A principal with its reads. Its lines are in order of their last turn, the least recent first.
 */
interface Principal<Read> {
  readonly name: string
  readonly lines: Map<object, Line<Read>>
  long: number
  waiting: number
}

export class ReadSchedule<Read> {
  readonly #options: ScheduleOptions
  /** Principals in order of their last turn, the least recent first. */
  readonly #principals = new Map<string, Principal<Read>>()
  readonly #entries = new Map<Read, Entry<Read>>()
  #running = new Set<Entry<Read>>()
  /** Number of threads that are ready. */
  #threads = 0
  /** Numbers of threads held by running and paused reads, and of threads that reads are leaving. */
  #held = 0
  #leaving = 0
  /** Number of threads held by long reads. */
  #long = 0

  constructor(options: ScheduleOptions) {
    this.#options = options
  }

  get threadsMax(): number {
    return this.#options.longMax + this.#options.runningMax
  }

  /**
   * Whether another thread would help: all threads are held, or long reads may hold no more
   * threads.
   */
  get wantsThread(): boolean {
    if (this.#threads >= this.threadsMax) return false
    return !this.#hasFreeThread || this.#running.size < this.#runnable
  }

  /** Adds a thread that is ready. */
  addThread(): void {
    this.#threads++
  }

  /** Removes a thread that no read holds. */
  loseThread(): void {
    this.#threads--
  }

  /** Number of waiting, running and paused reads. */
  get size(): number {
    return this.#entries.size
  }

  get reads(): readonly Read[] {
    return [...this.#entries.keys()]
  }

  /** Whether some reads are not running, so that reads have to take turns. */
  get isContended(): boolean {
    return this.#entries.size > this.#running.size
  }

  /** Adds a read. Returns false when the principal has too many waiting reads. */
  add(read: Read, { principalName, connection }: Asker): boolean {
    const principal = this.#principals.get(principalName) ?? newPrincipal(principalName)
    if (principal.waiting >= this.#options.waitingMax) return false
    this.#principals.set(principalName, principal)
    const line = principal.lines.get(connection) ?? newLine(principal, connection)
    principal.lines.set(connection, line)
    const entry: Entry<Read> = { read, line, state: 'waiting', isLong: false, turns: 0 }
    line.entries.add(entry)
    principal.waiting++
    this.#entries.set(read, entry)
    return true
  }

  /** Aborts a read. Returns true when it is removed; otherwise its thread has to stop it first. */
  giveUp(read: Read): boolean {
    const entry = this.#entries.get(read)
    if (entry === undefined) return true
    if (entry.state === 'waiting') {
      this.#remove(entry)
      return true
    }
    if (entry.state === 'leaving') entry.line.principal.waiting--
    else if (entry.state !== 'ending') this.#leave(entry)
    entry.state = 'ending'
    return false
  }

  /**
   * Must be called when the thread has stopped the read. Returns true when the read was put back,
   * and waits again.
   */
  hasLeft(read: Read): boolean {
    const entry = this.#entries.get(read)
    if (entry?.state !== 'leaving') return false
    entry.state = 'waiting'
    this.#leaving--
    return true
  }

  /** Must be called when the read has ended and its thread is free. */
  end(read: Read): void {
    const entry = this.#entries.get(read)
    if (entry !== undefined) this.#remove(entry)
  }

  /** Starts and resumes reads until `runningMax` run. */
  fill(): Turn<Read> {
    return this.#choose(new Set(this.#running), [])
  }

  /**
   * Starts the next turn. `hasBegun` tells whether the thread has begun a read: the time before
   * that must not use up the read's turns.
   */
  rotate(hasBegun: (read: Read) => boolean = () => true): Turn<Read> {
    const chosen = new Set<Entry<Read>>()
    const putBacks: Read[] = []
    for (const entry of [...this.#running]) {
      if (entry.isLong) continue
      if (hasBegun(entry.read)) entry.turns++
      if (entry.turns < turnsWhileNew) this.#giveTurn(entry, chosen)
      else if (this.#mayBeLong(entry.line)) this.#makeLong(entry)
      else {
        this.#putBack(entry)
        putBacks.push(entry.read)
      }
    }
    return this.#choose(chosen, putBacks)
  }

  /**
   * Chooses one read of each principal, then a second read of each, and so forth until `runningMax`
   * reads are chosen.
   */
  #choose(chosen: Set<Entry<Read>>, putBacks: readonly Read[]): Turn<Read> {
    const starts: Read[] = []
    const resumes: Read[] = []
    const { runningMax } = this.#options
    for (let isMore = true; isMore && chosen.size < runningMax;) {
      isMore = false
      for (const principal of [...this.#principals.values()]) {
        const entry = this.#nextOf(principal, chosen)
        if (entry === undefined) continue
        isMore = true
        this.#giveTurn(entry, chosen)
        if (entry.state === 'waiting') {
          this.#hold(entry)
          starts.push(entry.read)
        } else if (entry.state === 'paused') resumes.push(entry.read)
        if (chosen.size >= runningMax) break
      }
    }
    const pauses: Read[] = []
    for (const entry of this.#running)
      if (!chosen.has(entry)) {
        entry.state = 'paused'
        pauses.push(entry.read)
      }
    for (const entry of chosen) entry.state = 'running'
    this.#running = chosen
    return { starts, resumes, pauses, putBacks }
  }

  #giveTurn(entry: Entry<Read>, chosen: Set<Entry<Read>>): void {
    const { connection, principal } = entry.line
    chosen.add(entry)
    moveToEnd(this.#principals, principal.name)
    moveToEnd(principal.lines, connection)
  }

  #nextOf(
    principal: Principal<Read>,
    chosen: ReadonlySet<Entry<Read>>,
  ): Entry<Read> | undefined {
    for (const line of principal.lines.values())
      for (const entry of line.entries) {
        const { state } = entry
        if (chosen.has(entry) || state === 'leaving' || state === 'ending') continue
        if (state !== 'waiting') return entry
        if (!entry.isLong) {
          if (this.#hasFreeThread) return entry
          // This read will start on the thread that another read is leaving.
          if (this.#leaving > 0) return undefined
          // The next thread may take long to start, so reads of other connections continue. Later
          // reads of this connection must not overtake this read.
          break
        }
        if (this.#hasFreeThread && this.#mayBeLong(line)) return entry
      }
    return undefined
  }

  /** Number of reads that could run if there were enough threads. */
  get #runnable(): number {
    return Math.min(this.#options.runningMax, this.#entries.size - this.#leaving)
  }

  get #hasFreeThread(): boolean {
    return this.#held + this.#leaving < this.#threads
  }

  /**
   * Whether another read of this line may be long. The first `runningMax` long reads are not
   * restricted. Further threads go to principals without a long read and, while more than two
   * threads are free, to connections without a long read whose principal has at most `runningMax`
   * long reads.
   */
  #mayBeLong({ principal, long }: Line<Read>): boolean {
    const { runningMax } = this.#options
    const free = Math.max(1, this.#threads - runningMax) - this.#long
    if (free <= 0) return false
    if (this.#long < runningMax || principal.long === 0) return true
    return long === 0 && principal.long <= runningMax && free > 2
  }

  #makeLong(entry: Entry<Read>): void {
    entry.isLong = true
    this.#countLong(entry.line, 1)
  }

  #putBack(entry: Entry<Read>): void {
    this.#leave(entry)
    entry.state = 'leaving'
    entry.isLong = true
    entry.line.principal.waiting++
  }

  #hold({ line, isLong }: Entry<Read>): void {
    line.principal.waiting--
    this.#held++
    if (isLong) this.#countLong(line, 1)
  }

  #release(entry: Entry<Read>): void {
    this.#held--
    if (entry.isLong) this.#countLong(entry.line, -1)
    this.#running.delete(entry)
  }

  /** Makes the thread stop the read. The thread is free only after that. */
  #leave(entry: Entry<Read>): void {
    this.#release(entry)
    this.#leaving++
  }

  #countLong(line: Line<Read>, change: number): void {
    line.long += change
    line.principal.long += change
    this.#long += change
  }

  #remove(entry: Entry<Read>): void {
    const { line, state } = entry
    const { principal } = line
    this.#entries.delete(entry.read)
    line.entries.delete(entry)
    if (state === 'waiting' || state === 'leaving') principal.waiting--
    if (state === 'leaving' || state === 'ending') this.#leaving--
    else if (state !== 'waiting') this.#release(entry)
    if (line.entries.size > 0) return
    principal.lines.delete(line.connection)
    if (principal.lines.size === 0) this.#principals.delete(principal.name)
  }
}

export type Asker = Pick<Caller, 'principalName' | 'connection'>

function newPrincipal<Read>(name: string): Principal<Read> {
  return { name, lines: new Map(), long: 0, waiting: 0 }
}

function newLine<Read>(principal: Principal<Read>, connection: object): Line<Read> {
  return { connection, principal, entries: new Set(), long: 0 }
}

function moveToEnd<Key, Value>(map: Map<Key, Value>, key: Key): void {
  const value = map.get(key)!
  map.delete(key)
  map.set(key, value)
}
