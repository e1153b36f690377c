/**
 * Folders of targets and keyspaces that are incomplete or dropped. A folder that cannot be removed
 * only takes up space until the next attempt.
 */
import { rmdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { CatalogFile } from './catalog-file.ts'
import { removeFolder } from '../store/folder-names.ts'
import { storesIn } from './lost-stores.ts'

export interface LeftoversOptions {
  readonly dataDir: string
  readonly file: CatalogFile
  /** Moves a store that the catalog does not list into quarantine. */
  readonly quarantine: (folder: string) => void
}

export class Leftovers {
  readonly #options: LeftoversOptions
  /** Folders of targets, relative to the data folder, by uid. */
  readonly #targets = new Map<string, string>()
  /**
   * Folders of dropped keyspaces, by the temporary names that the keyspaces got when they were
   * dropped.
   */
  readonly #keyspaces = new Map<string, string>()

  constructor(options: LeftoversOptions) {
    this.#options = options
  }

  addTarget(uid: string, folder: string): void {
    this.#targets.set(uid, folder)
  }

  /** Forgets the folder of a target that was created, so that the folder stays. */
  forgetTarget(uid: string): void {
    this.#targets.delete(uid)
  }

  addKeyspace(name: string, folder: string): void {
    this.#keyspaces.set(name, folder)
  }

  /**
   * Names of leftover target folders in a keyspace's folder, with or without a row in the catalog.
   */
  targetFoldersIn(keyspaceFolder: string): string[] {
    return [...this.#targets.values()]
      .filter((path) => dirname(path) === keyspaceFolder)
      .map((path) => basename(path))
  }

  get keyspaceFolders(): string[] {
    return [...this.#keyspaces.values()]
  }

  async remove(): Promise<void> {
    const { file } = this.#options
    for (const [uid, folder] of [...this.#targets])
      await file.attempt(() => this.#removeTarget(uid, folder))
    for (const [name, folder] of [...this.#keyspaces])
      await file.attempt(() => this.#removeKeyspace(name, folder))
  }

  async #removeTarget(uid: string, folder: string): Promise<void> {
    const { dataDir, file } = this.#options
    await removeFolder(dataDir, folder)
    file.run(['DELETE FROM target WHERE uid = ?', uid])
    this.#targets.delete(uid)
  }

  async #removeKeyspace(name: string, folder: string): Promise<void> {
    const { dataDir, file, quarantine } = this.#options
    if (file.all('SELECT 1 FROM target WHERE keyspace = ?', name).length > 0) return
    if (!(await isRemovedAsEmpty(join(dataDir, folder)))) {
      for (const store of storesIn(dataDir, folder)) quarantine(store)
      await removeFolder(dataDir, folder)
    }
    file.run(['DELETE FROM keyspace WHERE name = ?', name])
    this.#keyspaces.delete(name)
  }
}

/**
 * Removes a folder if it is empty, and returns whether it was empty. So the caller only looks for
 * stores in a folder with content, which is rare.
 */
async function isRemovedAsEmpty(path: string): Promise<boolean> {
  try {
    await rmdir(path)
    return true
  } catch {
    return false
  }
}
