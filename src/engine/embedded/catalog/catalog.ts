/**
 * The catalog: keyspaces, targets and the service's own settings, in data/catalog.db. It is
 * authoritative, unless it has lost changes: then the folder is not served (lost-stores.ts).
 *
 * Creating or dropping a target changes a row and a folder, and the process may die between the
 * two. So the state of the row names the next step, and the row has the target's name only while it
 * is "ready". Remains of "creating" and "dropping" rows are removed by the next change or start. A
 * target is "ready" before records are written to its store, so the removal of remains never
 * deletes records.
 *
 * Files and folders are created, synced and removed asynchronously, so other requests run during a
 * change. These requests see the change once it is committed, because the state in memory changes
 * in the same turn of the event loop. Callers make one schema change at a time (schema-turns.ts);
 * settings are written concurrently.
 */
import { randomUUID } from 'node:crypto'
import { mkdir, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { EngineError } from '../../errors.ts'
import { userTypeNameOf } from '../../../language/columns/column-type.ts'
import { privateFolderMode, PermissionFixer } from '../../private-files.ts'
import type { Collection, KeyspaceSchema, Target } from '../../schema.ts'
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
  restrictDataDir,
} from './data-folder.ts'
import {
  plainTable,
  plainType,
  vectorSuffixes,
  type StoredDefinition,
  type StoredTable,
  type StoredTarget,
  type StoredType,
} from '../schema/stored-schema.ts'
import {
  defineTable,
  defineType,
  redefineTable,
  redefineType,
} from '../schema/define-table.ts'
import type { EmbeddedOptions } from '../schema/options.ts'
import { syncFolderAsync } from '../../../runtime/sync-folder.ts'
import { refuseIfLostAsync } from '../files/disk-trouble.ts'
import type { FileIdentity } from '../files/file-identity.ts'
import { Leftovers } from './leftovers.ts'
import { lostCatalog, quarantine } from './lost-stores.ts'
import {
  definitionIn,
  optionsIn,
  refuseUnreadableRows,
  typeIn,
  type TargetRow,
} from './stored-rows.ts'
import { withStoredAnalyzers } from '../schema/stored-analyzers.ts'
import { describeTarget, isDescribed, writeTargetFile } from './target-file.ts'
import {
  checkFolderName,
  unusedFolderNameAsync,
  makeFolderIfAbsent,
  readFolders,
  refuseLinkAsync,
  refuseLinks,
  refuseLinksAsync,
  restrictTarget,
} from '../store/folder-names.ts'
import {
  checkFile,
  createFile,
  createStore,
  createTableStore,
  damaged,
  storeFile,
} from '../store/layout.ts'

export { catalogFormat } from './catalog-file.ts'
export { catalogFile, unfinishedFile } from './data-folder.ts'

/** Prefix of the names of keyspaces that are being dropped; other names cannot have it. */
const droppedPrefix = ':'

/** A target in the form of the contract, and in its stored form. */
export interface KnownTarget {
  readonly target: Target
  readonly stored: StoredTarget
}

interface Keyspace {
  readonly folder: string
  readonly targets: Map<string, KnownTarget>
  readonly types: Map<string, StoredType>
}

type CollectionContents = Pick<Collection, 'kind' | 'options'>
type TableContents = Pick<StoredTable, 'kind' | 'definition' | 'types'>

export class Catalog {
  readonly #dataDir: string
  readonly #file: CatalogFile
  readonly #log: EmbeddedOptions['log']
  /** Folder and content of each keyspace; always the same as in the catalog file. */
  readonly #keyspaces = new Map<string, Keyspace>()
  /** Folders of targets, relative to the data folder, by uid. */
  readonly #folders = new Map<string, string>()
  /** Versions of stores at the last stop of a server, by uid of the target. */
  readonly #versions = new Map<string, number>()
  readonly #leftovers: Leftovers

  private constructor(dataDir: string, log: EmbeddedOptions['log']) {
    this.#dataDir = dataDir
    this.#log = log
    const file = new CatalogFile(dataDir)
    const quarantine = (folder: string) => this.#quarantine(folder)
    this.#file = file
    this.#leftovers = new Leftovers({ dataDir, file, quarantine })
  }

  /** Opens a data folder, or creates it if it does not exist or is empty. */
  static async open(options: EmbeddedOptions): Promise<Catalog> {
    const { dataDir, acceptsLostCatalog: acceptsLoss = false, log } = options
    const file = join(dataDir, catalogFile)
    const access = new PermissionFixer()
    try {
      restrictDataDir(dataDir, access)
      makeDataDir(dataDir, acceptsLoss, (unfinished) =>
        createFile(unfinished, catalogSchema, catalogFormat),
      )
      checkFile(file, catalogFormat, catalogAdvice)
    } catch (error) {
      throw refusalFor(error, dataDir, file) ?? error
    }
    if (!acceptsLoss) refuseDamagedLog(dataDir)
    const catalog = new Catalog(dataDir, log)
    try {
      await catalog.#start(acceptsLoss, access)
      return catalog
    } catch (error) {
      await catalog.close()
      const refusal = refusalFor(error, dataDir, file)
      throw refusal ?? damaged(file, `cannot be read: ${lineOf(error)}`, catalogAdvice)
    }
  }

  /** Completes the opening. May block the thread, because the server does not listen yet. */
  async #start(acceptsLoss: boolean, access: PermissionFixer): Promise<void> {
    const loss = this.#findLoss(acceptsLoss)
    removeUnfinished(this.#dataDir)
    await this.#file.upgrade()
    await this.#acceptLoss(loss)
    this.#load(access)
    await this.#leftovers.remove()
    for (const target of this.targets)
      await this.#file.attempt(async () => {
        const folder = join(this.#dataDir, this.#folders.get(target.uid)!)
        if (isDescribed(folder, describeTarget(target, this.#file.generation))) return
        await this.#describe(target)
      })
    access.report(this.#dataDir, this.#log)
  }

  get identity(): FileIdentity {
    return this.#file.identity
  }

  /** Number of durable changes. */
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

  /** The store file of a target; undefined if the target does not exist. */
  storeFile(target: StoredTarget): string | undefined {
    const folder = this.#folders.get(target.uid)
    return folder === undefined ? undefined : join(this.#dataDir, folder, storeFile)
  }

  /** The version of a target's store at the last stop of a server; 0 if unknown. */
  knownVersion({ uid }: StoredTarget): number {
    return this.#versions.get(uid) ?? 0
  }

  /** Records the versions of stores by uid. Does nothing when the disk has a problem. */
  noteVersions(versions: ReadonlyMap<string, number>): Promise<void> {
    const sql = 'UPDATE target SET version = ? WHERE uid = ?'
    const changes = Array.from(versions, ([uid, version]) => [sql, version, uid] as const)
    return this.#file.attempt(() => {
      this.#file.run(...changes)
      return this.#file.secure()
    })
  }

  /** Creates a keyspace. Returns false when it exists. */
  async createKeyspace(name: string): Promise<boolean> {
    if (this.#keyspaces.has(name)) return false
    const taken = [...this.#keyspaces.values()].map(({ folder }) => folder)
    const all = [...taken, ...this.#leftovers.keyspaceFolders]
    const ownName = checkFolderName('keyspace', name)
    const folder = await unusedFolderNameAsync(this.#dataDir, ownName, all)
    const path = join(this.#dataDir, folder)
    await refuseIfLostAsync(this.identity)
    await mkdir(path, { mode: privateFolderMode })
    try {
      await syncFolderAsync(this.#dataDir)
      this.#file.run(['INSERT OR REPLACE INTO keyspace VALUES (?, ?)', name, folder])
    } catch (error) {
      await this.#file.attempt(() => rmdir(path))
      throw error
    }
    this.#keyspaces.set(name, { folder, targets: new Map(), types: new Map() })
    await this.#file.secure()
    return true
  }

  /**
   * Frees the names of the keyspace and of its targets, and returns the targets; `finishDrop`
   * removes their data. Returns undefined when the keyspace does not exist.
   */
  async startDropKeyspace(name: string): Promise<readonly StoredTarget[] | undefined> {
    const found = this.#keyspaces.get(name)
    if (found === undefined) return undefined
    const unnamed = droppedPrefix + randomUUID()
    this.#file.run(
      // Targets refer to their keyspace by its name, so the check of foreign keys is deferred.
      ['PRAGMA defer_foreign_keys = ON'],
      ['DELETE FROM type WHERE keyspace = ?', name],
      ["UPDATE target SET state = 'dropping', name = uid WHERE keyspace = ?", name],
      ['UPDATE target SET keyspace = ? WHERE keyspace = ?', unnamed, name],
      ['UPDATE keyspace SET name = ? WHERE name = ?', unnamed, name],
    )
    this.#keyspaces.delete(name)
    this.#leftovers.addKeyspace(unnamed, found.folder)
    const targets = storedIn(found)
    await this.#file.secure()
    for (const target of targets) await this.#describe(target, 'dropping')
    return targets
  }

  /** Makes a schema change that affects no existing store. */
  carryOut(
    keyspace: string,
    change: Exclude<SchemaChange, TableChange | { kind: 'dropTarget' }>,
  ): Promise<void> {
    const { name } = change
    switch (change.kind) {
      case 'createCollection': {
        const { options } = change
        return this.#create(keyspace, name, { kind: 'collection', options })
      }
      case 'createTable': {
        const definition = defineTable(change)
        const types = this.#typesOf(definition, keyspace)
        return this.#create(keyspace, name, { kind: 'table', definition, types })
      }
      case 'createType':
        return this.#putType(keyspace, defineType(change))
      case 'alterType': {
        const type = this.#keyspace(keyspace).types.get(name)!
        return this.#putType(keyspace, redefineType(type, change))
      }
      case 'dropType':
        return this.#dropType(keyspace, name)
    }
  }

  /** The table with the change applied. */
  altered(table: StoredTable, change: TableChange): StoredTable {
    const definition = redefineTable(table.definition, change)
    return { ...table, definition, types: this.#typesOf(definition, table.keyspace) }
  }

  /**
   * Stores the new definition. `changed` is called in the turn of the event loop in which the new
   * definition takes effect.
   */
  async alterTable(table: StoredTable, changed: () => void): Promise<void> {
    const { uid, definition } = table
    const sql = 'UPDATE target SET options = ? WHERE uid = ?'
    this.#file.run([sql, JSON.stringify(definition), uid])
    this.#know(table)
    changed()
    await this.#file.secure()
    await this.#describe(table)
  }

  /** Stores a type. The tables that use it are replaced in memory by new objects. */
  async #putType(keyspace: string, type: StoredType): Promise<void> {
    const { targets, types } = this.#keyspace(keyspace)
    const sql = 'INSERT OR REPLACE INTO type VALUES (?, ?, ?)'
    this.#file.run([sql, keyspace, type.name, JSON.stringify(type)])
    types.set(type.name, type)
    const changed: StoredTable[] = []
    for (const { stored } of [...targets.values()]) {
      if (stored.kind === 'collection') continue
      if (!stored.types.some(({ name }) => name === type.name)) continue
      changed.push({ ...stored, types: this.#typesOf(stored.definition, keyspace) })
    }
    for (const table of changed) this.#know(table)
    await this.#file.secure()
    for (const table of changed) await this.#describe(table)
  }

  async #dropType(keyspace: string, name: string): Promise<void> {
    const { types } = this.#keyspace(keyspace)
    this.#file.run(['DELETE FROM type WHERE keyspace = ? AND name = ?', keyspace, name])
    types.delete(name)
    await this.#file.secure()
  }

  #typesOf({ columns }: StoredDefinition, keyspace: string): StoredType[] {
    const { types } = this.#keyspace(keyspace)
    const names = columns.flatMap(({ type }) => userTypeNameOf(type) ?? [])
    return [...new Set(names)].map((name) => types.get(name)!)
  }

  /** Makes a target visible to requests. Long analyzers stay in the file until they are needed. */
  #know(whole: StoredTarget): void {
    const { uid } = whole
    const stored = withStoredAnalyzers(whole, () => this.#file.readDefinition(uid))
    const target = stored.kind === 'table' ? plainTable(stored) : stored
    this.#keyspace(stored.keyspace).targets.set(stored.name, { target, stored })
  }

  #keyspace(name: string): Keyspace {
    const found = this.#keyspaces.get(name)
    if (found === undefined)
      throw new EngineError('gone', `keyspace ${name} no longer exists`)
    return found
  }

  async #create(
    keyspace: string,
    name: string,
    what: CollectionContents | TableContents,
  ): Promise<void> {
    await this.#leftovers.remove()
    const parent = this.#keyspace(keyspace)
    const uid = randomUUID()
    const parentFolder = join(this.#dataDir, parent.folder)
    const taken = [
      ...this.#file
        .all('SELECT folder FROM target WHERE keyspace = ?', keyspace)
        .map((row) => String(row['folder'])),
      // Leftover folders are removed later, so their names are not used either.
      ...this.#leftovers.targetFoldersIn(parent.folder),
    ]
    const ownName = checkFolderName('target', name)
    const folder = await unusedFolderNameAsync(parentFolder, ownName, taken)
    const place = join(parent.folder, folder)
    const path = join(this.#dataDir, place)
    const definition = JSON.stringify(
      what.kind === 'table' ? what.definition : what.options,
    )
    const target: StoredTarget = { keyspace, name, uid, ...what }
    this.#leftovers.addTarget(uid, place)
    try {
      this.#file.run([
        'INSERT INTO target(uid, keyspace, name, folder, kind, state, options) ' +
          "VALUES (?, ?, ?, ?, ?, 'creating', ?)",
        ...[uid, keyspace, uid, folder, what.kind, definition],
      ])
      // `mkdir` is not recursive: a parent folder that was moved away must not be created again.
      await refuseLinkAsync(parentFolder)
      await mkdir(path, { mode: privateFolderMode })
      const store = join(path, storeFile)
      if (what.kind === 'collection') await createStore(store)
      else await createTableStore(store, vectorSuffixes(what.definition))
      // `writeTargetFile` also syncs the folder.
      await writeTargetFile(path, describeTarget(target, this.#file.generation))
      await syncFolderAsync(parentFolder)
      const sql = "UPDATE target SET state = 'ready', name = ? WHERE uid = ?"
      this.#file.run([sql, name, uid])
    } catch (error) {
      await this.#leftovers.remove()
      throw error
    }
    this.#leftovers.forgetTarget(uid)
    this.#know(target)
    this.#folders.set(uid, place)
    await this.#file.secure()
  }

  /** Frees the name of a target; `finishDrop` removes its data. */
  async startDrop(target: StoredTarget): Promise<void> {
    const { uid, keyspace, name } = target
    const sql = "UPDATE target SET state = 'dropping', name = uid WHERE uid = ?"
    this.#file.run([sql, uid])
    this.#keyspaces.get(keyspace)?.targets.delete(name)
    await this.#file.secure()
    await this.#describe(target, 'dropping')
  }

  finishDrop(targets: readonly StoredTarget[]): Promise<void> {
    for (const { uid } of targets) {
      const folder = this.#folders.get(uid)
      if (folder !== undefined) this.#leftovers.addTarget(uid, folder)
      this.#folders.delete(uid)
    }
    return this.#leftovers.remove()
  }

  /** Updates the description in the target's folder. */
  async #describe(target: StoredTarget, state?: 'dropping'): Promise<void> {
    const folder = this.#folders.get(target.uid)
    if (folder === undefined) return
    const description = describeTarget(target, this.#file.generation, state)
    await this.#file.attempt(async () => {
      await refuseLinksAsync(this.#dataDir, folder)
      await writeTargetFile(join(this.#dataDir, folder), description)
    })
  }

  readSetting(name: string): string | undefined {
    const [row] = this.#file.all('SELECT value FROM setting WHERE name = ?', name)
    return row === undefined ? undefined : String(row['value'])
  }

  /** Changes a setting for reads. `secure` must resolve before the change is acknowledged. */
  writeSetting(name: string, value: string): void {
    this.#file.run(['INSERT OR REPLACE INTO setting VALUES (?, ?)', name, value])
  }

  secure(): Promise<void> {
    return this.#file.secure()
  }

  copyTo(file: string): Promise<void> {
    return this.#file.copyTo(file)
  }

  close(): Promise<void> {
    return this.#file.close()
  }

  /** Finds what the catalog has lost. Throws if anything is lost, unless `isAccepted`. */
  #findLoss(isAccepted: boolean): CatalogLoss {
    const { database, identity } = this.#file
    const folders = readFolders(database, identity.path)
    const loss = findCatalogLoss(database, this.#dataDir, folders)
    if (loss.findings.length > 0 && !isAccepted) {
      refuseUnreadableRows(database)
      throw lostCatalog(this.#dataDir, loss.findings)
    }
    return loss
  }

  async #acceptLoss(loss: CatalogLoss): Promise<void> {
    const { findings, unlisted, staleRows, generation } = loss
    if (findings.length === 0) return
    for (const finding of findings)
      this.#log('warn', `Started with a catalog that lost data: ${finding}`)
    for (const folder of unlisted) this.#quarantine(folder)
    for (const uid of staleRows) this.#file.run(['DELETE FROM target WHERE uid = ?', uid])
    await this.#file.raiseGeneration(generation)
  }

  #quarantine(folder: string): void {
    const place = quarantine(this.#dataDir, folder)
    this.#log(
      'warn',
      `Moved the store in ${folder}, which the catalog does not list, to ${place}`,
    )
  }

  #load(access: PermissionFixer): void {
    const folders = readFolders(this.#file.database, this.identity.path)
    for (const [name, folder] of folders.keyspaces) {
      if (name.startsWith(droppedPrefix)) {
        this.#leftovers.addKeyspace(name, folder)
        continue
      }
      const path = join(this.#dataDir, folder)
      makeFolderIfAbsent(path)
      access.tighten(path)
      this.#keyspaces.set(name, { folder, targets: new Map(), types: new Map() })
    }
    for (const row of this.#file.all('SELECT * FROM type'))
      this.#keyspaces
        .get(String(row['keyspace']))!
        .types.set(String(row['name']), typeIn(row))
    for (const row of this.#file.all('SELECT * FROM target') as unknown as TargetRow[]) {
      const { uid, keyspace, name, kind, state, version } = row
      const parent = this.#keyspaces.get(keyspace)
      const folder = folders.targets.get(uid)!
      if (parent === undefined || state !== 'ready') {
        this.#leftovers.addTarget(uid, folder)
        continue
      }
      refuseLinks(this.#dataDir, folder)
      checkFile(join(this.#dataDir, folder, storeFile))
      restrictTarget(join(this.#dataDir, folder), access)
      this.#folders.set(uid, folder)
      this.#versions.set(uid, version)
      const common = { keyspace, name, uid }
      if (kind === 'table') {
        const definition = definitionIn(row)
        const types = this.#typesOf(definition, keyspace)
        this.#know({ kind, ...common, definition, types })
      } else {
        this.#know({ kind, ...common, options: optionsIn(row) })
      }
    }
  }
}

function storedIn({ targets }: Keyspace): StoredTarget[] {
  return Array.from(targets.values(), ({ stored }) => stored)
}
