/**
 * Whose reads run on the reading threads. Only so many run at a time, and they take turns:
 * first the principals, then the connections of each, then reads in the order of arrival. A
 * read that has begun keeps its thread to its end; when it is somebody else's turn it is
 * paused where it is.
 *
 * There are more threads than may run, so that somebody who comes later finds one that no
 * paused read holds. This only decides: readers.ts starts, pauses and resumes.
 */
import type { Caller } from '../../caller.ts'

export interface ScheduleOptions {
  /** Reads that run at a time. */
  readonly runningMax: number
  /** Threads, one for each read that has begun. */
  readonly threads: number
  /** Reads of one principal that wait for a thread. */
  readonly waitingMax: number
}

/** What changes when turns change. */
export interface Turn<Read> {
  readonly starts: readonly Read[]
  readonly resumes: readonly Read[]
  readonly pauses: readonly Read[]
}

interface Entry<Read> {
  readonly read: Read
  readonly line: Line<Read>
  /** `ending`: given up, but its thread has not noticed yet. */
  state: 'waiting' | 'running' | 'paused' | 'ending'
}

/** The reads of a connection. */
interface Line<Read> {
  readonly connection: object
  readonly principal: Principal<Read>
  readonly entries: Set<Entry<Read>>
  /** Threads that they hold. */
  held: number
}

/** Its lines are in the order of their turns: the one that had its turn last is the last. */
interface Principal<Read> {
  readonly name: string
  readonly lines: Map<object, Line<Read>>
  held: number
  waiting: number
}

export class ReadSchedule<Read> {
  readonly #options: ScheduleOptions
  /** In the order of their turns. */
  readonly #principals = new Map<string, Principal<Read>>()
  readonly #entries = new Map<Read, Entry<Read>>()
  #running = new Set<Entry<Read>>()
  /** Threads that reads hold which run or are paused, and those that are ending. */
  #held = 0
  #ending = 0

  constructor(options: ScheduleOptions) {
    this.#options = options
  }

  /** Reads that have not ended. */
  get size(): number {
    return this.#entries.size
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
    const entry: Entry<Read> = { read, line, state: 'waiting' }
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
    if (entry.state !== 'ending') {
      this.#release(entry)
      this.#ending++
    }
    entry.state = 'ending'
    return false
  }

  /** The read has ended, and its thread is free. */
  end(read: Read): void {
    const entry = this.#entries.get(read)
    if (entry !== undefined) this.#remove(entry)
  }

  /** Fills what room there is for reads to run. */
  fill(): Turn<Read> {
    return this.#choose(new Set(this.#running))
  }

  /** Gives those their turn who have waited for it longest. */
  rotate(): Turn<Read> {
    return this.#choose(new Set())
  }

  /** One read of each principal, then another of each, until no more may run. */
  #choose(chosen: Set<Entry<Read>>): Turn<Read> {
    const starts: Read[] = []
    const resumes: Read[] = []
    const { runningMax } = this.#options
    for (let isMore = true; isMore && chosen.size < runningMax;) {
      isMore = false
      for (const principal of [...this.#principals.values()]) {
        const entry = this.#nextOf(principal, chosen)
        if (entry === undefined) continue
        isMore = true
        chosen.add(entry)
        moveToEnd(this.#principals, principal.name)
        moveToEnd(principal.lines, entry.line.connection)
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
    return { starts, resumes, pauses }
  }

  #nextOf(
    principal: Principal<Read>,
    chosen: ReadonlySet<Entry<Read>>,
  ): Entry<Read> | undefined {
    for (const line of principal.lines.values())
      for (const entry of line.entries) {
        if (chosen.has(entry) || entry.state === 'ending') continue
        if (entry.state !== 'waiting' || this.#mayStart(line)) return entry
        // Those behind it came later.
        break
      }
    return undefined
  }

  /**
   * Threads beyond those that can run are for principals who have none, and some of them for
   * connections that have none.
   */
  #mayStart({ principal, held }: Line<Read>): boolean {
    const { runningMax, threads } = this.#options
    const free = threads - this.#held - this.#ending
    if (free === 0) return false
    if (this.#held < runningMax || principal.held === 0) return true
    return held === 0 && principal.held <= runningMax && free > 2
  }

  #hold({ line }: Entry<Read>): void {
    line.principal.waiting--
    line.principal.held++
    line.held++
    this.#held++
  }

  #release(entry: Entry<Read>): void {
    entry.line.principal.held--
    entry.line.held--
    this.#held--
    this.#running.delete(entry)
  }

  #remove(entry: Entry<Read>): void {
    const { line, state } = entry
    const { principal } = line
    this.#entries.delete(entry.read)
    line.entries.delete(entry)
    if (state === 'waiting') principal.waiting--
    else if (state === 'ending') this.#ending--
    else this.#release(entry)
    if (line.entries.size > 0) return
    principal.lines.delete(line.connection)
    if (principal.lines.size === 0) this.#principals.delete(principal.name)
  }
}

export type Asker = Pick<Caller, 'principalName' | 'connection'>

function newPrincipal<Read>(name: string): Principal<Read> {
  return { name, lines: new Map(), held: 0, waiting: 0 }
}

function newLine<Read>(principal: Principal<Read>, connection: object): Line<Read> {
  return { connection, principal, entries: new Set(), held: 0 }
}

function moveToEnd<Key, Value>(map: Map<Key, Value>, key: Key): void {
  const value = map.get(key)!
  map.delete(key)
  map.set(key, value)
}
