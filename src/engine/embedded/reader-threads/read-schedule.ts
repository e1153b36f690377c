/**
 * Whose reads run on the reading threads. Only so many run at a time, and they take turns:
 * first the principals, then the connections of each, then reads in the order of arrival.
 *
 * A read is new until it has run for two turns, and is not paused before. Then it is long. A
 * long read keeps its thread, and is paused in place when it is another principal's turn. Long
 * reads may hold all threads but as many as may run. One that has become long when no more may
 * is put back: it leaves its thread, waits, and later starts again from the beginning as a long
 * read. So it loses at most two turns, once.
 *
 * Threads are added while reads wait, and count only once they are ready: to start one takes
 * as long as many short reads, and nobody is to wait for it who could have one that is there.
 *
 * This bounds how long a new read waits, however many long ones there are, because long reads
 * without a thread take no turns. Say P principals have reads that are new or hold a thread,
 * and so have C other connections of the read's own principal. Each of these comes first once,
 * for two turns at most, and one more that another has while its thread stops. So the
 * read starts within 3 · P · (C + 1) / runningMax turns, after three for those that run when it
 * comes. A thread stops within milliseconds, at its next step.
 *
 * This only decides: readers.ts starts, pauses, resumes and stops.
 */
import type { Caller } from '../../../caller/caller.ts'

export interface ScheduleOptions {
  /** Reads that run at a time. */
  readonly runningMax: number
  /**
   * Threads that long reads hold, once there are all. As many as may run are left to new
   * ones.
   */
  readonly longMax: number
  /** Reads of one principal that wait for a thread. */
  readonly waitingMax: number
}

/** Turns after which a read is long. The first may be a part of one. */
const turnsWhileNew = 2

/** What changes when turns change. */
export interface Turn<Read> {
  readonly starts: readonly Read[]
  readonly resumes: readonly Read[]
  readonly pauses: readonly Read[]
  /** To be stopped. When a thread has left such a read, `hasLeft` makes it wait again. */
  readonly putBacks: readonly Read[]
}

interface Entry<Read> {
  readonly read: Read
  readonly line: Line<Read>
  /** `leaving`: put back, and `ending`: given up, but its thread has not noticed yet. */
  state: 'waiting' | 'running' | 'paused' | 'leaving' | 'ending'
  isLong: boolean
  /** Turns that it had while it was new. */
  turns: number
}

/** The reads of a connection. */
interface Line<Read> {
  readonly connection: object
  readonly principal: Principal<Read>
  readonly entries: Set<Entry<Read>>
  /** Threads that its long reads hold. */
  long: number
}

/** Its lines are in the order of their turns: the one that had its turn last is the last. */
interface Principal<Read> {
  readonly name: string
  readonly lines: Map<object, Line<Read>>
  long: number
  waiting: number
}

export class ReadSchedule<Read> {
  readonly #options: ScheduleOptions
  /** In the order of their turns. */
  readonly #principals = new Map<string, Principal<Read>>()
  readonly #entries = new Map<Read, Entry<Read>>()
  #running = new Set<Entry<Read>>()
  /** Those that are ready. */
  #threads = 0
  /** Threads that reads hold which run or are paused, and those that reads are to leave. */
  #held = 0
  #leaving = 0
  /** Those of the first that long reads hold. */
  #long = 0

  constructor(options: ScheduleOptions) {
    this.#options = options
  }

  /** Threads that there may be. */
  get threadsMax(): number {
    return this.#options.longMax + this.#options.runningMax
  }

  /** Whether another thread would be of use: all are held, or long reads may hold no more. */
  get wantsThread(): boolean {
    if (this.#threads >= this.threadsMax) return false
    return !this.#hasFreeThread || this.#running.size < this.#runnable
  }

  /** One more is ready. */
  addThread(): void {
    this.#threads++
  }

  /** One that no read holds is no more. */
  loseThread(): void {
    this.#threads--
  }

  /** Reads that have not ended. */
  get size(): number {
    return this.#entries.size
  }

  get reads(): readonly Read[] {
    return [...this.#entries.keys()]
  }

  /** Whether some read does not run: then turns must change now and then. */
  get isContended(): boolean {
    return this.#entries.size > this.#running.size
  }

  /** False: too many reads of the principal wait already. */
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

  /** The read is no longer wanted. True: it had not begun, and is gone. */
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

  /** Its thread has stopped the read. True: it was put back, and waits again. */
  hasLeft(read: Read): boolean {
    const entry = this.#entries.get(read)
    if (entry?.state !== 'leaving') return false
    entry.state = 'waiting'
    this.#leaving--
    return true
  }

  /** The read has ended, and its thread is free. */
  end(read: Read): void {
    const entry = this.#entries.get(read)
    if (entry !== undefined) this.#remove(entry)
  }

  /** Fills what room there is for reads to run. */
  fill(): Turn<Read> {
    return this.#choose(new Set(this.#running), [])
  }

  /**
   * Gives those their turn who have waited for it longest. `hasBegun` says whether the thread
   * of a read is at work on it: a thread that only starts must not use up the read's turns.
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

  /** One read of each principal, then another of each, until no more may run. */
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
        // Its turn is not for those behind it: a thread is about to be left, and then it starts.
        if (!entry.isLong) return this.#hasFreeThread ? entry : undefined
        if (this.#hasFreeThread && this.#mayBeLong(line)) return entry
      }
    return undefined
  }

  /** Reads that could run, if there were threads for them. */
  get #runnable(): number {
    return Math.min(this.#options.runningMax, this.#entries.size - this.#leaving)
  }

  get #hasFreeThread(): boolean {
    return this.#held + this.#leaving < this.#threads
  }

  /**
   * Threads for long reads beyond those that can run are for principals who have none, and
   * some of them for connections that have none.
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

  /** Its thread is to stop it, and is free only then. */
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
