/**
 * The databases of a server, each with its own keyspaces and endpoint. The home database always
 * exists; requests that name no database use it.
 *
 * The list of databases is a setting of the engine, which several servers may change
 * concurrently. Creating and terminating a database takes two steps, its entry in the list and
 * its keyspaces, and a server may crash or stall between them. The entry is written first, with
 * its state:
 *
 *   INITIALIZING  its first keyspace is being created; it cannot be used yet
 *   ACTIVE        it can be used
 *   TERMINATED    its keyspaces are being dropped, or were dropped
 *
 * A start cleans up after such interruptions: it terminates databases that have been
 * INITIALIZING for longer than a creation can take, and drops the keyspaces of TERMINATED ones.
 * Keyspaces with a key that no entry has are not dropped. Another server may have created them,
 * with an entry that this server has not read yet, and an orphaned keyspace is better than a
 * lost one.
 *
 * No decision depends on clocks or delays alone. A server that has created a keyspace reads the
 * entry again, and drops the keyspace if the database was terminated meanwhile. A server that
 * terminates a database changes the entry before it lists the keyspaces. Therefore the server
 * that acts later always sees what the other server has done.
 */
import { randomUUID } from 'node:crypto'
import type { Engine } from '../engine/contract.ts'
import { databaseKeyFor, databaseKeyOf, dottedKeyFor } from '../engine/database-key.ts'
import { EngineError } from '../engine/errors.ts'
import { OneByOne } from '../engine/one-by-one.ts'
import { SharedSetting, type SettingChange } from '../engine/shared-setting.ts'
import { databaseEngine, type KeyspaceGuard } from './database-engine.ts'
import { fixedLimits } from '../limits.ts'

export interface Database {
  readonly id: string
  /** An engine that shows only the keyspaces of this database. */
  readonly engine: Engine
}

export interface DatabaseInfo {
  readonly id: string
  readonly name: string
  readonly status: 'ACTIVE' | 'TERMINATED'
  /** The keyspace that was created together with the database. */
  readonly keyspace: string
  readonly cloudProvider: string
  readonly region: string
  readonly createdAt: string
  readonly terminatedAt?: string
  /** Prefix of the names of its keyspaces; absent: the prefix of version 0.1. */
  readonly key?: string
}

export type NewDatabase = Pick<
  DatabaseInfo,
  'name' | 'keyspace' | 'cloudProvider' | 'region'
>

/** The stored entry of a database. */
interface DatabaseEntry extends Omit<DatabaseInfo, 'status'> {
  readonly status: DatabaseInfo['status'] | 'INITIALIZING'
}

/** The stored setting: all databases of the server. */
interface Stored {
  /** Id of the organization that owns all databases. */
  readonly organization: string
  /** The home database first, then the other databases in order of creation. */
  readonly databases: readonly DatabaseEntry[]
}

export class DatabaseRefusal extends Error {
  readonly kind: 'unknown' | 'state' | 'full'

  constructor(kind: DatabaseRefusal['kind'], message: string) {
    super(message)
    this.kind = kind
  }
}

/** Cloud provider and region reported for this server. */
export const homeProvider = 'AWS'
export const homeRegion = 'local'

export class Databases {
  readonly #engine: Engine
  readonly #databasesMax: number
  readonly #setting: SharedSetting<Stored>
  /** Active databases by id. */
  readonly #open = new Map<string, Database>()
  readonly #changes = new OneByOne()

  private constructor(
    engine: Engine,
    databasesMax: number,
    setting: SharedSetting<Stored>,
  ) {
    this.#engine = engine
    this.#databasesMax = databasesMax
    this.#setting = setting
    setting.whenChanged(() => this.#apply())
    this.#apply()
  }

  static async open(engine: Engine, databasesMax: number): Promise<Databases> {
    const first = firstStart()
    const setting = await SharedSetting.open<Stored>(engine, 'databases', first)
    // When several servers start at once, the setting that is stored first is kept.
    await setting.change((stored) => ({
      value: stored === first ? { ...first } : stored,
      result: undefined,
    }))
    const databases = new Databases(engine, databasesMax, setting)
    await databases.#removeLeftovers()
    return databases
  }

  /** Stops watching changes by other servers. */
  close(): void {
    this.#setting.close()
  }

  get organization(): string {
    return this.#setting.value.organization
  }

  get home(): Database {
    return this.#open.get(this.#homeId)!
  }

  /** An active database; undefined if it is unknown or not active. */
  find(id: string): Database | undefined {
    return this.#open.get(id.toLowerCase())
  }

  /** All databases whose creation is complete, terminated ones included, in order of creation. */
  list(): readonly DatabaseInfo[] {
    return this.#setting.value.databases.filter(isMade)
  }

  info(id: string): DatabaseInfo | undefined {
    return this.list().find((info) => info.id === id.toLowerCase())
  }

  async create(wanted: NewDatabase): Promise<DatabaseInfo> {
    const entry = await this.#setting.change((stored) => {
      const { databases } = stored
      if (databases.filter(takesRoom).length >= this.#databasesMax)
        throw new DatabaseRefusal(
          'full',
          `This server has ${this.#databasesMax} databases, the maximum. Terminate ` +
            'one, or raise --max-databases',
        )
      const made: DatabaseEntry = {
        ...newIdentity(databases),
        ...wanted,
        status: 'INITIALIZING',
        createdAt: new Date().toISOString(),
      }
      return { value: withEntries(stored, [...databases, made]), result: made }
    })
    try {
      await this.#engine.createKeyspace(this.#keyOf(entry) + wanted.keyspace)
      return await this.#activate(entry.id)
    } catch (error) {
      // If the cleanup fails, a later start retries it.
      await this.#giveUp(entry).catch(() => undefined)
      throw error
    }
  }

  /** Terminates a database: drops all of its keyspaces. Its entry remains, with its id. */
  terminate(id: string): Promise<DatabaseInfo> {
    return this.#changes.next(async () => {
      const terminated = await this.#setting.change((stored) => {
        const entry = stored.databases.filter(isMade).find(named(id))
        if (entry === undefined)
          throw new DatabaseRefusal('unknown', `There is no database ${id}`)
        if (entry.status === 'TERMINATED')
          throw new DatabaseRefusal('state', `The database ${id} is already terminated`)
        if (entry.id === this.#homeId)
          throw new DatabaseRefusal(
            'state',
            `The database ${id} is the home database, which cannot be terminated. ` +
              'Drop its keyspaces instead',
          )
        return replaced(stored, entry, asTerminated(entry))
      })
      await this.#dropKeyspaces([terminated])
      return terminated
    })
  }

  get #homeId(): string {
    return this.#setting.value.databases[0]!.id
  }

  #keyOf({ id, key }: Pick<DatabaseEntry, 'id' | 'key'>): string {
    return id === this.#homeId ? '' : (key ?? dottedKeyFor(id))
  }

  /** Marks the database as active after its first keyspace was created. */
  #activate(id: string): Promise<DatabaseInfo> {
    return this.#setting.change((stored) => {
      const entry = stored.databases.find(named(id))
      if (entry?.status !== 'INITIALIZING')
        throw new EngineError('gone', `creating the database ${id} took too long`)
      return replaced<DatabaseInfo>(stored, entry, { ...entry, status: 'ACTIVE' })
    })
  }

  /**
   * Terminates a database whose creation failed: its keyspace may exist, or be created later.
   */
  async #giveUp({ id }: DatabaseEntry): Promise<void> {
    const terminated = await this.#setting.change((stored) => {
      const entry = stored.databases.find(named(id))
      return entry === undefined || entry.status === 'TERMINATED'
        ? { value: stored, result: entry }
        : replaced<DatabaseEntry>(stored, entry, asTerminated(entry))
    })
    if (terminated !== undefined) await this.#dropKeyspaces([terminated])
  }

  /** Opens databases that became active, and removes the others. */
  #apply(): void {
    const active = new Map(
      this.#setting.value.databases
        .filter(({ status }) => status === 'ACTIVE')
        .map((entry) => [entry.id, entry]),
    )
    for (const id of this.#open.keys()) if (!active.has(id)) this.#open.delete(id)
    for (const [id, entry] of active)
      if (!this.#open.has(id)) this.#open.set(id, this.#openDatabase(entry))
  }

  #openDatabase(entry: DatabaseEntry): Database {
    const { id } = entry
    const guard: KeyspaceGuard = (create, drop) =>
      id === this.#homeId ? create() : this.#whileActive(id, create, drop)
    return { id, engine: databaseEngine(this.#engine, this.#keyOf(entry), guard) }
  }

  /**
   * Runs `create`, unless the database is terminated. If it is terminated during the creation,
   * drops the keyspace again.
   */
  #whileActive(
    id: string,
    create: () => Promise<boolean>,
    drop: () => Promise<boolean>,
  ): Promise<boolean> {
    const refuseIfGone = () => {
      if (!this.#open.has(id))
        throw new EngineError('gone', `the database ${id} no longer exists`)
    }
    return this.#changes.next(async () => {
      refuseIfGone()
      const created = await create()
      await this.#setting.refresh()
      if (!this.#open.has(id)) await drop()
      refuseIfGone()
      return created
    })
  }

  async #removeLeftovers(): Promise<void> {
    const terminated = await this.#setting.change((stored) => {
      const isLate = (entry: DatabaseEntry) =>
        entry.status === 'INITIALIZING' && !takesRoom(entry)
      const databases = stored.databases.map((entry) =>
        isLate(entry) ? asTerminated(entry) : entry,
      )
      return {
        value: stored.databases.some(isLate) ? withEntries(stored, databases) : stored,
        result: databases.filter(({ status }) => status === 'TERMINATED'),
      }
    })
    await this.#dropKeyspaces(terminated)
  }

  async #dropKeyspaces(databases: readonly DatabaseEntry[]): Promise<void> {
    const keys = new Set(databases.map((entry) => this.#keyOf(entry)))
    for (const keyspace of await this.#engine.listKeyspaces())
      if (keys.has(databaseKeyOf(keyspace))) await this.#engine.dropKeyspace(keyspace)
  }
}

function named(id: string): (entry: DatabaseEntry) => boolean {
  return (entry) => entry.id === id.toLowerCase()
}

/** Whether the creation of the database is complete, so that lists contain it. */
function isMade(entry: DatabaseEntry): entry is DatabaseInfo {
  return entry.status !== 'INITIALIZING'
}

/** Whether the database counts towards the maximum: it is active, or being created. */
function takesRoom({ status, createdAt }: DatabaseEntry): boolean {
  if (status !== 'INITIALIZING') return status === 'ACTIVE'
  return Date.now() - Date.parse(createdAt) < fixedLimits.databaseInitializingMsMax
}

function asTerminated(entry: DatabaseEntry): DatabaseInfo {
  return { ...entry, status: 'TERMINATED', terminatedAt: new Date().toISOString() }
}

/** An id and a key for a new database; no listed database has the key. */
function newIdentity(
  databases: readonly DatabaseEntry[],
): Pick<DatabaseEntry, 'id' | 'key'> {
  for (;;) {
    const id = randomUUID()
    const key = databaseKeyFor(id)
    if (!databases.some((entry) => entry.key === key)) return { id, key }
  }
}

function replaced<E extends DatabaseEntry>(
  stored: Stored,
  before: DatabaseEntry,
  after: E,
): SettingChange<Stored, E> {
  const databases = stored.databases.map((entry) => (entry === before ? after : entry))
  return { value: withEntries(stored, databases), result: after }
}

function withEntries(stored: Stored, databases: readonly DatabaseEntry[]): Stored {
  const terminated = databases.filter(({ status }) => status === 'TERMINATED')
  const forgotten = new Set(terminated.slice(0, -fixedLimits.terminatedDatabasesMax))
  return { ...stored, databases: databases.filter((entry) => !forgotten.has(entry)) }
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
