/**
 * The folders of keyspaces and targets: which names they can have, and where they are.
 *
 * A catalog says which folder is whose, and may come from a backup that was tampered with.
 * So nothing is made, opened or removed at a path that is not made here: a folder has a name
 * as this server gives them, stands where it would have put it, and belongs to one target.
 */
import { existsSync, lstatSync, mkdirSync, readdirSync, type Stats } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { EngineError } from '../../errors.ts'
import { privateFolderMode, type Tightening } from '../../private-files.ts'
import { findEntry } from '../files/async-files.ts'
import { copiesFolder, damaged, storeFile, type Advice } from './layout.ts'

/** Of a keyspace: its name, behind the id of its database if that is not the first one. */
const keyspacePattern =
  /^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.)?\w[\w-]*(?:~\d+)?$/

/** Of a collection or table. "~2" and so on tells names apart that are too much alike. */
const targetPattern = /^\w[\w-]*(?:~\d+)?$/

/** Names are 48 characters at most; this is what file systems allow. */
const nameLengthMax = 255

/** Throws unless this server could have given the name. */
export function checkFolderName(kind: 'keyspace' | 'target', name: unknown): string {
  const pattern = kind === 'keyspace' ? keyspacePattern : targetPattern
  if (typeof name === 'string' && name.length <= nameLengthMax && pattern.test(name))
    return name
  throw new EngineError(
    'damaged',
    `${JSON.stringify(String(name).slice(0, nameLengthMax))} is no name for the folder of ` +
      (kind === 'keyspace' ? 'a keyspace' : 'a collection or table'),
  )
}

/** Whether a backup made the folder, for its copies. */
export function isCopiesFolder(name: string): boolean {
  const isUuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
  return name.startsWith(copiesFolder) && isUuid.test(name.slice(copiesFolder.length))
}

/** Which folders a catalog names, in the data folder. */
export interface CatalogFolders {
  /** By the names of keyspaces. */
  readonly keyspaces: ReadonlyMap<string, string>
  /** By the uids of targets: the folder of the keyspace, and the folder in it. */
  readonly targets: ReadonlyMap<string, string>
}

/** Refuses the whole catalog when a name in it is none, or two targets share a folder. */
export function readFolders(
  database: DatabaseSync,
  catalog: string,
  advice?: Advice,
): CatalogFolders {
  const taken = new Set<string>()
  /** Some file systems do not tell upper from lower case. */
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
        throw new EngineError('damaged', 'a row names a keyspace that is not there')
      targets.set(String(uid), take(join(parent, checkFolderName('target', folder))))
    }
    return { keyspaces, targets }
  } catch (error) {
    if (error instanceof EngineError)
      throw damaged(catalog, `cannot be trusted: ${error.message}`, advice)
    throw error
  }
}

/** Refuses what a folder or file is not, first of all a link: it may lead anywhere. */
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

/** Refuses what leads elsewhere; what is missing is found out by others. */
export async function refuseLinkAsync(path: string): Promise<void> {
  const found = await findEntry(path)
  if (found?.isSymbolicLink() !== true) return
  const problem = 'is a symbolic link, not a folder'
  throw new EngineError('damaged', `a part of the data folder ${problem}`, {
    cause: damaged(path, problem),
  })
}

/** Refuses a target with a link anywhere on the way to its store. */
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

/** Makes a folder that may be there already, in one that is. */
export function makeFolderIfAbsent(path: string, advice?: Advice): void {
  try {
    mkdirSync(path, { mode: privateFolderMode })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  refuseUnlessReal(path, 'folder', advice)
}

/**
 * Removes a folder below the data folder with all that it holds. A link in its place is
 * removed itself; one on the way to it is not followed.
 */
export async function removeFolder(dataDir: string, folder: string): Promise<void> {
  const parent = dirname(folder)
  if (parent !== '.') await refuseLinkAsync(join(dataDir, parent))
  await rm(join(dataDir, folder), { recursive: true, force: true })
}

/**
 * The name itself, unless it is taken: by a name that differs in case only, which some
 * file systems cannot tell apart, or by something that is not ours.
 */
export function freeFolder(parent: string, name: string, taken: readonly string[]): string {
  return freeNames(name, taken).find((folder) => !existsSync(join(parent, folder)))!
}

export async function freeFolderAsync(
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

/** Without end: a name, and the same with numbers. */
function* freeNames(name: string, taken: readonly string[]): Generator<string, never> {
  const used = new Set(taken.map((folder) => folder.toLowerCase()))
  for (let n = 1; ; n++) {
    const folder = n === 1 ? name : `${name}~${n}`
    if (!used.has(folder.toLowerCase())) yield folder
  }
}

/** The store with what is beside it, snapshots included. */
export function tightenTarget(folder: string, access: Tightening): void {
  access.tightenWithFiles(folder)
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory()) access.tightenWithFiles(join(folder, entry.name))
}
