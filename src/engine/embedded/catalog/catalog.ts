/**
 * What exists: keyspaces, targets and the service's own settings, in data/catalog.db. It is
 * the truth: a folder that it does not name is not ours, one that it names must be there.
 *
 * Making or removing a target takes two steps, the row and the folder, and the disk may fail
 * or the process die between them. So the row says which step is next, and has the target's
 * name only while it is "ready". What "creating" and "dropping" rows stand for is left over:
 * it is removed with the next change, or when the folder is opened again.
 */
import { randomUUID } from 'node:crypto'
import { mkdirSync, rmdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { backup, type DatabaseSync } from 'node:sqlite'
import { EngineError } from '../../errors.ts'
import { userTypeNameOf } from '../../../language/columns/column-type.ts'
import { privateFolderMode, Tightening } from '../../private-files.ts'
import {
  firstKeyspace,
  type Collection,
  type CollectionOptions,
  type KeyspaceSchema,
  type Target,
} from '../../schema.ts'
import type { KeyspaceCounts, SchemaChange, TableChange } from '../../schema-change.ts'
import {
  catalogFile,
  lineOf,
  makeDataDir,
  openExclusively,
  refusalFor,
  removeUnfinished,
  tightenDataDir,
} from './data-folder.ts'
import {
  plainTable,
  plainType,
  suffixOf,
  vectorSuffixes,
  type StoredDefinition,
  type StoredTable,
  type StoredTarget,
  type StoredType,
} from './stored-schema.ts'
import { defineTable, defineType, redefineTable, redefineType } from './define-table.ts'
import { ownTables } from '../files/foreign-objects.ts'
import { isFull, OpenedFiles, refuseIfLost, troubleOf } from '../files/disk-trouble.ts'
import { identify, type FileIdentity } from '../files/file-identity.ts'
import {
  checkFolderName,
  freeFolder,
  makeFolderIfAbsent,
  readFolders,
  refuseLinks,
  refuseLink,
  removeFolder,
  tightenTarget,
} from './folder-names.ts'
import {
  checkFile,
  createFile,
  createStore,
  createTableStore,
  damaged,
  storeFile,
  syncFolder,
} from '../store/layout.ts'

export { catalogFile, unfinishedFile } from './data-folder.ts'

/** What names of keyspaces that are being dropped start with, and no others can. */
const droppedPrefix = ':'

const catalogSchema = `
  CREATE TABLE keyspace(name TEXT PRIMARY KEY, folder TEXT NOT NULL UNIQUE) STRICT;
  INSERT INTO keyspace VALUES ('${firstKeyspace}', '${firstKeyspace}');
  CREATE TABLE target(
    uid TEXT PRIMARY KEY,
    keyspace TEXT NOT NULL REFERENCES keyspace(name),
    name TEXT NOT NULL,
    folder TEXT NOT NULL,
    kind TEXT NOT NULL,
    state TEXT NOT NULL,
    options TEXT NOT NULL,
    UNIQUE (keyspace, name)
  ) STRICT;
  CREATE TABLE setting(name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
`

/** What format 3 added to a catalog: user-defined types. Earlier ones had no tables either. */
const typeSchema = `
  CREATE TABLE type(
    keyspace TEXT NOT NULL REFERENCES keyspace(name),
    name TEXT NOT NULL,
    definition TEXT NOT NULL,
    PRIMARY KEY (keyspace, name)
  ) STRICT;
`

export const catalogTables = ownTables(catalogSchema + typeSchema)

/** Raised with every change to the catalog's layout that older code could not read. */
export const catalogFormat = 3

interface TargetRow {
  readonly uid: string
  readonly keyspace: string
  readonly name: string
  readonly folder: string
  readonly kind: 'collection' | 'table'
  readonly state: 'creating' | 'ready' | 'dropping'
  readonly options: string
}

/** A target as the layers above know it, and as the store does. */
export interface KnownTarget {
  readonly target: Target
  readonly stored: StoredTarget
}

interface Keyspace {
  readonly folder: string
  readonly targets: Map<string, KnownTarget>
  readonly types: Map<string, StoredType>
}

export class Catalog {
  readonly #dataDir: string
  readonly #database: DatabaseSync
  /** Keyspaces to their folders, and what they hold; always what the database says. */
  readonly #keyspaces = new Map<string, Keyspace>()
  /** The folders of targets, in the data folder, by their uids. */
  readonly #folders = new Map<string, string>()
  readonly #files: OpenedFiles
  /** The folders of targets that are not made, or no more, by their uids. */
  readonly #leftovers = new Map<string, string>()
  /** The folders of keyspaces that are no more, by what they are called instead. */
  readonly #dropped = new Map<string, string>()
  #commits = 0

  /** Opens the folder, or makes it if it does not exist or is empty. */
  constructor(dataDir: string, log: (level: 'info' | 'warn', message: string) => void) {
    this.#dataDir = dataDir
    const file = join(dataDir, catalogFile)
    const access = new Tightening()
    try {
      tightenDataDir(dataDir, access)
      makeDataDir(dataDir, (unfinished) =>
        createFile(unfinished, catalogSchema + typeSchema, catalogFormat),
      )
      checkFile(file, catalogFormat)
    } catch (error) {
      throw refusalFor(error, dataDir, file) ?? error
    }
    this.#files = new OpenedFiles(identify(file))
    this.#database = openExclusively(file, dataDir, catalogTables)
    try {
      removeUnfinished(dataDir)
      this.#upgrade()
      this.#load(access)
      this.#removeLeftovers()
      access.report(dataDir, log)
    } catch (error) {
      this.#database.close()
      const refusal = refusalFor(error, dataDir, file)
      throw refusal ?? damaged(file, `cannot be read: ${lineOf(error)}`)
    }
  }

  /** The file that was opened. */
  get identity(): FileIdentity {
    return this.#files.identity
  }

  /** Changes that were made durable. */
  get commits(): number {
    return this.#commits
  }

  get keyspaces(): readonly string[] {
    return [...this.#keyspaces.keys()]
  }

  get targets(): readonly StoredTarget[] {
    return [...this.#keyspaces.values()].flatMap(storedIn)
  }

  schema(keyspace: string): KeyspaceSchema | undefined {
    const found = this.#keyspaces.get(keyspace)
    if (found === undefined) return undefined
    const targets = Array.from(found.targets.values(), ({ target }) => target)
    return { targets, types: Array.from(found.types.values(), plainType) }
  }

  get counts(): readonly KeyspaceCounts[] {
    return [...this.#keyspaces].map(([keyspace, { targets }]) => {
      const tables = [...targets.values()].filter(
        ({ stored }) => stored.kind === 'table',
      ).length
      return { keyspace, collections: targets.size - tables, tables }
    })
  }

  find(keyspace: string, name: string): KnownTarget | undefined {
    return this.#keyspaces.get(keyspace)?.targets.get(name)
  }

  /** The store file of a target that exists. */
  storeFile(target: StoredTarget): string | undefined {
    const folder = this.#folders.get(target.uid)
    return folder === undefined ? undefined : join(this.#dataDir, folder, storeFile)
  }

  /** Returns false when it exists already. */
  createKeyspace(name: string): boolean {
    if (this.#keyspaces.has(name)) return false
    const taken = [...this.#keyspaces.values()].map(({ folder }) => folder)
    const all = [...taken, ...this.#dropped.values()]
    const folder = freeFolder(this.#dataDir, checkFolderName('keyspace', name), all)
    const path = join(this.#dataDir, folder)
    refuseIfLost(this.identity)
    mkdirSync(path, { mode: privateFolderMode })
    try {
      syncFolder(this.#dataDir)
      this.#run('INSERT OR REPLACE INTO keyspace VALUES (?, ?)', name, folder)
    } catch (error) {
      this.#attempt(() => rmdirSync(path))
      throw error
    }
    this.#keyspaces.set(name, { folder, targets: new Map(), types: new Map() })
    return true
  }

  /**
   * Takes the name away at once, with those of all that it holds, which are returned;
   * `finishDrop` removes the data. Returns undefined when there is no such keyspace.
   */
  startDropKeyspace(name: string): readonly StoredTarget[] | undefined {
    const found = this.#keyspaces.get(name)
    if (found === undefined) return undefined
    const unnamed = droppedPrefix + randomUUID()
    this.#runAll(
      // Keyspace and targets refer to each other by the name that changes.
      ['PRAGMA defer_foreign_keys = ON'],
      ['DELETE FROM type WHERE keyspace = ?', name],
      ["UPDATE target SET state = 'dropping', name = uid WHERE keyspace = ?", name],
      ['UPDATE target SET keyspace = ? WHERE keyspace = ?', unnamed, name],
      ['UPDATE keyspace SET name = ? WHERE name = ?', unnamed, name],
    )
    this.#keyspaces.delete(name)
    this.#dropped.set(unnamed, found.folder)
    return storedIn(found)
  }

  /** Makes a change that touches no store that is there already. */
  carryOut(
    keyspace: string,
    change: Exclude<SchemaChange, TableChange | { kind: 'dropTarget' }>,
  ): void {
    const { name } = change
    switch (change.kind) {
      case 'createCollection': {
        const { options } = change
        this.#create(keyspace, name, { kind: 'collection', options }, createStore)
        return
      }
      case 'createTable':
        this.#createTable(keyspace, name, defineTable(change))
        return
      case 'createType':
        this.#putType(keyspace, defineType(change))
        return
      case 'alterType': {
        const type = this.#keyspace(keyspace).types.get(name)!
        this.#putType(keyspace, redefineType(type, change))
        return
      }
      case 'dropType':
        this.#dropType(keyspace, name)
    }
  }

  #createTable(keyspace: string, name: string, definition: StoredDefinition): void {
    const types = this.#typesOf(definition, keyspace)
    const vectors = vectorSuffixes(definition)
    this.#create(keyspace, name, { kind: 'table', definition, types }, (file) =>
      createTableStore(file, vectors),
    )
  }

  /** The table as the change would make it. */
  altered(table: StoredTable, change: TableChange): StoredTable {
    const definition = redefineTable(table.definition, change)
    return { ...table, definition, types: this.#typesOf(definition, table.keyspace) }
  }

  /** From now on the table is this. */
  alterTable(table: StoredTable): void {
    const { uid, definition } = table
    this.#run(
      'UPDATE target SET options = ? WHERE uid = ?',
      JSON.stringify(definition),
      uid,
    )
    this.#know(table)
  }

  /** Tables that use the type are other objects from then on. */
  #putType(keyspace: string, type: StoredType): void {
    const { targets, types } = this.#keyspace(keyspace)
    const sql = 'INSERT OR REPLACE INTO type VALUES (?, ?, ?)'
    this.#run(sql, keyspace, type.name, JSON.stringify(type))
    types.set(type.name, type)
    for (const { stored } of [...targets.values()])
      if (stored.kind === 'table' && stored.types.some(({ name }) => name === type.name))
        this.#know({ ...stored, types: this.#typesOf(stored.definition, keyspace) })
  }

  #dropType(keyspace: string, name: string): void {
    const { types } = this.#keyspace(keyspace)
    this.#run('DELETE FROM type WHERE keyspace = ? AND name = ?', keyspace, name)
    types.delete(name)
  }

  #typesOf({ columns }: StoredDefinition, keyspace: string): StoredType[] {
    const { types } = this.#keyspace(keyspace)
    const names = columns.flatMap(({ type }) => userTypeNameOf(type) ?? [])
    return [...new Set(names)].map((name) => types.get(name)!)
  }

  /** From now on the target is this. */
  #know(stored: StoredTarget): void {
    const target = stored.kind === 'table' ? plainTable(stored) : stored
    this.#keyspace(stored.keyspace).targets.set(stored.name, { target, stored })
  }

  #keyspace(name: string): Keyspace {
    const found = this.#keyspaces.get(name)
    if (found === undefined) throw new EngineError('gone', `keyspace ${name} is gone`)
    return found
  }

  #create(
    keyspace: string,
    name: string,
    what:
      | Pick<Collection, 'kind' | 'options'>
      | Pick<StoredTable, 'kind' | 'definition' | 'types'>,
    makeStore: (file: string) => void,
  ): void {
    this.#removeLeftovers()
    const parent = this.#keyspace(keyspace)
    const uid = randomUUID()
    const parentFolder = join(this.#dataDir, parent.folder)
    const taken = [
      ...this.#all('SELECT folder FROM target WHERE keyspace = ?', keyspace).map((row) =>
        String(row['folder']),
      ),
      // These will be removed, rows or no rows.
      ...this.#leftovers
        .values()
        .filter((path) => dirname(path) === parent.folder)
        .map((path) => basename(path)),
    ]
    const folder = freeFolder(parentFolder, checkFolderName('target', name), taken)
    const place = join(parent.folder, folder)
    const path = join(this.#dataDir, place)
    const definition = JSON.stringify(
      what.kind === 'table' ? what.definition : what.options,
    )
    this.#leftovers.set(uid, place)
    try {
      this.#run(
        "INSERT INTO target VALUES (?, ?, ?, ?, ?, 'creating', ?)",
        ...[uid, keyspace, uid, folder, what.kind, definition],
      )
      // Not its parents, too: a folder that was moved away must not be made again.
      refuseLink(parentFolder)
      mkdirSync(path, { mode: privateFolderMode })
      makeStore(join(path, storeFile))
      syncFolder(path)
      syncFolder(parentFolder)
      this.#run("UPDATE target SET state = 'ready', name = ? WHERE uid = ?", name, uid)
    } catch (error) {
      this.#removeLeftovers()
      throw error
    }
    this.#leftovers.delete(uid)
    this.#know({ keyspace, name, uid, ...what })
    this.#folders.set(uid, place)
  }

  /** Takes the name away at once; `finishDrop` removes the data. */
  startDrop({ uid, keyspace, name }: StoredTarget): void {
    this.#run("UPDATE target SET state = 'dropping', name = uid WHERE uid = ?", uid)
    this.#keyspaces.get(keyspace)?.targets.delete(name)
  }

  finishDrop(targets: readonly StoredTarget[]): void {
    for (const { uid } of targets) {
      const folder = this.#folders.get(uid)
      if (folder !== undefined) this.#leftovers.set(uid, folder)
      this.#folders.delete(uid)
    }
    this.#removeLeftovers()
  }

  /** What cannot be removed now only takes space until the next try. */
  #removeLeftovers(): void {
    for (const [uid, folder] of [...this.#leftovers])
      this.#attempt(() => {
        removeFolder(this.#dataDir, folder)
        this.#run('DELETE FROM target WHERE uid = ?', uid)
        this.#leftovers.delete(uid)
      })
    for (const [keyspace, folder] of [...this.#dropped])
      this.#attempt(() => {
        if (this.#all('SELECT 1 FROM target WHERE keyspace = ?', keyspace).length > 0)
          return
        removeFolder(this.#dataDir, folder)
        this.#run('DELETE FROM keyspace WHERE name = ?', keyspace)
        this.#dropped.delete(keyspace)
      })
  }

  /** Does what need not succeed, but never in a folder that took the place of ours. */
  #attempt(act: () => void): void {
    try {
      refuseIfLost(this.identity)
      act()
    } catch (error) {
      const { syscall } = error as NodeJS.ErrnoException
      if (error instanceof EngineError && error.kind === 'damaged') return
      if (syscall === undefined && troubleOf(error, this.identity.path) === undefined)
        throw error
    }
  }

  readSetting(name: string): string | undefined {
    const [row] = this.#all('SELECT value FROM setting WHERE name = ?', name)
    return row === undefined ? undefined : String(row['value'])
  }

  writeSetting(name: string, value: string): void {
    this.#run('INSERT OR REPLACE INTO setting VALUES (?, ?)', name, value)
  }

  /** Nobody else can read the file while it is open here. */
  async copyTo(file: string): Promise<void> {
    await backup(this.#database, file)
  }

  close(): void {
    this.#database.close()
  }

  #upgrade(): void {
    const [row] = this.#all('PRAGMA user_version')
    if (row!['user_version'] === catalogFormat) return
    this.#database.exec(`
      BEGIN IMMEDIATE;
      ${typeSchema}
      PRAGMA user_version = ${catalogFormat};
      COMMIT;
    `)
  }

  #load(access: Tightening): void {
    const folders = readFolders(this.#database, this.identity.path)
    for (const [name, folder] of folders.keyspaces) {
      if (name.startsWith(droppedPrefix)) {
        this.#dropped.set(name, folder)
        continue
      }
      const path = join(this.#dataDir, folder)
      makeFolderIfAbsent(path)
      access.tighten(path)
      this.#keyspaces.set(name, { folder, targets: new Map(), types: new Map() })
    }
    for (const { keyspace, name, definition } of this.#all('SELECT * FROM type'))
      this.#keyspaces
        .get(String(keyspace))!
        .types.set(String(name), JSON.parse(String(definition)) as StoredType)
    for (const row of this.#all('SELECT * FROM target') as unknown as TargetRow[]) {
      const { uid, keyspace, name, kind, state, options } = row
      const parent = this.#keyspaces.get(keyspace)
      const folder = folders.targets.get(uid)!
      if (parent === undefined || state !== 'ready') {
        this.#leftovers.set(uid, folder)
        continue
      }
      refuseLinks(this.#dataDir, folder)
      checkFile(join(this.#dataDir, folder, storeFile))
      tightenTarget(join(this.#dataDir, folder), access)
      this.#folders.set(uid, folder)
      const common = { keyspace, name, uid }
      if (kind === 'table') {
        const definition = JSON.parse(options) as StoredDefinition
        // They become part of names, in the store and beside it.
        for (const { id } of [...definition.columns, ...definition.indexes]) suffixOf(id)
        const types = this.#typesOf(definition, keyspace)
        this.#know({ kind, ...common, definition, types })
      } else {
        const parsed = JSON.parse(options) as CollectionOptions
        this.#know({ kind, ...common, options: parsed })
      }
    }
  }

  /** Makes a change, and returns when it is durable. */
  #run(sql: string, ...parameters: string[]): void {
    this.#runAll([sql, ...parameters])
  }

  /** The same for several that happen together or not at all. */
  #runAll(...changes: readonly (readonly [sql: string, ...parameters: string[]])[]): void {
    try {
      this.#commit(changes)
    } catch (error) {
      if (!isFull(error)) throw error
      // What the log holds has its place in the file already, often enough: then the log can
      // start over, and there is room to drop something.
      this.#database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      this.#commit(changes)
    }
  }

  #commit(changes: readonly (readonly [sql: string, ...parameters: string[]])[]): void {
    this.#database.exec('BEGIN IMMEDIATE')
    try {
      for (const [sql, ...parameters] of changes)
        this.#database.prepare(sql).run(...parameters)
      this.#files.refuseIfLost()
      this.#database.exec('COMMIT')
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
      throw error
    }
    this.#files.refuseIfLost('after commit')
    this.#commits++
  }

  #all(sql: string, ...parameters: string[]): Record<string, unknown>[] {
    return this.#database.prepare(sql).all(...parameters)
  }
}

function storedIn({ targets }: Keyspace): StoredTarget[] {
  return Array.from(targets.values(), ({ stored }) => stored)
}
