/**
 * Faults and their schedule. A life is one server process from its start to its end. A round is a
 * sequence of lives, each ended by a kill or a stop.
 */
import { renameSync, writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { Random } from '../faults/random.ts'
import type { Host } from './host.ts'
import { spoilSnapshots } from './spoiled-snapshots.ts'

/**
 * `hangups` happen in the clients, which disconnect without waiting for an answer. `hostile` is a
 * separate client. `damage` changes files in copies of the folder between rounds (strikes.ts).
 */
export const faultNames = [
  'kill',
  'stop',
  'disk',
  'clock',
  'snapshots',
  'hangups',
  'hostile',
  'damage',
] as const

export type FaultName = (typeof faultNames)[number]

/** The faults of one life of a server, in the order in which they may happen. */
export interface LifePlan {
  /** Commands that clients send during the life. */
  readonly commands: number
  readonly movesClock: boolean
  readonly starvesDisk: boolean
  /**
   * Whether the disk is still full when the life ends, and whether it is full when the next life
   * starts.
   */
  readonly endsStarved: boolean
  readonly startsStarved: boolean
  readonly end: 'kill' | 'stop'
  readonly spoilsSnapshots: boolean
  /** Number of starts that are killed before the next life serves. */
  readonly startsCut: number
}

export function planRound(random: Random, faults: ReadonlySet<FaultName>): LifePlan[] {
  if (isDamageOnly(faults)) return []
  return Array.from({ length: 3 + random.below(3) }, (): LifePlan => {
    const starvesDisk = faults.has('disk') && random.oneIn(4)
    const endsStarved = starvesDisk && random.oneIn(3)
    const isKilled = faults.has('kill') && (!faults.has('stop') || !random.oneIn(4))
    return {
      commands: 40 + random.below(800),
      movesClock: faults.has('clock') && random.oneIn(3),
      starvesDisk,
      endsStarved,
      startsStarved: endsStarved && random.oneIn(2),
      // A stop saves vector indexes, which may fail on a full disk.
      end: isKilled ? 'kill' : 'stop',
      spoilsSnapshots: faults.has('snapshots') && random.oneIn(2),
      startsCut: faults.has('kill') && random.oneIn(5) ? 1 : 0,
    }
  })
}

/** Whether rounds consist mainly of damage to files. */
export function isDamageOnly(faults: ReadonlySet<FaultName>): boolean {
  return faults.size === 1 && faults.has('damage')
}

/** Maximum milliseconds to wait for the commands of a life; long enough for a busy machine. */
const waitMaxMs = 20_000

export class Faults {
  readonly #host: Host
  readonly #random: Random

  constructor(host: Host, random: Random) {
    this.#host = host
    this.#random = random
  }

  /** Applies the faults of one life. A server serves before the call and after it. */
  async liveThrough(plan: LifePlan): Promise<void> {
    const host = this.#host
    const half = plan.commands / 2
    await this.#wait(half)
    if (plan.movesClock) this.#moveClock()
    if (plan.starvesDisk) this.#starve()
    await this.#wait(half)
    if (!plan.endsStarved) host.disk?.relieve()
    if (plan.starvesDisk) await this.#wait(half)
    await (plan.end === 'kill' ? host.kill() : host.stop())
    if (!plan.startsStarved) host.disk?.relieve()
    if (plan.spoilsSnapshots && !plan.startsStarved)
      host.tally.snapshotsDamaged += spoilSnapshots(host.options.dataDir, this.#random)
    for (let i = 0; i < plan.startsCut; i++) await host.startInVain(this.#random.below(700))
    await host.start()
    if (!plan.startsStarved) return
    await this.#wait(half)
    host.disk?.relieve()
  }

  #starve(): void {
    const { disk, tally } = this.#host
    if (disk === undefined) return
    disk.starve()
    tally.diskEpisodes++
  }

  /** Moves the clock to at most 48 hours before or after the real time. */
  #moveClock(): void {
    const { options, tally } = this.#host
    if (options.clockFile === undefined) return
    const offsetMs = (this.#random.below(97) - 48) * 3_600_000
    setClock(options.clockFile, offsetMs)
    tally.clockMoves++
  }

  async #wait(commands: number): Promise<void> {
    const { tally, broken } = this.#host
    await Promise.race([
      tally.untilSent(commands),
      delay(waitMaxMs, undefined, { ref: false }),
      broken,
    ])
    // Waits a random time, so that faults come at different times relative to answers.
    await Promise.race([delay(this.#random.below(40)), broken])
  }
}

/** Replaces the file atomically, so that a reader never sees a partial number. */
export function setClock(file: string, offsetMs: number): void {
  writeFileSync(`${file}.new`, String(offsetMs))
  renameSync(`${file}.new`, file)
}
