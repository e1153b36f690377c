/**
 * What exists: keyspaces, targets and the service's own settings, in data/catalog.db. It is
 * the truth, unless it has lost changes: then the folder is not served (lost-stores.ts).
 *
 * Making or removing a target takes two steps, the row and the folder, and the disk may fail
 * or the process die between them. So the row says which step is next, and has the target's
 * name only while it is "ready". What "creating" and "dropping" rows stand for is left over:
 * it is removed with the next change, or when the folder is opened again. A store that was
 * written to is never "creating", so it is not removed as such.
 */
import { randomUUID } from 'node:crypto'
import { mkdirSync, rmdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { EngineError } from '../../errors.ts'
import { userTypeNameOf } from '../../../language/columns/column-type.ts'
import { privateFolderMode, Tightening } from '../../private-files.ts'
import {
  type Collection,
  type CollectionOptions,
  type KeyspaceSchema,
  type Target,
} from '../../schema.ts'
import type { KeyspaceCounts, SchemaChange, TableChange } from '../../schema-change.ts'
import { CatalogFile, catalogFormat, catalogSchema } from './catalog-file.ts'
import { findCatalogLoss, refuseDamagedLog, type CatalogLoss } from './catalog-loss.ts'
import {
  catalogAdvice,
  catalogFile,
  lineOf,
  makeDataDir,
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
import type { EmbeddedOptions } from '../options.ts'
import { refuseIfLost, troubleOf } from '../files/disk-trouble.ts'
import type { FileIdentity } from '../files/file-identity.ts'
import { lostCatalog, quarantine, storesIn } from './lost-stores.ts'
import { withStoredAnalyzers } from './stored-analyzers.ts'
import { describeTarget, updateTargetFile, writeTargetFile } from './target-file.ts'
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

export { catalogFormat } from './catalog-file.ts'
export { catalogFile, unfinishedFile } from './data-folder.ts'

/** What names of keyspaces that are being dropped start with, and no others can. */
const droppedPrefix = ':'

interface TargetRow {
  readonly uid: string
  readonly keyspace: string
  readonly name: string
  readonly folder: string
  readonly kind: 'collection' | 'table'
  readonly state: 'creating' | 'ready' | 'dropping'
  readonly options: string
  readonly version: number
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
  readonly #file: CatalogFile
  readonly #log: EmbeddedOptions['log']
  /** Keyspaces to their folders, and what they hold; always what the database says. */
  readonly #keyspaces = new Map<string, Keyspace>()
  /** The folders of targets, in the data folder, by their uids. */
  readonly #folders = new Map<string, string>()
  /** The versions that stores had when a server last stopped, by the uids of their targets. */
  readonly #versions = new Map<string, number>()
  /** The folders of targets that are not made, or no more, by their uids. */
  readonly #leftovers = new Map<string, string>()
  /** The folders of keyspaces that are no more, by what they are called instead. */
  readonly #dropped = new Map<string, string>()

  /** Opens the folder, or makes it if it does not exist or is empty. */
  constructor({ dataDir, acceptsLostCatalog: acceptsLoss = false, log }: EmbeddedOptions) {
    this.#dataDir = dataDir
    this.#log = log
    const file = join(dataDir, catalogFile)
    const access = new Tightening()
    try {
      tightenDataDir(dataDir, access)
      makeDataDir(dataDir, acceptsLoss, (unfinished) =>
        createFile(unfinished, catalogSchema, catalogFormat),
      )
      checkFile(file, catalogFormat, catalogAdvice)
    } catch (error) {
      throw refusalFor(error, dataDir, file) ?? error
    }
    if (!acceptsLoss) refuseDamagedLog(dataDir)
    this.#file = new CatalogFile(dataDir)
    try {
      const loss = this.#findLoss(acceptsLoss)
      removeUnfinished(dataDir)
      this.#file.upgrade()
      this.#acceptLoss(loss)
      this.#load(access)
      this.#removeLeftovers()
      for (const target of this.targets) this.#describe(target)
      access.report(dataDir, log)
    } catch (error) {
      this.#file.close()
      const refusal = refusalFor(error, dataDir, file)
      throw refusal ?? damaged(file, `cannot be read: ${lineOf(error)}`, catalogAdvice)
    }
  }

  /** The file that was opened. */
  get identity(): FileIdentity {
    return this.#file.identity
  }

  /** Changes that were made durable. */
  get commits(): number {
    return this.#file.commits
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

  /** The version that the store of a target had when a server last stopped. */
  knownVersion({ uid }: StoredTarget): number {
    return this.#versions.get(uid) ?? 0
  }

  /** Records such versions, by uid, unless the disk is in trouble. */
  noteVersions(versions: ReadonlyMap<string, number>): void {
    const sql = 'UPDATE target SET version = ? WHERE uid = ?'
    const changes = Array.from(versions, ([uid, version]) => [sql, version, uid] as const)
    this.#attempt(() => this.#file.runAll(...changes))
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
      this.#file.run('INSERT OR REPLACE INTO keyspace VALUES (?, ?)', name, folder)
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
    this.#file.runAll(
      // Keyspace and targets refer to each other by the name that changes.
      ['PRAGMA defer_foreign_keys = ON'],
      ['DELETE FROM type WHERE keyspace = ?', name],
      ["UPDATE target SET state = 'dropping', name = uid WHERE keyspace = ?", name],
      ['UPDATE target SET keyspace = ? WHERE keyspace = ?', unnamed, name],
      ['UPDATE keyspace SET name = ? WHERE name = ?', unnamed, name],
    )
    this.#keyspaces.delete(name)
    this.#dropped.set(unnamed, found.folder)
    const targets = storedIn(found)
    for (const target of targets) this.#describe(target, 'dropping')
    return targets
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
    this.#file.run(
      'UPDATE target SET options = ? WHERE uid = ?',
      JSON.stringify(definition),
      uid,
    )
    this.#know(table)
    this.#describe(table)
  }

  /** Tables that use the type are other objects from then on. */
  #putType(keyspace: string, type: StoredType): void {
    const { targets, types } = this.#keyspace(keyspace)
    const sql = 'INSERT OR REPLACE INTO type VALUES (?, ?, ?)'
    this.#file.run(sql, keyspace, type.name, JSON.stringify(type))
    types.set(type.name, type)
    for (const { stored } of [...targets.values()]) {
      if (stored.kind === 'collection') continue
      if (!stored.types.some(({ name }) => name === type.name)) continue
      const table = { ...stored, types: this.#typesOf(stored.definition, keyspace) }
      this.#know(table)
      this.#describe(table)
    }
  }

  #dropType(keyspace: string, name: string): void {
    const { types } = this.#keyspace(keyspace)
    this.#file.run('DELETE FROM type WHERE keyspace = ? AND name = ?', keyspace, name)
    types.delete(name)
  }

  #typesOf({ columns }: StoredDefinition, keyspace: string): StoredType[] {
    const { types } = this.#keyspace(keyspace)
    const names = columns.flatMap(({ type }) => userTypeNameOf(type) ?? [])
    return [...new Set(names)].map((name) => types.get(name)!)
  }

  /** From now on the target is this. Long analyzers stay in the file. */
  #know(whole: StoredTarget): void {
    const { uid } = whole
    const stored = withStoredAnalyzers(whole, () => this.#file.readDefinition(uid))
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
      ...this.#file
        .all('SELECT folder FROM target WHERE keyspace = ?', keyspace)
        .map((row) => String(row['folder'])),
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
    const target: StoredTarget = { keyspace, name, uid, ...what }
    this.#leftovers.set(uid, place)
    try {
      this.#file.note(
        'INSERT INTO target(uid, keyspace, name, folder, kind, state, options) ' +
          "VALUES (?, ?, ?, ?, ?, 'creating', ?)",
        ...[uid, keyspace, uid, folder, what.kind, definition],
      )
      // Not its parents, too: a folder that was moved away must not be made again.
      refuseLink(parentFolder)
      mkdirSync(path, { mode: privateFolderMode })
      makeStore(join(path, storeFile))
      // This syncs the folder as well.
      writeTargetFile(path, describeTarget(target, this.#file.generation))
      syncFolder(parentFolder)
      this.#file.run("UPDATE target SET state = 'ready', name = ? WHERE uid = ?", name, uid)
    } catch (error) {
      this.#removeLeftovers()
      throw error
    }
    this.#leftovers.delete(uid)
    this.#know(target)
    this.#folders.set(uid, place)
  }

  /** Takes the name away at once; `finishDrop` removes the data. */
  startDrop(target: StoredTarget): void {
    const { uid, keyspace, name } = target
    this.#file.run("UPDATE target SET state = 'dropping', name = uid WHERE uid = ?", uid)
    this.#keyspaces.get(keyspace)?.targets.delete(name)
    this.#describe(target, 'dropping')
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
        this.#file.note('DELETE FROM target WHERE uid = ?', uid)
        this.#leftovers.delete(uid)
      })
    for (const [keyspace, folder] of [...this.#dropped])
      this.#attempt(() => {
        if (this.#file.all('SELECT 1 FROM target WHERE keyspace = ?', keyspace).length > 0)
          return
        for (const store of storesIn(this.#dataDir, folder)) this.#quarantine(store)
        removeFolder(this.#dataDir, folder)
        this.#file.note('DELETE FROM keyspace WHERE name = ?', keyspace)
        this.#dropped.delete(keyspace)
      })
  }

  /** Has the store describe itself as the catalog does. */
  #describe(target: StoredTarget, state?: 'dropping'): void {
    const folder = this.#folders.get(target.uid)
    if (folder === undefined) return
    const description = describeTarget(target, this.#file.generation, state)
    this.#attempt(() => {
      refuseLinks(this.#dataDir, folder)
      updateTargetFile(join(this.#dataDir, folder), description)
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
    const [row] = this.#file.all('SELECT value FROM setting WHERE name = ?', name)
    return row === undefined ? undefined : String(row['value'])
  }

  writeSetting(name: string, value: string): void {
    this.#file.run('INSERT OR REPLACE INTO setting VALUES (?, ?)', name, value)
  }

  /** Copies the catalog for a backup. */
  copyTo(file: string): Promise<void> {
    return this.#file.copyTo(file)
  }

  close(): void {
    this.#file.close()
  }

  /** Throws where there is any, unless it is accepted. */
  #findLoss(isAccepted: boolean): CatalogLoss {
    const { database, identity } = this.#file
    const folders = readFolders(database, identity.path)
    const loss = findCatalogLoss(database, this.#dataDir, folders)
    if (loss.findings.length > 0 && !isAccepted)
      throw lostCatalog(this.#dataDir, loss.findings)
    return loss
  }

  #acceptLoss({ findings, unlisted, staleRows, generation }: CatalogLoss): void {
    if (findings.length === 0) return
    for (const finding of findings)
      this.#log('warn', `The catalog has lost data, which was accepted: ${finding}`)
    for (const folder of unlisted) this.#quarantine(folder)
    for (const uid of staleRows) this.#file.run('DELETE FROM target WHERE uid = ?', uid)
    this.#file.raiseGeneration(generation)
  }

  #quarantine(folder: string): void {
    const place = quarantine(this.#dataDir, folder)
    this.#log(
      'warn',
      `The catalog does not list the store in ${folder}. It is now in ${place}`,
    )
  }

  #load(access: Tightening): void {
    const folders = readFolders(this.#file.database, this.identity.path)
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
    for (const { keyspace, name, definition } of this.#file.all('SELECT * FROM type'))
      this.#keyspaces
        .get(String(keyspace))!
        .types.set(String(name), JSON.parse(String(definition)) as StoredType)
    for (const row of this.#file.all('SELECT * FROM target') as unknown as TargetRow[]) {
      const { uid, keyspace, name, kind, state, options, version } = row
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
      this.#versions.set(uid, version)
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
}

function storedIn({ targets }: Keyspace): StoredTarget[] {
  return Array.from(targets.values(), ({ stored }) => stored)
}
