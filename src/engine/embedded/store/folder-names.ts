/**
 * Folders of keyspaces and targets: their names and paths.
 *
 * The catalog maps names to folders, and may come from a manipulated backup. So a folder is
 * created, opened or removed only if this server could have chosen its name and place, and only one
 * target uses it.
 */
import { existsSync, lstatSync, mkdirSync, readdirSync, type Stats } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { EngineError } from '../../errors.ts'
import { privateFolderMode, type PermissionFixer } from '../../private-files.ts'
import { findEntry } from '../files/async-files.ts'
import { copiesFolder, damaged, storeFile, type Advice } from './layout.ts'

/**
 * The name of a keyspace, as a folder. In databases that version 0.1 created, the id of the
 * database and a dot precede it (database-key.ts).
 */
const keyspacePattern =
  /^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.)?\w[\w-]*(?:~\d+)?$/

/**
 * The name of a collection or table, as a folder. A suffix such as "~2" distinguishes names that a
 * file system may treat as equal.
 */
const targetPattern = /^\w[\w-]*(?:~\d+)?$/

/** Maximum characters of a name in file systems; names of keyspaces and targets have at most 48. */
const nameLengthMax = 255

/** Returns the name of a folder. Throws unless this server could have given a folder this name. */
export function checkFolderName(kind: 'keyspace' | 'target', name: unknown): string {
  const pattern = kind === 'keyspace' ? keyspacePattern : targetPattern
  if (typeof name === 'string' && name.length <= nameLengthMax && pattern.test(name))
    return name
  throw new EngineError(
    'damaged',
    `${JSON.stringify(String(name).slice(0, nameLengthMax))} is not a valid folder name of ` +
      (kind === 'keyspace' ? 'a keyspace' : 'a collection or table'),
  )
}

/** Whether the folder was created by a backup, for its copies. */
export function isCopiesFolder(name: string): boolean {
  const isUuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
  return name.startsWith(copiesFolder) && isUuid.test(name.slice(copiesFolder.length))
}

/** The folders that a catalog names, relative to the data folder. */
export interface CatalogFolders {
  /** Folders of keyspaces, by keyspace name. */
  readonly keyspaces: ReadonlyMap<string, string>
  /** Folders of targets, by uid: the folder of the keyspace, and the folder in it. */
  readonly targets: ReadonlyMap<string, string>
}

/** Rejects the whole catalog when a folder name in it is invalid, or two targets share a folder. */
export function readFolders(
  database: DatabaseSync,
  catalog: string,
  advice?: Advice,
): CatalogFolders {
  const taken = new Set<string>()
  /** Paths are compared without case, because some file systems ignore it. */
  const take = (path: string): string => {
    if (taken.has(path.toLowerCase()))
      throw new EngineError('damaged', `two of its rows name the folder ${path}`)
    taken.add(path.toLowerCase())
    return path
  }
  try {
    const keyspaces = new Map<string, string>()
    for (const { name, folder } of database.prepare('SELECT * FROM keyspace').all())
      keyspaces.set(String(name), take(checkFolderName('keyspace', folder)))
    const targets = new Map<string, string>()
    const rows = database.prepare('SELECT uid, keyspace, folder FROM target').all()
    for (const { uid, keyspace, folder } of rows) {
      const parent = keyspaces.get(String(keyspace))
      if (parent === undefined)
        throw new EngineError('damaged', 'a row names a keyspace that does not exist')
      targets.set(String(uid), take(join(parent, checkFolderName('target', folder))))
    }
    return { keyspaces, targets }
  } catch (error) {
    if (error instanceof EngineError)
      throw damaged(catalog, `cannot be trusted: ${error.message}`, advice)
    throw error
  }
}

/** Throws unless the path is a real folder or file. A symbolic link could lead anywhere. */
export function refuseUnlessReal(
  path: string,
  kind: 'folder' | 'file',
  advice?: Advice,
): void {
  judgeReal(lstatSync(path, { throwIfNoEntry: false }), path, kind, advice)
}

function judgeReal(
  found: Stats | undefined,
  path: string,
  kind: 'folder' | 'file',
  advice?: Advice,
): void {
  if (found === undefined) throw damaged(path, 'is missing', advice)
  if (kind === 'folder' ? found.isDirectory() : found.isFile()) return
  const what = found.isSymbolicLink() ? 'is a symbolic link, not' : 'is not'
  throw damaged(path, `${what} a ${kind}`, advice)
}

/** Throws when the path is a symbolic link. A missing entry is reported by later operations. */
export async function refuseLinkAsync(path: string): Promise<void> {
  const found = await findEntry(path)
  if (found?.isSymbolicLink() !== true) return
  const problem = 'is a symbolic link, not a folder'
  throw new EngineError('damaged', `a part of the data folder ${problem}`, {
    cause: damaged(path, problem),
  })
}

/** Throws when a part of the path to a target's store is a symbolic link. */
export function refuseLinks(dataDir: string, folder: string): void {
  for (const [path, kind] of wayTo(dataDir, folder)) refuseUnlessReal(path, kind)
}

export async function refuseLinksAsync(dataDir: string, folder: string): Promise<void> {
  for (const [path, kind] of wayTo(dataDir, folder))
    judgeReal(await findEntry(path), path, kind)
}

function wayTo(dataDir: string, folder: string): [path: string, 'folder' | 'file'][] {
  return [
    [join(dataDir, dirname(folder)), 'folder'],
    [join(dataDir, folder), 'folder'],
    [join(dataDir, folder, storeFile), 'file'],
  ]
}

/** Creates a folder unless it exists. Its parent must exist. */
export function makeFolderIfAbsent(path: string, advice?: Advice): void {
  try {
    mkdirSync(path, { mode: privateFolderMode })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  refuseUnlessReal(path, 'folder', advice)
}

/**
 * Removes a folder in the data folder with its content. A symbolic link in its place is removed,
 * but not followed. A parent that is a symbolic link is rejected.
 */
export async function removeFolder(dataDir: string, folder: string): Promise<void> {
  const parent = dirname(folder)
  if (parent !== '.') await refuseLinkAsync(join(dataDir, parent))
  await rm(join(dataDir, folder), { recursive: true, force: true })
}

/**
 * A name for a new folder: the given name, or that name with a number when it is taken. A name is
 * taken if any entry has it, or a folder's name differs only in case, which some file systems
 * ignore.
 */
export function unusedFolderName(
  parent: string,
  name: string,
  taken: readonly string[],
): string {
  return freeNames(name, taken).find((folder) => !existsSync(join(parent, folder)))!
}

export async function unusedFolderNameAsync(
  parent: string,
  name: string,
  taken: readonly string[],
): Promise<string> {
  const names = freeNames(name, taken)
  for (;;) {
    const folder = names.next().value
    if ((await findEntry(join(parent, folder))) === undefined) return folder
  }
}

/** Endless sequence of candidates: the name, then the name with a number. */
function* freeNames(name: string, taken: readonly string[]): Generator<string, never> {
  const used = new Set(taken.map((folder) => folder.toLowerCase()))
  for (let n = 1; ; n++) {
    const folder = n === 1 ? name : `${name}~${n}`
    if (!used.has(folder.toLowerCase())) yield folder
  }
}

/** Tightens the permissions of a store and of the files beside it, snapshots included. */
export function restrictTarget(folder: string, access: PermissionFixer): void {
  access.tightenWithFiles(folder)
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory()) access.tightenWithFiles(join(folder, entry.name))
}
