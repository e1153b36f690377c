/**
 * The catalog: databases, their keyspaces, and the collections and tables of the keyspaces. Each
 * part is loaded on first use, and loaded again after the console has changed it.
 */
import { command, CommandError } from '../api/command.ts'
import { listDatabases, type Database } from '../api/databases.ts'
import { manage, ManageError } from '../api/manage.ts'
import {
  noTable,
  type Address,
  type CollectionOptions,
  type ColumnType,
  type Place,
  type TableDefinition,
} from '../api/place.ts'
import { Store } from '../api/store.ts'
import { toPlain, valueAt, type JsonObject } from '../json/value.ts'

/** A collection or table, with its size if the size is known. */
export interface Target extends Place {
  readonly documents?: number
  readonly bytes?: number
}

/** A part of the catalog: its value and the state of its load. */
export interface Part<T> {
  readonly value?: T
  readonly error?: unknown
  readonly isLoading: boolean
}

export interface Catalog {
  readonly databases: Part<readonly Database[]>
  /** Names of keyspaces by database. */
  readonly keyspaces: ReadonlyMap<string, Part<readonly string[]>>
  /** Collections and tables by the key that `keyOf` makes of database and keyspace. */
  readonly targets: ReadonlyMap<string, Part<readonly Target[]>>
  /**
   * `here`: the management API is available. `absent`: this port does not serve it. `refused`: it
   * rejects the token, or the databases could not be listed.
   */
  readonly management: 'here' | 'refused' | 'absent'
}

const empty: Catalog = {
  databases: { isLoading: true },
  keyspaces: new Map(),
  targets: new Map(),
  management: 'refused',
}

export const catalog = new Store<Catalog>(empty)

export function keyOf(database: string, keyspace: string): string {
  return `${database}/${keyspace}`
}

/** Keyspaces of the home database that the check of a token has read, for the next catalog. */
let checkedKeyspaces: readonly string[] | undefined

export function keepCheckedKeyspaces(keyspaces: readonly string[]): void {
  checkedKeyspaces = keyspaces.toSorted()
}

export function forgetCatalog(): void {
  lastBegun.clear()
  const known = checkedKeyspaces
  checkedKeyspaces = undefined
  const keyspaces: Catalog['keyspaces'] =
    known === undefined
      ? empty.keyspaces
      : new Map([[homeDatabase.id, { value: known, isLoading: false }]])
  catalog.set({ ...empty, keyspaces })
}

/** Identifies the latest load of each part of the catalog. */
const lastBegun = new Map<string, symbol>()

/**
 * Begins to load a part. The returned function returns whether this load is still the latest one.
 * If it is not, its reply is stale and must be ignored.
 */
function beginLoad(part: string): () => boolean {
  const load = Symbol(part)
  lastBegun.set(part, load)
  return () => lastBegun.get(part) === load
}

/**
 * The latest load of the databases. Loads of sizes wait for it, because they need the ids of
 * databases.
 */
let loadedDatabases = Promise.resolve()

export function loadDatabases(): Promise<void> {
  loadedDatabases = findDatabases()
  return loadedDatabases
}

async function findDatabases(): Promise<void> {
  const isWanted = beginLoad('databases')
  try {
    const databases = await listDatabases()
    if (!isWanted()) return
    // A token that may not list databases gets an empty list, but may still use the home database.
    if (databases.length === 0) setDatabases({ value: [homeDatabase] }, 'refused')
    else setDatabases({ value: databases }, 'here')
  } catch (error) {
    if (!isWanted()) return
    if (!(error instanceof ManageError)) setDatabases({ error }, 'refused')
    else
      setDatabases(
        { value: [homeDatabase] },
        error.httpStatus === 404 ? 'absent' : 'refused',
      )
  }
}

const homeDatabase: Database = { id: '', name: 'stela', isHome: true }

function setDatabases(
  part: Omit<Catalog['databases'], 'isLoading'>,
  management: Catalog['management'],
): void {
  const databases = { ...part, isLoading: false }
  catalog.update((before) => ({ ...before, databases, management }))
}

export async function loadKeyspaces(
  database: string,
  { isQuiet = false }: LoadOptions = {},
): Promise<void> {
  const isWanted = beginLoad(`keyspaces of ${database}`)
  setKeyspaces(database, (before) => ({ ...before, isLoading: true }))
  try {
    const { status } = await command({ database }, 'findKeyspaces')
    const value = (status['keyspaces'] as string[]).toSorted()
    if (isWanted()) setKeyspaces(database, () => ({ value, isLoading: false }))
  } catch (error) {
    if (!isWanted()) return
    setKeyspaces(database, (before) =>
      isQuiet ? { ...before, isLoading: false } : { error, isLoading: false },
    )
  }
}

/**
 * Loads the keyspaces of a database unless they are loaded or loading. Several parts of a page need
 * them at the same time.
 */
export function needKeyspaces(database: string): void {
  if (!catalog.get().keyspaces.has(database)) void loadKeyspaces(database)
}

/** Loads the collections and tables of a keyspace unless they are loaded or loading. */
export function needTargets(database: string, keyspace: string): void {
  if (!catalog.get().targets.has(keyOf(database, keyspace)))
    void loadTargets(database, keyspace)
}

/** Maximum number of keyspaces that one refresh reads, because each takes several requests. */
const refreshedMax = 10

/**
 * Reads what the console has loaded of a database again, so that it shows what other clients create
 * and drop. If the server cannot be reached, the old lists stay.
 */
export async function refreshDatabase(database: string, keyspace: string): Promise<void> {
  const { keyspaces, targets } = catalog.get()
  if (keyspaces.has(database)) await loadKeyspaces(database, isQuiet)
  const prefix = keyOf(database, '')
  const loaded = [...targets.keys()]
    .filter((key) => key.startsWith(prefix))
    .map((key) => key.slice(prefix.length))
    // The keyspace of the current page comes first.
    .toSorted((one, other) => Number(other === keyspace) - Number(one === keyspace))
  for (const name of loaded.slice(0, refreshedMax))
    await loadTargets(database, name, isQuiet)
}

interface LoadOptions {
  /** Whether a failure leaves the old value. */
  readonly isQuiet?: boolean
}

const isQuiet: LoadOptions = { isQuiet: true }

type Change<T> = (before: Part<T>) => Part<T>

function setKeyspaces(database: string, change: Change<readonly string[]>): void {
  catalog.update((before) => ({
    ...before,
    keyspaces: changed(before.keyspaces, database, change),
  }))
}

function setTargets(key: string, change: Change<readonly Target[]>): void {
  catalog.update((before) => ({ ...before, targets: changed(before.targets, key, change) }))
}

function changed<T>(
  parts: ReadonlyMap<string, Part<T>>,
  key: string,
  change: Change<T>,
): ReadonlyMap<string, Part<T>> {
  return new Map(parts).set(key, change(parts.get(key) ?? { isLoading: true }))
}

export async function loadTargets(
  database: string,
  keyspace: string,
  { isQuiet = false }: LoadOptions = {},
): Promise<void> {
  const key = keyOf(database, keyspace)
  const isWanted = beginLoad(`targets of ${key}`)
  setTargets(key, (before) => ({ ...before, isLoading: true }))
  const address = { database, keyspace }
  try {
    const [collections, tables] = await Promise.all([
      findCollections(address),
      findTables(address),
    ])
    const value = [...collections, ...tables].toSorted((one, other) =>
      one.name.localeCompare(other.name),
    )
    if (!isWanted()) return
    setTargets(key, ({ value: old = [] }) => ({
      value: withOld(value, old),
      isLoading: false,
    }))
    await loadSizes(address, value)
  } catch (error) {
    if (!isWanted()) return
    setTargets(key, (before) =>
      isQuiet ? { ...before, isLoading: false } : { error, isLoading: false },
    )
  }
}

/**
 * The targets with the sizes and unchanged definitions of `old`. The old sizes are shown until newer
 * sizes arrive. Pages reload when they get another definition, so an equal one stays the same object.
 */
function withOld(targets: readonly Target[], old: readonly Target[]): readonly Target[] {
  const byName = new Map(old.map((target) => [target.name, target]))
  const kept = targets.map((target) => {
    const before = byName.get(target.name)
    if (before === undefined || definitionOf(before) !== definitionOf(target)) return target
    return { ...target, options: before.options, table: before.table }
  })
  return withSizes(kept, old)
}

function definitionOf({ kind, options, table }: Target): string {
  const { columns, partitionBy, partitionSort } = table
  return JSON.stringify([kind, options, [...columns], partitionBy, [...partitionSort]])
}

/** Copies the sizes in `sized` to the targets. */
function withSizes(
  targets: readonly Target[],
  sized: readonly SizeView[],
): readonly Target[] {
  const byName = new Map(sized.map((size) => [size.name, size]))
  return targets.map((target) => {
    const { documents, bytes } = byName.get(target.name) ?? {}
    return {
      ...target,
      ...(documents === undefined ? {} : { documents }),
      ...(bytes === undefined ? {} : { bytes }),
    }
  })
}

interface CollectionView {
  readonly name: string
  readonly options?: CollectionOptions
}

async function findCollections(address: KeyspaceAddress): Promise<readonly Target[]> {
  const { status } = await command(address, 'findCollections', {
    options: { explain: true },
  })
  return (status['collections'] as readonly CollectionView[]).map(
    ({ name, options = {} }) => ({
      ...address,
      name,
      kind: 'collection',
      options,
      table: noTable,
    }),
  )
}

type KeyspaceAddress = Required<Omit<Address, 'name'>>

async function findTables(address: KeyspaceAddress): Promise<readonly Target[]> {
  try {
    const { exact } = await command(address, 'listTables', { options: { explain: true } })
    const tables = valueAt(exact, ['status', 'tables']) as readonly JsonObject[]
    return tables.map((table) => ({
      ...address,
      name: table.get('name') as string,
      kind: 'table',
      options: {},
      table: readDefinition(table.get('definition') as JsonObject),
    }))
  } catch (error) {
    // The server rejects the command if its settings disable tables.
    if (error instanceof CommandError && !error.isForbidden) return []
    throw error
  }
}

function readDefinition(definition: JsonObject): TableDefinition {
  const columns = definition.get('columns') as JsonObject
  const key = definition.get('primaryKey') as JsonObject
  const sort = key.get('partitionSort') as JsonObject
  return {
    columns: readColumns(columns),
    partitionBy: key.get('partitionBy') as string[],
    partitionSort: new Map(
      [...sort].map(([name, order]) => [name, Number(toPlain(order))]),
    ),
  }
}

/**
 * Columns by name. The result is a Map, because a column may have any name, such as `__proto__`.
 */
export function readColumns(columns: JsonObject): TableDefinition['columns'] {
  return new Map([...columns].map(([name, type]) => [name, toPlain(type) as ColumnType]))
}

interface SizeView {
  readonly keyspace: string
  readonly name: string
  readonly documents?: number
  readonly bytes?: number
}

/**
 * Maximum number of collections that the console counts if the management API is not available.
 * Each count takes one command.
 */
const countedMax = 50

async function loadSizes(address: KeyspaceAddress, targets: readonly Target[]) {
  const { database, keyspace } = address
  if (targets.length === 0) return
  const known = await findSizes(database)
  const sizes =
    known?.filter((size) => size.keyspace === keyspace) ?? (await countEach(targets))
  setTargets(keyOf(database, keyspace), ({ value = [], ...rest }) => ({
    ...rest,
    value: withSizes(value, sizes),
  }))
}

async function findSizes(database: string): Promise<readonly SizeView[] | undefined> {
  await loadedDatabases
  const managedId = databaseOf(database)?.managedId
  if (managedId === undefined) return undefined
  try {
    const path = `databases/${encodeURIComponent(managedId)}/sizes`
    return (await manage<{ collections: readonly SizeView[] }>('GET', path)).collections
  } catch {
    return undefined
  }
}

export function databaseOf(id: string): Database | undefined {
  return catalog.get().databases.value?.find((database) => database.id === id)
}

async function countEach(targets: readonly Target[]): Promise<readonly SizeView[]> {
  const counted = targets.filter(({ kind }) => kind === 'collection').slice(0, countedMax)
  const counts = await Promise.all(
    counted.map(async (target): Promise<SizeView[]> => {
      try {
        const { status } = await command(target, 'estimatedDocumentCount')
        return [{ ...target, documents: status['count'] as number }]
      } catch {
        return []
      }
    }),
  )
  return counts.flat()
}

/** Reloads counts and sizes after documents were inserted or deleted. */
export async function refreshSizes({ database, keyspace }: Place): Promise<void> {
  const targets = catalog.get().targets.get(keyOf(database, keyspace))?.value ?? []
  await loadSizes({ database, keyspace }, targets)
}
