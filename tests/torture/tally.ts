import { commandsAt } from '../../src/commands/dispatch/registry.ts'
import { DamageTally } from './damage-tally.ts'

/** Counts of a run, and the table that is printed at its end. */
export class Tally {
  rounds = 0
  readonly sent = new Map<string, number>()
  answers = 0
  /** Number of commands without an answer, whose effect is unknown. */
  unknown = 0
  /** Number of answers with HTTP 429 or 503. Such a command was not executed, and is sent again. */
  turnedAway = 0
  kills = 0
  stops = 0
  restarts = 0
  /** Number of starts that a kill interrupted, and number of starts that failed on a full disk. */
  startsCut = 0
  startsRefused = 0
  diskEpisodes = 0
  refusedWrites = 0
  refusedReads = 0
  clockMoves = 0
  snapshotsDamaged = 0
  readsChecked = 0
  recordsVerified = 0
  checks = 0
  exports = 0
  lost = 0
  unexplained = 0
  /** Commands whose clients disconnected before the answer. */
  hangUps = 0
  /** Requests of the hostile client. */
  hostileRequests = 0
  /** Connections that closed although the server was not told to end. */
  connectionsCut = 0
  /** Strikes on files of the data folder. */
  readonly damage = new DamageTally()
  /** Log lines at level error, by message. */
  readonly errorLines = new Map<string, number>()
  /** Reasons why requested faults were skipped. */
  readonly leftOut: string[] = []
  #waiting: { readonly count: number; readonly resolve: () => void }[] = []

  countSent(command: string): void {
    this.sent.set(command, (this.sent.get(command) ?? 0) + 1)
    const due = this.#waiting.filter(({ count }) => count <= this.commands)
    this.#waiting = this.#waiting.filter((waiting) => !due.includes(waiting))
    for (const { resolve } of due) resolve()
  }

  /** Resolves after `more` further commands were sent. */
  untilSent(more: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<undefined>()
    this.#waiting.push({ count: this.commands + more, resolve: () => resolve(undefined) })
    return promise
  }

  countErrorLine(message: string): void {
    this.errorLines.set(message, (this.errorLines.get(message) ?? 0) + 1)
  }

  get commands(): number {
    return [...this.sent.values()].reduce((sum, count) => sum + count, 0)
  }

  /** Commands of all levels that no client has sent. */
  get neverSent(): string[] {
    const all = Object.values(commandsAt).flatMap((commands) => [...commands.keys()])
    return [...new Set(all)].filter((name) => !this.sent.has(name)).toSorted()
  }

  table(): string {
    const rows: readonly (readonly [string, number])[] = [
      ['rounds', this.rounds],
      ['commands sent', this.commands],
      ...[...this.sent].toSorted().map(([name, count]) => [`  ${name}`, count] as const),
      ['answers', this.answers],
      ['turned away (429, 503)', this.turnedAway],
      ['unknown outcomes', this.unknown],
      ['connections cut by a living server', this.connectionsCut],
      ['clients that hung up', this.hangUps],
      ['hostile requests', this.hostileRequests],
      ['kills -9', this.kills],
      ['stops by SIGTERM', this.stops],
      ['restarts', this.restarts],
      ['starts cut short by kill -9', this.startsCut],
      ['starts refused on a full disk', this.startsRefused],
      ['disk-full episodes', this.diskEpisodes],
      ['  writes refused then', this.refusedWrites],
      ['  reads refused then', this.refusedReads],
      ['clock moves', this.clockMoves],
      ['snapshots damaged', this.snapshotsDamaged],
      ['reads checked', this.readsChecked],
      ['records verified', this.recordsVerified],
      ['stela check, all sound', this.checks],
      ['stela export, equal to the model', this.exports],
      ['writes lost', this.lost],
      ['unexplained', this.unexplained],
    ]
    const width = Math.max(...rows.map(([name]) => name.length))
    const lines = rows.map(([name, count]) => `${name.padEnd(width)}  ${count}`)
    const noted = [...this.errorLines].map(
      ([message, count]) => `log at level error, ${count} times: ${message}`,
    )
    if (this.neverSent.length > 0)
      noted.push(`commands never sent: ${this.neverSent.join(', ')}`)
    const leftOut = this.leftOut.map((why) => `left out: ${why}`)
    return [...lines, ...this.damage.lines(), ...noted, ...leftOut].join('\n')
  }
}
