/**
 * The server across its restarts; each of its processes is a `Life`. Clients ask for the process
 * that serves now, or wait until one serves. The scheduler of faults ends a process and starts the
 * next.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { Life, type LifeOptions } from './life.ts'
import type { StarvedDisk } from './starved-disk.ts'
import type { Tally } from './tally.ts'
import { Unexplained } from './unexplained.ts'

/** Milliseconds after which a stopping server counts as hanging. */
const stopMaxMs = 60_000

/** Milliseconds after which a server that neither serves nor has ended counts as hanging. */
const startMaxMs = 60_000

/** Options of timeouts that rarely occur. An unreferenced timer does not keep the process alive. */
const passing = { ref: false }

export class Host {
  readonly options: LifeOptions
  readonly tally: Tally
  /** The disk of the data; undefined when no small disk could be mounted. */
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

  /** The running server process, or the next one, as soon as it serves. */
  serving(): Promise<Life> {
    return Promise.race([this.#broken.promise, this.#serving.promise])
  }

  /** Ends the run: every pending and later wait for the server rejects with this failure. */
  breakOff(failure: unknown): void {
    this.#failure ??= failure
    this.#broken.reject(failure)
  }

  /** The reason why the run was broken off; undefined while it continues. */
  get failure(): unknown {
    return this.#failure
  }

  /** Rejects once the run is broken off. */
  get broken(): Promise<never> {
    return this.#broken.promise
  }

  /** The end of the log of the last life. */
  get log(): string {
    return this.#life?.log ?? ''
  }

  /** Warnings in the log of the last life. */
  get warnings(): readonly string[] {
    return this.#life?.warnings ?? []
  }

  async start(): Promise<void> {
    const started = await this.tryStart()
    if (started === 'serves') return
    if (started === 'hangs' || this.disk?.isStarved !== true)
      throw new Unexplained(`the server did not start: it ${started}`, { answer: this.log })
    // A full disk may have too little space to open the stores. Frees space, after which the server
    // must start.
    this.tally.startsRefused++
    this.disk.relieve()
    return this.start()
  }

  /** Starts a life; returns whether it serves. */
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

  /** The exit code of an ended life; null after a signal. */
  get exitCode(): number | null {
    return this.#life?.child.exitCode ?? null
  }

  /**
   * Creates a life. Every second life keeps only a few stores open, so that it evicts and opens
   * stores all the time.
   */
  #newLife(): Life {
    const { options, tally } = this
    const few = tally.restarts % 2 === 0 ? [] : ['--max-open', '2']
    return new Life({ ...options, flags: [...options.flags, ...few] }, tally)
  }

  /** Starts a life and kills it after `afterMs`: before it serves, or soon after. */
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
    // A stopping server may fail to save a snapshot, but it must never hang.
    const what =
      code === 'hangs'
        ? `the server did not stop in ${stopMaxMs / 1000} s`
        : `the server stopped with exit code ${code}`
    await life.kill()
    throw new Unexplained(what, { answer: life.log })
  }

  /** Ends the run and kills the process, whatever its state. */
  async leave(): Promise<void> {
    if (this.#failure === undefined) this.breakOff(new Error('the run is over'))
    await this.#life?.kill()
  }

  /** Kills the process without waiting for its end. Used when the run is interrupted. */
  killNow(): void {
    this.#life?.child.kill('SIGKILL')
  }

  #goDown(): Life {
    this.#serving = Promise.withResolvers<Life>()
    return this.#life!
  }
}
