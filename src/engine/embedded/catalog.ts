/**
 * What exists: keyspaces, targets and the service's own settings, in data/catalog.db. It is
 * the truth: a folder that it does not name is not ours, one that it names must be there.
 *
 * Making or removing a target takes two steps, the row and the folder, and the process may
 * die between them. So the row says which step is next: "creating" and "dropping" rows are
 * cleaned up when the folder is opened again, for nobody was told they were done.
 */
import { randomUUID } from 'node:crypto'
import { existsSync, linkSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { EngineError } from '../engine.ts'
import type { UserType } from '../../columns/column-type.ts'
import { suffixOf } from '../row-view.ts'
import type {
  Collection,
  CollectionOptions,
  KeyspaceSchema,
  Table,
  TableDefinition,
  Target,
} from '../schema.ts'
import {
  checkFile,
  createFile,
  createStore,
  createTableStore,
  damaged,
  storeFile,
  syncFolder,
} from './layout.ts'

export const catalogFile = 'catalog.db'
export const firstKeyspace = 'default_keyspace'

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

interface Keyspace {
  readonly folder: string
  readonly targets: Map<string, Target>
  readonly types: Map<string, UserType>
}

export class Catalog {
  readonly #dataDir: string
  readonly #database: DatabaseSync
  /** Keyspaces to their folders, and what they hold; always what the database says. */
  readonly #keyspaces = new Map<string, Keyspace>()
  readonly #folders = new Map<string, string>()

  /** Opens the folder, or makes it if it does not exist or is empty. */
  constructor(dataDir: string) {
    this.#dataDir = dataDir
    const file = join(dataDir, catalogFile)
    if (!existsSync(file)) makeDataDir(dataDir, file)
    checkFile(file, catalogFormat)
    this.#database = openExclusively(file, dataDir)
    try {
      removeUnfinished(dataDir)
      this.#upgrade()
      this.#load()
    } catch (error) {
      this.#database.close()
      throw isOperational(error)
        ? error
        : damaged(file, `cannot be read: ${reasonOf(error)}`)
    }
  }

  get keyspaces(): readonly string[] {
    return [...this.#keyspaces.keys()]
  }

  targets(keyspace: string): readonly Target[] | undefined {
    const found = this.#keyspaces.get(keyspace)
    return found === undefined ? undefined : [...found.targets.values()]
  }

  schema(keyspace: string): KeyspaceSchema | undefined {
    const found = this.#keyspaces.get(keyspace)
    if (found === undefined) return undefined
    return { targets: [...found.targets.values()], types: [...found.types.values()] }
  }

  target(keyspace: string, name: string): Target | undefined {
    return this.#keyspaces.get(keyspace)?.targets.get(name)
  }

  /** The store file of a target that exists. */
  storeFile(target: Target): string | undefined {
    const folder = this.#folders.get(target.uid)
    return folder === undefined ? undefined : join(folder, storeFile)
  }

  createKeyspace(name: string): void {
    if (this.#keyspaces.has(name)) return
    const taken = [...this.#keyspaces.values()].map(({ folder }) => folder)
    const folder = this.#freeFolder(this.#dataDir, name, taken)
    mkdirSync(join(this.#dataDir, folder), { recursive: true })
    syncFolder(this.#dataDir)
    this.#run('INSERT INTO keyspace VALUES (?, ?)', name, folder)
    this.#keyspaces.set(name, { folder, targets: new Map(), types: new Map() })
  }

  /** The keyspace's targets must be dropped before. */
  dropKeyspace(name: string): void {
    const found = this.#keyspaces.get(name)
    if (found === undefined) return
    this.#run('DELETE FROM type WHERE keyspace = ?', name)
    this.#run('DELETE FROM keyspace WHERE name = ?', name)
    this.#keyspaces.delete(name)
    rmSync(join(this.#dataDir, found.folder), { recursive: true, force: true })
  }

  createCollection(keyspace: string, name: string, options: CollectionOptions): Target {
    return this.#create(keyspace, name, { kind: 'collection', options }, createStore)
  }

  createTable(keyspace: string, name: string, definition: TableDefinition): Target {
    const types = this.#typesOf(definition, keyspace)
    const vectors = vectorSuffixes(definition)
    return this.#create(keyspace, name, { kind: 'table', definition, types }, (file) =>
      createTableStore(file, vectors),
    )
  }

  /** The table as it would be with another definition. */
  altered(table: Table, definition: TableDefinition): Table {
    return { ...table, definition, types: this.#typesOf(definition, table.keyspace) }
  }

  /** From now on the table is this. */
  alterTable(table: Table): void {
    const { keyspace, name, uid, definition } = table
    this.#run(
      'UPDATE target SET options = ? WHERE uid = ?',
      JSON.stringify(definition),
      uid,
    )
    this.#keyspace(keyspace).targets.set(name, table)
  }

  /** Tables that use the type are other objects from then on. */
  putType(keyspace: string, type: UserType): void {
    const { targets, types } = this.#keyspace(keyspace)
    const sql = 'INSERT OR REPLACE INTO type VALUES (?, ?, ?)'
    this.#run(sql, keyspace, type.name, JSON.stringify(type))
    types.set(type.name, type)
    for (const [name, target] of targets)
      if (target.kind === 'table' && target.types.some((used) => used.name === type.name))
        targets.set(name, { ...target, types: this.#typesOf(target.definition, keyspace) })
  }

  dropType(keyspace: string, name: string): void {
    const { types } = this.#keyspace(keyspace)
    this.#run('DELETE FROM type WHERE keyspace = ? AND name = ?', keyspace, name)
    types.delete(name)
  }

  #typesOf(definition: TableDefinition, keyspace: string): UserType[] {
    const { types } = this.#keyspace(keyspace)
    return [...usedTypes(definition)].map((name) => types.get(name)!)
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
      Pick<Collection, 'kind' | 'options'> | Pick<Table, 'kind' | 'definition' | 'types'>,
    makeStore: (file: string) => void,
  ): Target {
    const parent = this.#keyspace(keyspace)
    const uid = randomUUID()
    const parentFolder = join(this.#dataDir, parent.folder)
    const taken = this.#all('SELECT folder FROM target WHERE keyspace = ?', keyspace).map(
      (row) => String(row['folder']),
    )
    const folder = this.#freeFolder(parentFolder, name, taken)
    this.#run(
      "INSERT INTO target VALUES (?, ?, ?, ?, ?, 'creating', ?)",
      uid,
      keyspace,
      name,
      folder,
      what.kind,
      JSON.stringify(what.kind === 'table' ? what.definition : what.options),
    )
    const path = join(parentFolder, folder)
    try {
      mkdirSync(path, { recursive: true })
      makeStore(join(path, storeFile))
      syncFolder(path)
      syncFolder(parentFolder)
      this.#run("UPDATE target SET state = 'ready' WHERE uid = ?", uid)
    } catch (error) {
      rmSync(path, { recursive: true, force: true })
      this.#run('DELETE FROM target WHERE uid = ?', uid)
      throw error
    }
    const target: Target = { keyspace, name, uid, ...what }
    parent.targets.set(name, target)
    this.#folders.set(uid, path)
    return target
  }

  /** Takes the name away at once; `finishDrop` removes the data. */
  startDrop(target: Target): void {
    this.#run("UPDATE target SET state = 'dropping' WHERE uid = ?", target.uid)
    this.#keyspaces.get(target.keyspace)?.targets.delete(target.name)
  }

  finishDrop(target: Target): void {
    const folder = this.#folders.get(target.uid)
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
    this.#folders.delete(target.uid)
    this.#run('DELETE FROM target WHERE uid = ?', target.uid)
  }

  readSetting(name: string): string | undefined {
    const [row] = this.#all('SELECT value FROM setting WHERE name = ?', name)
    return row === undefined ? undefined : String(row['value'])
  }

  writeSetting(name: string, value: string): void {
    this.#run('INSERT OR REPLACE INTO setting VALUES (?, ?)', name, value)
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

  #load(): void {
    for (const row of this.#all('SELECT name, folder FROM keyspace')) {
      const folder = String(row['folder'])
      mkdirSync(join(this.#dataDir, folder), { recursive: true })
      const found = { folder, targets: new Map(), types: new Map() }
      this.#keyspaces.set(String(row['name']), found)
    }
    for (const { keyspace, name, definition } of this.#all('SELECT * FROM type'))
      this.#keyspaces
        .get(String(keyspace))!
        .types.set(String(name), JSON.parse(String(definition)) as UserType)
    for (const row of this.#all('SELECT * FROM target') as unknown as TargetRow[]) {
      const { uid, keyspace, name, kind, state, options } = row
      const parent = this.#keyspaces.get(keyspace)!
      const folder = join(this.#dataDir, parent.folder, row.folder)
      if (state !== 'ready') {
        rmSync(folder, { recursive: true, force: true })
        this.#run('DELETE FROM target WHERE uid = ?', uid)
        continue
      }
      checkFile(join(folder, storeFile))
      this.#folders.set(uid, folder)
      const common = { keyspace, name, uid }
      if (kind === 'table') {
        const definition = JSON.parse(options) as TableDefinition
        const types = this.#typesOf(definition, keyspace)
        parent.targets.set(name, { kind, ...common, definition, types })
      } else {
        const parsed = JSON.parse(options) as CollectionOptions
        parent.targets.set(name, { kind, ...common, options: parsed })
      }
    }
  }

  /**
   * The name itself, unless it is taken: by a name that differs in case only, which some
   * file systems cannot tell apart, or by something that is not ours.
   */
  #freeFolder(parent: string, name: string, taken: readonly string[]): string {
    const used = new Set(taken.map((folder) => folder.toLowerCase()))
    for (let n = 1; ; n++) {
      const folder = n === 1 ? name : `${name}~${n}`
      if (!used.has(folder.toLowerCase()) && !existsSync(join(parent, folder)))
        return folder
    }
  }

  #run(sql: string, ...parameters: string[]): void {
    this.#database.prepare(sql).run(...parameters)
  }

  #all(sql: string, ...parameters: string[]): Record<string, unknown>[] {
    return this.#database.prepare(sql).all(...parameters)
  }
}

/** What tells the parts of a store apart that belong to vector columns. */
function vectorSuffixes({ columns }: TableDefinition): string[] {
  return columns.flatMap(({ id, type }) => (type.type === 'vector' ? [suffixOf(id)] : []))
}

function usedTypes({ columns }: TableDefinition): Set<string> {
  const names = new Set<string>()
  for (const { type } of columns) {
    const inner = 'valueType' in type ? type.valueType : type
    if (typeof inner === 'object' && inner.type === 'userDefined') names.add(inner.udtName)
  }
  return names
}

/** What a catalog is called until it is whole. */
const unfinishedFile = `${catalogFile}.new`

function makeDataDir(dataDir: string, file: string): void {
  makeFolder(dataDir)
  if (holdsStores(dataDir))
    throw new EngineError(
      'damaged',
      `${dataDir} holds data, but ${catalogFile} is missing from it. Restore the file, or ` +
        'start with another folder',
    )
  // Made under a name of its own first: a start that is cut short leaves no half catalog,
  // and of two starts at once one finds what the other has made.
  const unfinished = join(dataDir, `${unfinishedFile}-${randomUUID()}`)
  try {
    createFile(unfinished, catalogSchema + typeSchema, catalogFormat)
    publish(unfinished, file)
  } catch (error) {
    if (!existsSync(file)) throw error
  } finally {
    rmSync(unfinished, { force: true })
  }
  syncFolder(dataDir)
}

function makeFolder(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const problem =
      code === 'EEXIST' || code === 'ENOTDIR'
        ? 'is not a folder, or stands inside of a file'
        : `cannot be made: ${reasonOf(error)}`
    throw new EngineError('damaged', `${dataDir} ${problem}. Start with another folder`)
  }
}

/** Gives a file its name, unless another has it. */
function publish(unfinished: string, file: string): void {
  try {
    linkSync(unfinished, file)
  } catch (error) {
    // Not every file system has links; renaming is as good, but for two starts at once.
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' || code === 'ENOENT' || existsSync(file)) throw error
    renameSync(unfinished, file)
  }
}

/** What earlier starts left behind. Only the holder of the folder may say so. */
function removeUnfinished(dataDir: string): void {
  for (const name of readdirSync(dataDir))
    if (name.startsWith(unfinishedFile)) rmSync(join(dataDir, name), { force: true })
}

function holdsStores(dataDir: string): boolean {
  return readdirSync(dataDir, { withFileTypes: true }).some(
    (keyspace) =>
      keyspace.isDirectory() &&
      readdirSync(join(dataDir, keyspace.name)).some((target) =>
        existsSync(join(dataDir, keyspace.name, target, storeFile)),
      ),
  )
}

/** Locks the folder for as long as this process lives. */
function openExclusively(file: string, dataDir: string): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: 0 })
  try {
    database.exec(`
      PRAGMA locking_mode = EXCLUSIVE;
      PRAGMA synchronous = FULL;
      BEGIN IMMEDIATE;
      COMMIT;
    `)
    const [verdict] = database.prepare('PRAGMA quick_check(1)').all()
    if (verdict?.['quick_check'] !== 'ok')
      throw damaged(file, `is damaged: ${oneLine(String(verdict?.['quick_check']))}`)
    return database
  } catch (error) {
    database.close()
    if (error instanceof EngineError) throw error
    const reason = reasonOf(error)
    if (reason.includes('locked'))
      throw new EngineError(
        'closed',
        `${dataDir} is in use by another running server. Stop it, or start with another folder`,
      )
    throw damaged(file, `cannot be opened: ${reason}`)
  }
}

/** Whether an error says by itself what an operator can do, or at least where it was. */
function isOperational(error: unknown): boolean {
  return (
    error instanceof EngineError || (error as NodeJS.ErrnoException).syscall !== undefined
  )
}

function reasonOf(error: unknown): string {
  return oneLine(error instanceof Error ? error.message : String(error))
}

function oneLine(text: string): string {
  return text.replace(/\s*\n\s*/g, ' ')
}
