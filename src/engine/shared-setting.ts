/**
 * A setting that all servers share. Each server caches the value, and rereads it when the engine
 * reports a change. A change is decided on the stored value and written by compare-and-set. When
 * another server wrote meanwhile, the change is decided again on the new value, so no update is
 * lost.
 */
import type { Engine } from './contract.ts'
import { EngineError } from './errors.ts'
import { OneByOne } from './one-by-one.ts'

/** Names of all settings. A migration copies all of them. */
export const settingNames = ['databases', 'roles', 'tokens', 'users'] as const

type SettingName = (typeof settingNames)[number]

/** Result of a decision. If it has the same value object as before, nothing is changed. */
export interface SettingChange<T, R> {
  readonly value: T
  readonly result: R
}

/**
 * Maximum attempts of a change. Each failed attempt means that another server wrote meanwhile, so
 * the maximum is never reached.
 */
const attemptsMax = 1_000

/** Delay until the next attempt when a changed setting could not be read. */
const rereadMs = 1_000

export class SharedSetting<T> {
  readonly #engine: Engine
  readonly #name: string
  #value: T
  #version: string | undefined
  /** Serialises reads and changes, so that an older read cannot overwrite a newer value. */
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

  /** Opens a setting. `initial` is its value until one is written. */
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

  /** The cached value, from the last read or write of this server. */
  get value(): T {
    return this.#value
  }

  /** Registers the function that is called after every change of the value, by any server. */
  whenChanged(act: () => void): void {
    this.#onChange = act
  }

  /** Rereads the stored value. */
  refresh(): Promise<void> {
    return this.#turns.next(() => this.#read())
  }

  /**
   * Applies `decide` to the stored value, and again when another server wrote meanwhile. An error
   * thrown by `decide` is rethrown, and nothing is changed.
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
      throw new EngineError(
        'write',
        `other servers kept changing the setting ${this.#name}`,
      )
    })
  }

  /** Stops watching for changes. */
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

  /** Rereads a value that the engine reported as changed, until it succeeds. */
  #reread(): void {
    this.refresh().catch(() => {
      if (this.#isClosed) return
      clearTimeout(this.#rereading)
      this.#rereading = setTimeout(() => this.#reread(), rereadMs).unref()
    })
  }
}
