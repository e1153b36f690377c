/**
 * A folder of backups.
 *
 *   files/<key>.db       catalogs and stores, each stored once for all backups
 *   backups/<time>.json  manifests: the files that make up each backup
 *
 * A manifest is written after the files of its backup. An interrupted backup therefore has no
 * manifest, and the next backup removes files that no manifest refers to.
 */
import { createHash } from 'node:crypto'
import { createReadStream, lstatSync, realpathSync } from 'node:fs'
import { lstat, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import {
  backupFormat,
  isBackupKey,
  type BackupFile,
  type BackupManifest,
} from '../../engine/backup.ts'
import {
  makePrivateFolder,
  privateFileMode,
  PermissionFixer,
} from '../../engine/private-files.ts'
import { syncFolderAsync } from '../../runtime/sync-folder.ts'
import { CommandFailure } from '../records/failure.ts'

export interface NamedBackup {
  readonly name: string
  readonly manifest: BackupManifest
}

export class BackupFolder {
  readonly path: string
  readonly #files: string
  readonly #backups: string

  constructor(path: string) {
    this.path = path
    this.#files = join(path, 'files')
    this.#backups = join(path, 'backups')
  }

  /**
   * Creates the folder. In an existing folder, removes other users' access, and passes a line about
   * the change to `tell`.
   */
  make(tell: (line: string) => void): void {
    makePrivateFolder(this.path)
    const access = new PermissionFixer()
    access.tightenWithFiles(realpathSync(this.path))
    for (const part of [this.#files, this.#backups]) {
      this.#refuseLink(part)
      makePrivateFolder(part)
      access.tightenWithFiles(part)
    }
    access.report(this.path, (_, line) => tell(line))
  }

  /**
   * Throws when `part` is a symbolic link. The link may lead to a folder with unrelated files, and
   * these must not be removed as leftovers.
   */
  #refuseLink(part: string): void {
    if (lstatSync(part, { throwIfNoEntry: false })?.isSymbolicLink() === true)
      throw new CommandFailure(`${part} is a symbolic link. Replace it by a folder.`)
  }

  fileOf(key: string): string {
    return join(this.#files, `${key}.db`)
  }

  /**
   * Reads the manifests, oldest first. `unreadable` lists the errors of manifests that cannot be
   * read.
   */
  async list(): Promise<{ backups: NamedBackup[]; unreadable: string[] }> {
    const backups: NamedBackup[] = []
    const unreadable: string[] = []
    for (const file of await this.#manifestFiles())
      try {
        const name = file.slice(0, -manifestEnd.length)
        backups.push({ name, manifest: await this.#read(name) })
      } catch (error) {
        if (!(error instanceof CommandFailure)) throw error
        unreadable.push(error.message)
      }
    return { backups, unreadable }
  }

  /** Finds the backup with this name; `latest` is the newest backup. */
  async find(name: string): Promise<NamedBackup> {
    const names = (await this.#manifestFiles()).map((file) =>
      file.slice(0, -manifestEnd.length),
    )
    const found = name === 'latest' ? names.at(-1) : names.find((known) => known === name)
    if (found !== undefined) return { name: found, manifest: await this.#read(found) }
    throw new CommandFailure(
      names.length === 0
        ? `${this.path} holds no backups.`
        : `${this.path} holds no backup ${name}. List its backups with --list.`,
    )
  }

  /**
   * Returns the files of these backups, by key. Omits files that are missing or have another size.
   */
  async filesOf(backups: readonly NamedBackup[]): Promise<Map<string, BackupFile>> {
    const files = new Map<string, BackupFile>()
    for (const { manifest } of backups)
      for (const { key, size, sha256 } of filesIn(manifest))
        if (!files.has(key) && (await sizeOf(this.fileOf(key))) === size)
          files.set(key, { key, size, sha256 })
    return files
  }

  /** Returns the files whose content differs from the checksum in their manifest. */
  async findDamaged(files: Iterable<BackupFile>): Promise<BackupFile[]> {
    const damaged: BackupFile[] = []
    for (const file of files) {
      const hash = createHash('sha256')
      await pipeline(
        createReadStream(this.fileOf(file.key), { highWaterMark: 1 << 20 }),
        hash,
      )
      if (hash.digest('hex') !== file.sha256) damaged.push(file)
    }
    return damaged
  }

  /**
   * Writes the manifest of a backup, which makes the backup valid. Returns the name of the backup.
   */
  async add(manifest: BackupManifest): Promise<string> {
    const taken = await this.#manifestFiles()
    let name = manifest.created.replaceAll(':', '-')
    for (let n = 2; taken.includes(name + manifestEnd); n++)
      name = `${manifest.created.replaceAll(':', '-')}-${n}`
    await syncFolderAsync(this.#files)
    const path = join(this.#backups, name + manifestEnd)
    await writeDurably(`${path}.partial`, `${JSON.stringify(manifest, undefined, 2)}\n`)
    await rename(`${path}.partial`, path)
    await syncFolderAsync(this.#backups)
    await syncFolderAsync(this.path)
    return name
  }

  /** Removes the manifests of these backups; removeLeftovers removes their files. */
  async remove(backups: readonly NamedBackup[]): Promise<void> {
    for (const { name } of backups) await rm(join(this.#backups, name + manifestEnd))
    await syncFolderAsync(this.#backups)
  }

  /** Removes partial files, and files that no backup refers to. */
  async removeLeftovers(): Promise<void> {
    for (const name of await readdir(this.#backups))
      if (name.endsWith('.partial')) await rm(join(this.#backups, name), { force: true })
    const { backups, unreadable } = await this.list()
    const isKept = new Set(
      backups.flatMap(({ manifest }) => filesIn(manifest).map(({ key }) => `${key}.db`)),
    )
    for (const name of await readdir(this.#files)) {
      // An unreadable manifest may refer to any complete file. In that case, remove only partial
      // files.
      const isLeft = name.endsWith('.partial') || unreadable.length === 0
      if (isLeft && !isKept.has(name) && isOurs(name))
        await rm(join(this.#files, name), { force: true })
    }
  }

  async #manifestFiles(): Promise<string[]> {
    try {
      this.#refuseLink(this.#files)
      this.#refuseLink(this.#backups)
      const names = await readdir(this.#backups)
      return names.filter((name) => name.endsWith(manifestEnd)).sort()
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error
      throw new CommandFailure(`${this.path} is not a backup folder.`)
    }
  }

  async #read(name: string): Promise<BackupManifest> {
    const path = join(this.#backups, name + manifestEnd)
    let manifest: unknown
    try {
      manifest = JSON.parse(await readFile(path, 'utf8'))
    } catch (error) {
      throw new CommandFailure(`${path} cannot be read: ${(error as Error).message}`)
    }
    const format = (manifest as Partial<BackupManifest> | null)?.format
    if (typeof format === 'number' && format > backupFormat)
      throw new CommandFailure(
        `${path} was made by a later version of Stela. Use that version to restore it.`,
      )
    if (!isManifest(manifest))
      throw new CommandFailure(`${path} is not a valid backup manifest.`)
    return manifest
  }
}

const manifestEnd = '.json'

/** All files of a backup. */
export function filesIn({ catalog, stores }: BackupManifest): BackupFile[] {
  return [catalog, ...stores]
}

/** Whether the manifest has all fields that a restore needs. */
export function isManifest(value: unknown): value is BackupManifest {
  const { format, server, created, catalog, stores } = (value ?? {}) as Partial<
    Record<keyof BackupManifest, unknown>
  >
  return (
    format === backupFormat &&
    typeof server === 'string' &&
    /^[ -~]{1,100}$/.test(server) &&
    typeof created === 'string' &&
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(created) &&
    isFile(catalog) &&
    Array.isArray(stores) &&
    stores.every((store) => {
      const { keyspace, name, uid } = store as Record<string, unknown>
      return isFile(store) && [keyspace, name, uid].every(isPlainName)
    })
  )
}

/** Whether the name is not a path, so that the file stays inside the folder. */
function isPlainName(name: unknown): boolean {
  return typeof name === 'string' && !/[/\\\0]/.test(name) && !/^\.{0,2}$/.test(name)
}

function isFile(value: unknown): value is BackupFile {
  const { key, size, sha256 } = (value ?? {}) as Partial<Record<keyof BackupFile, unknown>>
  return (
    typeof key === 'string' &&
    isBackupKey(key) &&
    Number.isSafeInteger(size) &&
    typeof sha256 === 'string' &&
    /^[0-9a-f]{64}$/.test(sha256)
  )
}

/**
 * Whether the name is that of a file that a backup writes. Other files in the folder are never
 * removed.
 */
function isOurs(name: string): boolean {
  return isBackupKey(name.replace(/\.db(?:\.partial)?$/, ''))
}

/**
 * Size of the file in bytes; undefined if the file is missing or a link, because a backup writes no
 * links.
 */
async function sizeOf(path: string): Promise<number | undefined> {
  try {
    const found = await lstat(path)
    return found.isFile() ? found.size : undefined
  } catch {
    return undefined
  }
}

async function writeDurably(path: string, text: string): Promise<void> {
  await rm(path, { force: true })
  const file = await open(path, 'wx', privateFileMode)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}
