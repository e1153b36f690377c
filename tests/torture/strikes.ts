/** A series of strikes on copies of the folder of a server that was just killed or stopped. */
import { mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Random } from '../faults/random.ts'
import { Damager, type Damage } from './damage.ts'
import type { DamageTally } from './damage-tally.ts'
import { copyFolder, readyStores, type ReadyStore } from './folders.ts'
import { Strike, type StrikeResult } from './strike.ts'
import { Unexplained } from './unexplained.ts'
import type { World } from './verify.ts'

/**
 * Number of earlier copies of the folder that are kept. Strikes may replace files by older ones
 * from these copies.
 */
const copiesMax = 6

/** Maximum number of failed strikes for which the folders are kept. */
const keptMax = 40

export interface StrikesOptions {
  readonly world: World
  readonly random: Random
  readonly seed: number
  readonly tally: DamageTally
  readonly say: (line: string) => void
}

export class Strikes {
  readonly #options: StrikesOptions
  readonly #damager: Damager
  readonly #folder = mkdtempSync(join(roomyFolder(), 'stela-strikes-'))
  /** Earlier copies of the folder, oldest first. */
  readonly #copies: string[] = []
  #copiesMade = 0
  #kept = 0

  constructor(options: StrikesOptions) {
    this.#options = options
    this.#damager = new Damager(options.random)
    process.once('exit', () => this.close())
  }

  /**
   * Lets clients write, ends the server, and strikes a copy of its folder `count` times. Each
   * strike starts from the original state. A server serves before the call and after it.
   */
  async run(count: number): Promise<void> {
    const { world, random, tally } = this.#options
    await this.#write(20 + random.below(150))
    await (random.oneIn(4) ? world.host.stop() : world.host.kill())
    const pristine = join(this.#folder, 'pristine')
    copyFolder(world.host.options.dataDir, pristine)
    const stores = readyStores(pristine, join(this.#folder, 'catalog'))
    await this.#control(pristine, stores)
    tally.controls++
    for (let i = 0; i < count; i++) await this.#strike(pristine, stores)
    this.#keepCopy(pristine)
    await world.host.start()
  }

  /** Removes all copies. */
  close(): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }

  /** Lets the clients send `commands` commands in total, and waits for the answers. */
  async #write(commands: number): Promise<void> {
    const { clients, host } = this.#options.world
    let isOver = false
    const atWork = Promise.all(
      clients.map((client) => client.run(() => isOver, { hangsUp: false })),
    )
    atWork.catch((error: unknown) => host.breakOff(error))
    const copyAt = this.#options.random.below(commands)
    for (const part of [copyAt, commands - copyAt]) {
      await Promise.race([
        host.tally.untilSent(part),
        delay(writeMaxMs, undefined, { ref: false }),
        host.broken,
      ])
      // Copies the folder while the server uses it. Such a backup is unsafe, but users make them.
      if (part === copyAt) this.#keepCopy(host.options.dataDir)
    }
    isOver = true
    await Promise.race([atWork, host.broken])
  }

  /**
   * Runs a strike without damage. It must find no differences. Later differences are then caused by
   * damage.
   */
  async #control(pristine: string, stores: readonly ReadyStore[]): Promise<void> {
    const { world, random } = this.#options
    const scratch = join(this.#folder, 'control')
    const strike = new Strike({
      world,
      damaged: pristine,
      scratch,
      stores,
      damage: undefined,
      random: random.fork(),
    })
    const { failures, differences, check, refusal } = await strike.run()
    rmSync(scratch, { recursive: true, force: true })
    if (failures.length === 0 && differences.length === 0 && check.code === 0) return
    throw new Unexplained('a folder without damage is not sound', {
      answer: { failures, differences, refusal, check: check.out + check.err },
    })
  }

  async #strike(pristine: string, stores: readonly ReadyStore[]): Promise<void> {
    const { world, random, tally } = this.#options
    const scratch = join(this.#folder, 'strike')
    const damaged = join(scratch, 'damaged')
    copyFolder(pristine, damaged)
    const damage = this.#damager.strike(damaged, this.#copies)
    const strike = new Strike({
      ...{ world, damaged, scratch, stores, damage },
      random: random.fork(),
    })
    const result = await strike.run()
    tally.count(damage, result)
    if (result.failures.length > 0) this.#keep(pristine, damaged, damage, result)
    rmSync(scratch, { recursive: true, force: true })
  }

  #keepCopy(folder: string): void {
    const copy = join(this.#folder, `copy-${this.#copiesMade++}`)
    copyFolder(folder, copy)
    this.#copies.push(copy)
    if (this.#copies.length > copiesMax)
      rmSync(this.#copies.shift()!, { recursive: true, force: true })
  }

  /** Records a failed strike, with the folder before and after the damage. */
  #keep(pristine: string, damaged: string, damage: Damage, result: StrikeResult): void {
    const { seed, tally, say } = this.#options
    const { file, kind, detail } = damage
    const [first] = result.failures
    const line =
      `seed ${seed}, strike ${tally.strikes}: ${result.outcome}: ${file}, ${kind} ` +
      `(${detail}): ${first!.split('\n').slice(0, 2).join(' ').slice(0, 400)}`
    say(line)
    tally.failed.push(line)
    if (this.#kept++ >= keptMax) return
    const folder = join(tmpdir(), `stela-torture-seed-${seed}-strike-${tally.strikes}`)
    mkdirSync(folder, { recursive: true })
    copyFolder(pristine, join(folder, 'pristine'))
    copyFolder(damaged, join(folder, 'damaged'))
    writeFileSync(
      join(folder, 'result.json'),
      JSON.stringify({ seed, damage, ...result }, undefined, 2),
    )
    say(`  kept in ${folder}`)
  }
}

/** Maximum milliseconds for writing; long enough for a busy machine. */
const writeMaxMs = 20_000

/**
 * The folder for copies. Strikes copy much data and need no durability, so it is in memory if
 * enough is free.
 */
function roomyFolder(): string {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm')
    if (bavail * bsize > 2 * 2 ** 30) return '/dev/shm'
  } catch {
    // This system has no /dev/shm.
  }
  return tmpdir()
}
