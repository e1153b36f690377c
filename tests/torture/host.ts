/**
 * The server through all of its lives. Clients ask for the one that serves and wait where
 * there is none; whoever is in charge of faults ends one life and starts the next.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { Life, type LifeOptions } from './life.ts'
import type { StarvedDisk } from './starved-disk.ts'
import type { Tally } from './tally.ts'
import { Unexplained } from './unexplained.ts'

/** A server that was told to stop and has not by then hangs. */
const stopMaxMs = 60_000

/** A server that neither serves nor ends by then hangs. */
const startMaxMs = 60_000

/** For delays that something else mostly wins against: nobody waits for what is left. */
const passing = { ref: false }

export class Host {
  readonly options: LifeOptions
  readonly tally: Tally
  /** Undefined where no small disk can be had. */
  readonly disk: StarvedDisk | undefined
  #serving = Promise.withResolvers<Life>()
  #life: Life | undefined
  readonly #broken = Promise.withResolvers<never>()
  #failure: unknown

  constructor(options: LifeOptions, tally: Tally, disk: StarvedDisk | undefined) {
    this.options = options
    this.tally = tally
    this.disk = disk
    this.#broken.promise.catch(() => undefined)
  }

  /** The life that serves, or the next one that does. */
  serving(): Promise<Life> {
    return Promise.race([this.#broken.promise, this.#serving.promise])
  }

  /** Ends the run: whoever waits for the server, or will, gets this. */
  breakOff(failure: unknown): void {
    this.#failure ??= failure
    this.#broken.reject(failure)
  }

  /** Why the run was broken off. */
  get failure(): unknown {
    return this.#failure
  }

  /** Rejects once the run is broken off. */
  get broken(): Promise<never> {
    return this.#broken.promise
  }

  /** The end of what the last life said. */
  get log(): string {
    return this.#life?.log ?? ''
  }

  /** What the last life warned of. */
  get warnings(): readonly string[] {
    return this.#life?.warnings ?? []
  }

  async start(): Promise<void> {
    const started = await this.tryStart()
    if (started === 'serves') return
    if (started === 'hangs' || this.disk?.isStarved !== true)
      throw new Unexplained(`the server did not start: it ${started}`, { answer: this.log })
    // There may be no room to open the stores. It must start once there is.
    this.tally.startsRefused++
    this.disk.relieve()
    return this.start()
  }

  /** Starts a life, and says whether it came to serve. */
  async tryStart(): Promise<'serves' | 'ended' | 'hangs'> {
    const life = this.#newLife()
    this.#life = life
    this.tally.restarts++
    const started = await Promise.race([
      life.serves(),
      delay(startMaxMs, 'hangs' as const, passing),
    ])
    if (started === 'hangs') return 'hangs'
    if (!started) return 'ended'
    void life.ended.then((code) => {
      if (life.fate !== 'living') return
      const what = `the server ended by itself, exit code ${code}`
      this.breakOff(new Unexplained(what, { answer: life.log }))
    })
    this.#serving.resolve(life)
    return 'serves'
  }

  /** The exit code of a life that ended; null after a signal. */
  get exitCode(): number | null {
    return this.#life?.child.exitCode ?? null
  }

  /** Every other life keeps so little open that it opens and closes stores all the time. */
  #newLife(): Life {
    const { options, tally } = this
    const few = tally.restarts % 2 === 0 ? [] : ['--max-open', '2']
    return new Life({ ...options, flags: [...options.flags, ...few] }, tally)
  }

  /** Starts a life and ends it before, or soon after, it serves. */
  async startInVain(afterMs: number): Promise<void> {
    const life = this.#newLife()
    this.#life = life
    await Promise.race([delay(afterMs, undefined, passing), life.ended])
    await life.kill()
    this.tally.startsCut++
  }

  async kill(): Promise<void> {
    const life = this.#goDown()
    this.tally.kills++
    await life.kill()
  }

  async stop(): Promise<void> {
    const life = this.#goDown()
    this.tally.stops++
    const code = await Promise.race([
      life.stop(),
      delay(stopMaxMs, 'hangs' as const, passing),
    ])
    if (code === 0) return
    // A snapshot that cannot be saved is no reason to fail, a hanging stop always is.
    const what =
      code === 'hangs'
        ? `the server did not stop in ${stopMaxMs / 1000} s`
        : `the server stopped with exit code ${code}`
    await life.kill()
    throw new Unexplained(what, { answer: life.log })
  }

  /** Ends what runs, whatever state the run is in. */
  async leave(): Promise<void> {
    if (this.#failure === undefined) this.breakOff(new Error('the run is over'))
    await this.#life?.kill()
  }

  /** Without waiting for anything, for a run that is told to end. */
  killNow(): void {
    this.#life?.child.kill('SIGKILL')
  }

  #goDown(): Life {
    this.#serving = Promise.withResolvers<Life>()
    return this.#life!
  }
}
