/**
 * The databases of a server, each with keyspaces and an endpoint of its own. One of them is
 * always there: the home, which requests reach that name no other.
 *
 * Which there are is a setting of the engine, and several servers may change it at once.
 * Making a database and terminating it takes two steps, its entry and its keyspaces, and a
 * server may end, or be slow, between them. So the entry comes first, and says what is
 * done:
 *
 *   INITIALIZING  its first keyspace is being created; it cannot be used yet
 *   ACTIVE        it can be used
 *   TERMINATED    its keyspaces are being dropped, or are gone
 *
 * A start removes what such an end has left: it terminates what has been INITIALIZING for
 * longer than making a database can take, and drops the keyspaces of whatever is
 * TERMINATED. Keyspaces with a key that no entry has are left alone. They may be those of
 * another server, whose entry is not known here yet, and an
 * orphaned keyspace is better than a lost one.
 *
 * No decision depends on clocks or delays alone. A server that has made a keyspace looks at the
 * entry again, and drops what was made if the database was terminated meanwhile. One that
 * terminates a database changes the entry before listing its keyspaces. So of the two, the
 * one that comes later sees what the other did.
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

/** What is kept of a database. */
interface DatabaseEntry extends Omit<DatabaseInfo, 'status'> {
  readonly status: DatabaseInfo['status'] | 'INITIALIZING'
}

/** What is kept of all databases together. */
interface Stored {
  /** Who all of them belong to. */
  readonly organization: string
  /** The home first, then as they were made. */
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
    // When several servers start at once, the first one wins.
    await setting.change((stored) => ({
      value: stored === first ? { ...first } : stored,
      result: undefined,
    }))
    const databases = new Databases(engine, databasesMax, setting)
    await databases.#removeLeftovers()
    return databases
  }

  /** Hears of no more changes by others. */
  close(): void {
    this.#setting.close()
  }

  get organization(): string {
    return this.#setting.value.organization
  }

  get home(): Database {
    return this.#open.get(this.#homeId)!
  }

  /** A database that can be used. */
  find(id: string): Database | undefined {
    return this.#open.get(id.toLowerCase())
  }

  /** All known databases, terminated ones included, in order of creation. */
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
      // If this fails as well, a later start does it.
      await this.#giveUp(entry).catch(() => undefined)
      throw error
    }
  }

  /** Drops everything that is in it. Its id stays known. */
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

  /** Its first keyspace is there. */
  #activate(id: string): Promise<DatabaseInfo> {
    return this.#setting.change((stored) => {
      const entry = stored.databases.find(named(id))
      if (entry?.status !== 'INITIALIZING')
        throw new EngineError('gone', `creating the database ${id} took too long`)
      return replaced<DatabaseInfo>(stored, entry, { ...entry, status: 'ACTIVE' })
    })
  }

  /** What could not be made is terminated: part of it may be there, or come later. */
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

  /** Makes a keyspace of a database, but not for one that is terminated. */
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

/** Whether others may know of it. */
function isMade(entry: DatabaseEntry): entry is DatabaseInfo {
  return entry.status !== 'INITIALIZING'
}

/** Whether it counts: it is there, or is being made. */
function takesRoom({ status, createdAt }: DatabaseEntry): boolean {
  if (status !== 'INITIALIZING') return status === 'ACTIVE'
  return Date.now() - Date.parse(createdAt) < fixedLimits.databaseInitializingMsMax
}

function asTerminated(entry: DatabaseEntry): DatabaseInfo {
  return { ...entry, status: 'TERMINATED', terminatedAt: new Date().toISOString() }
}

/** An id, and a key that no other database has or had. */
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
