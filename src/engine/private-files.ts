/**
 * Files and folders that only the user of this process can access, whatever the umask is, because
 * data and backups contain all stored content, including digests of tokens.
 */
import {
  chmodSync,
  closeSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'

export const privateFolderMode = 0o700
export const privateFileMode = 0o600

/** Creates a folder unless it exists. Missing parents get the default permissions. */
export function makePrivateFolder(path: string): void {
  mkdirSync(dirname(path), { recursive: true })
  try {
    mkdirSync(path, { mode: privateFolderMode })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EEXIST' || !readableFolder(path)) throw error
  }
}

function readableFolder(path: string): boolean {
  try {
    return lstatSync(realpathSync(path)).isDirectory()
  } catch {
    return false
  }
}

/** Creates an empty file for a writer that opens it by name. Throws when the file exists. */
export function createPrivateFile(path: string): void {
  closeSync(openSync(path, 'wx', privateFileMode))
}

/**
 * Opens a new file for writing. Removes an existing file at this path first, because it may be a
 * symbolic link, or belong to another user.
 */
export function openReplacing(path: string): number {
  rmSync(path, { force: true })
  return openSync(path, 'wx', privateFileMode)
}

export function writeReplacing(path: string, content: string): void {
  const file = openReplacing(path)
  try {
    writeFileSync(file, content)
  } finally {
    closeSync(file)
  }
}

const othersMode = 0o077
/** Sticky bit: set on folders that many users share, such as /tmp. */
const stickyMode = 0o1000

/** Removes the permissions of other users from existing files and folders. */
export class PermissionFixer {
  #changed = 0
  readonly #refusals: string[] = []

  /** Tightens the permissions of a file or folder. Symbolic links are not followed. */
  tighten(path: string): void {
    // On Windows the mode does not show access rights.
    if (process.platform === 'win32') return
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (found === undefined || !(found.isFile() || found.isDirectory())) return
    if ((found.mode & othersMode) === 0) return
    if (found.isDirectory() && (found.mode & stickyMode) !== 0) {
      this.#refusals.push(`${path} is a folder that several users share`)
      return
    }
    try {
      chmodSync(path, found.mode & ~othersMode & 0o7777)
      this.#changed++
    } catch (error) {
      this.#refusals.push((error as Error).message)
    }
  }

  /** Tightens the permissions of a folder, then those of the files directly in it. */
  tightenWithFiles(folder: string): void {
    this.tighten(folder)
    for (const entry of readdirSync(folder, { withFileTypes: true }))
      if (entry.isFile()) this.tighten(join(folder, entry.name))
  }

  /** Logs one line about the changes and one about the failures, if there are any. */
  report(what: string, log: (level: 'info' | 'warn', line: string) => void): void {
    if (this.#changed > 0)
      log(
        'info',
        `Other users of this machine had access to ${what}. The server removed this ` +
          `access: it changed the permissions of ${countedFiles(this.#changed)}`,
      )
    const [first] = this.#refusals
    if (first !== undefined)
      log(
        'warn',
        `Other users of this machine may have access to ${what}. The permissions of ` +
          `${countedFiles(this.#refusals.length)} cannot be changed. The first: ` +
          first,
      )
  }
}

function countedFiles(count: number): string {
  return count === 1 ? '1 file or folder' : `${count} files and folders`
}
