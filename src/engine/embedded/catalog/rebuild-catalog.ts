/**
 * Rebuilds a catalog from the files of a data folder: the descriptions of targets in their folders,
 * the mirror, and the readable part of the old catalog. Nothing is removed: the old catalog is kept
 * beside the new one, and stores that cannot be listed are quarantined.
 */
import { randomUUID } from 'node:crypto'
import { existsSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { EngineError } from '../../errors.ts'
import { firstKeyspace } from '../../schema.ts'
import { isHeld } from '../files/disk-trouble.ts'
import { createFile, existing, storeFile, syncFolder } from '../store/layout.ts'
import { storeVersion } from '../store/version-file.ts'
import {
  catalogFormat,
  catalogSchema,
  generationOf,
  seal,
  checksumFindings,
} from './catalog-file.ts'
import {
  readMirror,
  type CatalogMirror,
  type KeyspaceRow,
  type SettingRow,
  type StoredTypeRow,
} from './catalog-mirror.ts'
import { catalogFile, setCatalogAside, unfinishedFile } from './data-folder.ts'
import { checkFolderName } from '../store/folder-names.ts'
import { quarantine, storeFolders } from './lost-stores.ts'
import { readTargetFile, type TargetDescription } from './target-file.ts'

export interface Rebuilt {
  /** Collections and tables that the new catalog lists, as "keyspace.name". */
  readonly targets: readonly string[]
  readonly keyspaces: number
  readonly types: number
  readonly settings: number
  /** Findings for the operator: everything that could not be restored. */
  readonly losses: readonly string[]
  /** File of the old catalog; undefined if it did not exist. */
  readonly kept: string | undefined
}

/** A target for the new catalog. */
interface FoundTarget extends TargetDescription {
  /** Folder of the target, relative to the data folder. */
  readonly folder: string
}

/**
 * Rebuilds the catalog of a data folder. Throws an EngineError when a server is running, or when
 * there is nothing to rebuild from.
 */
export function rebuildCatalog(dataDir: string): Rebuilt {
  const file = join(dataDir, catalogFile)
  const stores = existsSync(dataDir) ? storeFolders(dataDir) : []
  const mirror = existsSync(dataDir) ? readMirror(dataDir) : 'absent'
  if (!existsSync(file) && stores.length === 0 && mirror === 'absent')
    throw new EngineError('damaged', `${dataDir} is not a data folder: it contains no data`)
  const old = readOldCatalog(file, dataDir)
  const rebuild = new Rebuild(
    dataDir,
    old,
    typeof mirror === 'object' ? mirror.content : undefined,
  )
  return rebuild.run(stores)
}

/** The readable part of a catalog, table by table. */
interface OldCatalog {
  /** Whether the rows match the checksum. */
  readonly isSound: boolean
  readonly generation: number
  readonly keyspace: readonly KeyspaceRow[] | undefined
  readonly type: readonly StoredTypeRow[] | undefined
  readonly setting: readonly SettingRow[] | undefined
  readonly target: readonly OldTarget[] | undefined
}

interface OldTarget {
  readonly uid: string
  readonly keyspace: string
  readonly name: string
  readonly folder: string
  readonly kind: TargetDescription['kind']
  readonly state: string
  readonly options: string
}

const noCatalog: OldCatalog = {
  ...{ isSound: false, generation: 0 },
  ...{ keyspace: undefined, type: undefined, setting: undefined, target: undefined },
}

function readOldCatalog(file: string, dataDir: string): OldCatalog {
  if (!existsSync(file)) return noCatalog
  try {
    const database = new DatabaseSync(existing(file), { timeout: 0 })
    try {
      // A running server holds this lock.
      database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE')
      const rowsOf = (table: string) =>
        attempt(() => database.prepare(`SELECT * FROM ${table}`).all() as never[])
      return {
        isSound: attempt(() => checksumFindings(database).length === 0) ?? false,
        generation: attempt(() => generationOf(database)) ?? 0,
        keyspace: rowsOf('keyspace'),
        type: rowsOf('type'),
        setting: rowsOf('setting'),
        target: rowsOf('target'),
      }
    } finally {
      database.close()
    }
  } catch (error) {
    if (isHeld(error))
      throw new EngineError(
        'closed',
        `${dataDir} is in use by a running server. Stop it first`,
      )
    return noCatalog
  }
}

/** Reads a part of the old catalog; undefined when the file is damaged. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof Error && 'errcode' in error && !isHeld(error)) return undefined
    throw error
  }
}

class Rebuild {
  readonly #dataDir: string
  readonly #old: OldCatalog
  readonly #mirror: CatalogMirror | undefined
  readonly #losses: string[] = []
  /** Types whose definitions are readable. */
  readonly #types: readonly StoredTypeRow[]

  constructor(dataDir: string, old: OldCatalog, mirror: CatalogMirror | undefined) {
    this.#dataDir = dataDir
    this.#old = old
    this.#mirror = mirror
    this.#types = this.#readTypes()
  }

  run(stores: readonly string[]): Rebuilt {
    const found = stores.flatMap((folder) => this.#describe(folder) ?? [])
    const targets = this.#withoutRivals(found)
    const generation =
      1 +
      Math.max(
        this.#old.generation,
        this.#mirror?.generation ?? 0,
        ...found.map((target) => target.generation),
      )
    const keyspaces = this.#keyspaces(targets)
    const types = this.#typesWith(targets, keyspaces)
    const settings = this.#rowsOf('setting')
    if (settings === undefined)
      this.#losses.push('tokens, roles and databases could not be read: create them again')
    const unfinished = join(this.#dataDir, `${unfinishedFile}-${randomUUID()}`)
    try {
      createFile(unfinished, catalogSchema, catalogFormat)
      fill(unfinished, generation, (database) => {
        insertAll(database, 'keyspace', keyspaces)
        insertAll(database, 'type', types)
        insertAll(database, 'setting', settings ?? [])
        insertAll(database, 'target', targets.map(rowOf))
      })
      return {
        targets: targets.map(({ keyspace, name }) => `${keyspace}.${name}`).toSorted(),
        ...{ keyspaces: keyspaces.length, types: types.length },
        ...{ settings: settings?.length ?? 0, losses: this.#losses },
        kept: this.#publish(unfinished),
      }
    } finally {
      rmSync(unfinished, { force: true })
    }
  }

  /**
   * The description of a store's target. A store that was dropped, or has no readable description,
   * is quarantined; the result is then undefined.
   */
  #describe(folder: string): FoundTarget | undefined {
    const listed = this.#listedIn(folder)
    const described = readTargetFile(join(this.#dataDir, folder))
    const own = typeof described === 'object' ? described.content : undefined
    const row = this.#old.target?.find(({ uid }) => uid === own?.uid)
    const isDropped =
      own?.state === 'dropping' || (this.#isCurrent(own) && row?.state === 'dropping')
    if (isDropped) {
      this.#setAside(folder, 'it was dropped')
      return undefined
    }
    if (own !== undefined) return { ...own, folder }
    const isListed = listed?.state === 'ready'
    const definition = isListed ? readObject(listed.options) : undefined
    if (definition !== undefined) return this.#fromRow(listed!, folder, definition)
    this.#setAside(
      folder,
      isListed ? 'its options cannot be read' : 'it has no readable description',
    )
    return undefined
  }

  /** Whether the old catalog is at least as recent as a store's own description. */
  #isCurrent(own: TargetDescription | undefined): boolean {
    const { isSound, generation } = this.#old
    return isSound && generation >= (own?.generation ?? 0)
  }

  #listedIn(folder: string): OldTarget | undefined {
    return this.#old.target?.find((row) => {
      const parent = this.#old.keyspace?.find(({ name }) => name === row.keyspace)
      return parent !== undefined && join(parent.folder, row.folder) === folder
    })
  }

  /**
   * Selects one target per name and uid, whose store has the highest version. Quarantines the other
   * stores.
   */
  #withoutRivals(found: readonly FoundTarget[]): FoundTarget[] {
    const taken = new Set<string>()
    const byVersion = found.toSorted(
      (a, b) =>
        this.#versionOf(b) - this.#versionOf(a) || a.folder.length - b.folder.length,
    )
    return byVersion.filter((target) => {
      const names = [target.uid, `${target.keyspace}\0${target.name}`]
      if (names.some((name) => taken.has(name))) {
        this.#setAside(target.folder, `${target.keyspace}.${target.name} has another store`)
        return false
      }
      for (const name of names) taken.add(name)
      return true
    })
  }

  #versionOf({ folder }: FoundTarget): number {
    return storeVersion(join(this.#dataDir, folder, storeFile)) ?? 0
  }

  #setAside(folder: string, reason: string): void {
    const place = quarantine(this.#dataDir, folder)
    this.#losses.push(
      `${folder} is not listed, because ${reason}; it was moved to ${place}`,
    )
  }

  /** The rows of one catalog table, from the catalog or the mirror, whichever is more recent. */
  #rowsOf<Table extends 'keyspace' | 'type' | 'setting'>(
    table: Table,
  ): CatalogMirror[Table] | undefined {
    const old = this.#old[table] as CatalogMirror[Table] | undefined
    const mirrored = this.#mirror?.[table]
    const { isSound, generation } = this.#old
    const isOldAhead = isSound && generation >= (this.#mirror?.generation ?? 0)
    return isOldAhead ? (old ?? mirrored) : (mirrored ?? old)
  }

  #keyspaces(targets: readonly FoundTarget[]): KeyspaceRow[] {
    const folders = new Map([[firstKeyspace, firstKeyspace]])
    for (const { name, folder } of this.#rowsOf('keyspace') ?? [])
      if (isFolderName(folder) && !name.startsWith(':')) folders.set(name, folder)
    // The actual folder of an existing store takes precedence over recorded folders.
    for (const { keyspace, folder } of targets) folders.set(keyspace, dirname(folder))
    return Array.from(folders, ([name, folder]) => ({ name, folder }))
  }

  #fromRow(row: OldTarget, folder: string, definition: object): FoundTarget {
    const { uid, keyspace, name, kind } = row
    const types = this.#types
      .filter((type) => type.keyspace === keyspace)
      .map((type) => readObject(type.definition) as FoundTarget['types'][number])
    return {
      ...{ generation: 0, uid, keyspace, name, kind, state: 'ready', definition, types },
      folder,
    }
  }

  #readTypes(): StoredTypeRow[] {
    return (this.#rowsOf('type') ?? []).filter(({ keyspace, name, definition }) => {
      const isReadable = readObject(definition) !== undefined
      if (!isReadable)
        this.#losses.push(`the type ${keyspace}.${name} is not listed: it cannot be read`)
      return isReadable
    })
  }

  #typesWith(
    targets: readonly FoundTarget[],
    keyspaces: readonly KeyspaceRow[],
  ): StoredTypeRow[] {
    const types = new Map<string, StoredTypeRow>()
    const put = (row: StoredTypeRow) => types.set(`${row.keyspace}\0${row.name}`, row)
    for (const { keyspace, types: used } of targets.toSorted(
      (a, b) => a.generation - b.generation,
    ))
      for (const type of used)
        put({ keyspace, name: type.name, definition: JSON.stringify(type) })
    for (const row of this.#types)
      if (keyspaces.some(({ name }) => name === row.keyspace)) put(row)
    return [...types.values()]
  }

  /** Puts the new catalog in place; returns the path of the old catalog. */
  #publish(unfinished: string): string | undefined {
    const kept = setCatalogAside(this.#dataDir)
    renameSync(unfinished, join(this.#dataDir, catalogFile))
    syncFolder(this.#dataDir)
    return kept
  }
}

/** Parses a JSON object; undefined when the text of a damaged catalog is invalid. */
function readObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function rowOf({ uid, keyspace, name, folder, kind, definition }: FoundTarget) {
  return {
    ...{ uid, keyspace, name, folder: basename(folder), kind, state: 'ready' },
    options: JSON.stringify(definition),
  }
}

function fill(
  file: string,
  generation: number,
  insert: (database: DatabaseSync) => void,
): void {
  const database = new DatabaseSync(file)
  try {
    database.exec('PRAGMA synchronous = FULL; BEGIN; DELETE FROM keyspace')
    insert(database)
    seal(database, generation)
    database.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)')
  } finally {
    database.close()
  }
}

function insertAll(database: DatabaseSync, table: string, rows: readonly object[]): void {
  for (const row of rows) {
    const columns = Object.keys(row)
    const sql = `INSERT INTO ${table}(${columns.join()}) VALUES (${columns.map(() => '?').join()})`
    database.prepare(sql).run(...(Object.values(row) as (string | number)[]))
  }
}

function isFolderName(name: string): boolean {
  try {
    checkFolderName('keyspace', name)
    return true
  } catch {
    return false
  }
}
