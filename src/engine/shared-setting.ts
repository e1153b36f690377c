/**
 * A setting that several servers have in common: what one of them changes, all soon know.
 *
 * The value is at hand as it was last read. A change is decided on what is stored now, and is
 * written only if nobody wrote meanwhile; otherwise it is decided again on what they wrote.
 * So nothing is lost that another server wrote. What others change is read when the engine
 * tells of it.
 */
import type { Engine } from './contract.ts'
import { EngineError } from './errors.ts'
import { OneByOne } from './one-by-one.ts'

/** All settings that there are, so that a move of all misses none. */
export const settingNames = ['databases', 'roles', 'tokens', 'users'] as const

type SettingName = (typeof settingNames)[number]

/** What a change comes to. The value as it was given: there is nothing to change. */
export interface SettingChange<T, R> {
  readonly value: T
  readonly result: R
}

/** Each attempt that fails is a change by another server, so this is never reached. */
const attemptsMax = 1_000

/** After a change was heard of and could not be read. */
const rereadMs = 1_000

export class SharedSetting<T> {
  readonly #engine: Engine
  readonly #name: string
  #value: T
  #version: string | undefined
  /** Reads and changes, so that no read that was overtaken is taken for the latest. */
  readonly #turns = new OneByOne()
  readonly #stopWatching: () => void
  #rereading: NodeJS.Timeout | undefined
  #onChange: () => void = () => undefined
  #isClosed = false

  private constructor(engine: Engine, name: string, initial: T) {
    this.#engine = engine
    this.#name = name
    this.#value = initial
    this.#stopWatching = engine.watchSettings((name) => {
      if (name === this.#name) this.#reread()
    })
  }

  /** `initial` is its value until one is written. */
  static async open<T>(
    engine: Engine,
    name: SettingName,
    initial: T,
  ): Promise<SharedSetting<T>> {
    const setting = new SharedSetting(engine, name, initial)
    try {
      await setting.refresh()
      return setting
    } catch (error) {
      setting.close()
      throw error
    }
  }

  /** As it was last read or written here. */
  get value(): T {
    return this.#value
  }

  /** From now on, calls this when the value is another one, also by other servers. */
  whenChanged(act: () => void): void {
    this.#onChange = act
  }

  /** Reads what is stored now. */
  refresh(): Promise<void> {
    return this.#turns.next(() => this.#read())
  }

  /**
   * Makes the change that `decide` says, of what is stored then; it is asked again where
   * another server was faster. What it throws is passed on, and nothing changes.
   */
  change<R>(decide: (value: T) => SettingChange<T, R>): Promise<R> {
    return this.#turns.next(async () => {
      for (let attempt = 1; attempt <= attemptsMax; attempt++) {
        await this.#read()
        const { value, result } = decide(this.#value)
        if (value === this.#value) return result
        const text = JSON.stringify(value)
        const version = await this.#engine.writeSetting(this.#name, text, this.#version)
        if (version === undefined) continue
        this.#take(value, version)
        return result
      }
      throw new EngineError('write', `the setting ${this.#name} kept changing`)
    })
  }

  /** Hears of no more changes. */
  close(): void {
    this.#isClosed = true
    this.#stopWatching()
    clearTimeout(this.#rereading)
  }

  async #read(): Promise<void> {
    const stored = await this.#engine.readSetting(this.#name)
    if (stored === undefined || stored.version === this.#version) return
    this.#take(JSON.parse(stored.value) as T, stored.version)
  }

  #take(value: T, version: string): void {
    this.#value = value
    this.#version = version
    this.#onChange()
  }

  /** It was changed, and this must not be missed. */
  #reread(): void {
    this.refresh().catch(() => {
      if (this.#isClosed) return
      clearTimeout(this.#rereading)
      this.#rereading = setTimeout(() => this.#reread(), rereadMs).unref()
    })
  }
}
