/**
 * Files and folders that only the user of this process can read and write, whatever its
 * umask says: data and backups hold everything, digests of tokens included.
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

/** Makes a folder, unless it is there. Parents that are missing get the usual permissions. */
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

/** Makes an empty file, for others to write to by its name. Throws where there is one. */
export function createPrivateFile(path: string): void {
  closeSync(openSync(path, 'wx', privateFileMode))
}

/**
 * Opens a file to write, in the place of one that an earlier run left there: that may be a
 * link, or belong to another user.
 */
export function openAnew(path: string): number {
  rmSync(path, { force: true })
  return openSync(path, 'wx', privateFileMode)
}

export function writeAnew(path: string, content: string): void {
  const file = openAnew(path)
  try {
    writeFileSync(file, content)
  } finally {
    closeSync(file)
  }
}

const othersMode = 0o077
/** Set on folders that many users share, as on /tmp. */
const stickyMode = 0o1000

/** Takes away from other users what they may do with files and folders that are there. */
export class Tightening {
  #changed = 0
  readonly #refusals: string[] = []

  /** A file or folder; what a link leads to is left alone. */
  tighten(path: string): void {
    // There the mode says nothing about who may do what.
    if (process.platform === 'win32') return
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (found === undefined || !(found.isFile() || found.isDirectory())) return
    if ((found.mode & othersMode) === 0) return
    if (found.isDirectory() && (found.mode & stickyMode) !== 0) {
      this.#refusals.push(`${path} is a folder that many users share`)
      return
    }
    try {
      chmodSync(path, found.mode & ~othersMode & 0o7777)
      this.#changed++
    } catch (error) {
      this.#refusals.push((error as Error).message)
    }
  }

  /** A folder first, and then the files that it holds. */
  tightenWithFiles(folder: string): void {
    this.tighten(folder)
    for (const entry of readdirSync(folder, { withFileTypes: true }))
      if (entry.isFile()) this.tighten(join(folder, entry.name))
  }

  /** One line each of what was done and of what could not be. */
  report(what: string, log: (level: 'info' | 'warn', line: string) => void): void {
    if (this.#changed > 0)
      log(
        'info',
        `Other users of this machine had access to ${what}. It was taken away: ` +
          `the permissions of ${countedFiles(this.#changed)} were changed`,
      )
    const [first] = this.#refusals
    if (first !== undefined)
      log(
        'warn',
        `Other users of this machine may have access to ${what}, and it cannot be taken ` +
          `away for ${countedFiles(this.#refusals.length)}. The first: ${first}`,
      )
  }
}

function countedFiles(count: number): string {
  return count === 1 ? '1 file or folder' : `${count} files and folders`
}
