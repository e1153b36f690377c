/**
 * The databases of a server, each with keyspaces and an endpoint of its own. One of them is
 * always there: the home, which requests reach that name no other.
 *
 * Which there are is a setting of the engine. A database is entered there after its first
 * keyspace was made, and noted as terminated before its keyspaces go; whatever is left over
 * by an end in between is removed at the next start.
 */
import { randomUUID } from 'node:crypto'
import type { Engine } from '../engine/contract.ts'
import { databaseKeyFor, databaseKeyOf, dottedKeyFor } from '../engine/database-key.ts'
import { EngineError } from '../engine/errors.ts'
import { OneByOne } from '../engine/one-by-one.ts'
import { databaseEngine } from './database-engine.ts'

export interface Database {
  readonly id: string
  /** Sees the keyspaces of this database alone. */
  readonly engine: Engine
}

export interface DatabaseInfo {
  readonly id: string
  readonly name: string
  readonly status: 'ACTIVE' | 'TERMINATED'
  /** The keyspace that it was made with. */
  readonly keyspace: string
  readonly cloudProvider: string
  readonly region: string
  readonly createdAt: string
  readonly terminatedAt?: string
  /** What the names of its keyspaces start with; absent: as in version 0.1. */
  readonly key?: string
}

export type NewDatabase = Pick<
  DatabaseInfo,
  'name' | 'keyspace' | 'cloudProvider' | 'region'
>

/** What is kept of all databases together. */
interface Stored {
  /** Who all of them belong to. */
  readonly organization: string
  /** The home first, then as they were made. */
  readonly databases: readonly DatabaseInfo[]
}

export class DatabaseRefusal extends Error {
  readonly kind: 'unknown' | 'state' | 'full'

  constructor(kind: DatabaseRefusal['kind'], message: string) {
    super(message)
    this.kind = kind
  }
}

const settingName = 'databases'

/** The names that a server's own place goes by, in a world of clouds and regions. */
export const homeProvider = 'AWS'
export const homeRegion = 'local'

/** Terminated databases stay readable; of very many, the oldest do not. */
const terminatedMax = 1_000

export class Databases {
  readonly #engine: Engine
  readonly #databasesMax: number
  #stored: Stored
  readonly #open = new Map<string, Database>()
  readonly #changes = new OneByOne()

  private constructor(engine: Engine, stored: Stored, databasesMax: number) {
    this.#engine = engine
    this.#stored = stored
    this.#databasesMax = databasesMax
    for (const info of this.#active()) this.#add(info)
  }

  static async open(engine: Engine, databasesMax: number): Promise<Databases> {
    const text = await engine.readSetting(settingName)
    const stored = text === undefined ? firstStart() : (JSON.parse(text) as Stored)
    if (text === undefined) await engine.writeSetting(settingName, JSON.stringify(stored))
    const databases = new Databases(engine, stored, databasesMax)
    await databases.#removeLeftovers()
    return databases
  }

  get organization(): string {
    return this.#stored.organization
  }

  get home(): Database {
    return this.#open.get(this.#homeId)!
  }

  /** A database that can be used. */
  find(id: string): Database | undefined {
    return this.#open.get(id.toLowerCase())
  }

  /** All that are known, terminated ones included, in the order they were made. */
  list(): readonly DatabaseInfo[] {
    return this.#stored.databases
  }

  info(id: string): DatabaseInfo | undefined {
    return this.#stored.databases.find((info) => info.id === id.toLowerCase())
  }

  create(wanted: NewDatabase): Promise<DatabaseInfo> {
    return this.#changes.next(async () => {
      if (this.#active().length >= this.#databasesMax)
        throw new DatabaseRefusal(
          'full',
          `There are ${this.#databasesMax} databases, which is the limit of this server. ` +
            'Terminate one, or raise --max-databases',
        )
      const id = randomUUID()
      const info: DatabaseInfo = {
        id,
        ...wanted,
        status: 'ACTIVE',
        createdAt: new Date().toISOString(),
        key: databaseKeyFor(id),
      }
      await this.#engine.createKeyspace(this.#keyOf(info) + wanted.keyspace)
      await this.#save([...this.#stored.databases, info])
      this.#add(info)
      return info
    })
  }

  /** Drops everything that is in it. Its id stays known. */
  terminate(id: string): Promise<DatabaseInfo> {
    return this.#changes.next(async () => {
      const info = this.info(id)
      if (info === undefined)
        throw new DatabaseRefusal('unknown', `There is no database ${id}`)
      if (info.status === 'TERMINATED')
        throw new DatabaseRefusal('state', `The database ${id} is terminated already`)
      if (info.id === this.#homeId)
        throw new DatabaseRefusal(
          'state',
          `The database ${id} is the server's own and cannot be terminated. Drop its keyspaces`,
        )
      const after: DatabaseInfo = {
        ...info,
        status: 'TERMINATED',
        terminatedAt: new Date().toISOString(),
      }
      await this.#save(
        this.#stored.databases.map((other) => (other === info ? after : other)),
      )
      this.#open.delete(info.id)
      await this.#dropKeyspaces((key) => key === this.#keyOf(info))
      return after
    })
  }

  get #homeId(): string {
    return this.#stored.databases[0]!.id
  }

  #active(): readonly DatabaseInfo[] {
    return this.#stored.databases.filter(({ status }) => status === 'ACTIVE')
  }

  #keyOf({ id, key }: DatabaseInfo): string {
    return id === this.#homeId ? '' : (key ?? dottedKeyFor(id))
  }

  #add(info: DatabaseInfo): void {
    const { id } = info
    // Not after its keyspaces were dropped for good.
    const whileOpen = <T>(act: () => Promise<T>) =>
      this.#changes.next(() => {
        if (!this.#open.has(id)) throw new EngineError('gone', `the database ${id} is gone`)
        return act()
      })
    this.#open.set(id, {
      id,
      engine: databaseEngine(this.#engine, this.#keyOf(info), whileOpen),
    })
  }

  async #save(databases: readonly DatabaseInfo[]): Promise<void> {
    const terminated = databases.filter(({ status }) => status === 'TERMINATED')
    const forgotten = new Set(terminated.slice(0, -terminatedMax))
    const stored: Stored = {
      ...this.#stored,
      databases: databases.filter((info) => !forgotten.has(info)),
    }
    await this.#engine.writeSetting(settingName, JSON.stringify(stored))
    this.#stored = stored
  }

  /** Of databases that never came to be, or were being terminated. */
  async #removeLeftovers(): Promise<void> {
    const known = new Set(this.#active().map((info) => this.#keyOf(info)))
    await this.#dropKeyspaces((key) => !known.has(key))
  }

  async #dropKeyspaces(isGone: (key: string) => boolean): Promise<void> {
    for (const keyspace of await this.#engine.listKeyspaces())
      if (isGone(databaseKeyOf(keyspace))) await this.#engine.dropKeyspace(keyspace)
  }
}

function firstStart(): Stored {
  const home: DatabaseInfo = {
    id: randomUUID(),
    name: 'stela',
    status: 'ACTIVE',
    keyspace: 'default_keyspace',
    cloudProvider: homeProvider,
    region: homeRegion,
    createdAt: new Date().toISOString(),
  }
  return { organization: randomUUID(), databases: [home] }
}
