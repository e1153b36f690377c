/**
 * The service's own settings: rows of the catalog. The version of a setting is a digest of its
 * value, so versions need no column. A setting that gets an earlier value again also gets the
 * earlier version, which is harmless, because decisions made on that value hold again.
 *
 * Only this process writes to the folder, so each write itself calls the watchers.
 */
import { hash } from 'node:crypto'
import type { Setting } from '../../contract.ts'
import type { Catalog } from './catalog.ts'

type Listener = (name: string) => void

export class Settings {
  readonly #catalog: Catalog
  readonly #watchers = new Set<{ readonly listener: Listener }>()

  constructor(catalog: Catalog) {
    this.#catalog = catalog
  }

  read(name: string): Setting | undefined {
    const value = this.#catalog.readSetting(name)
    return value === undefined ? undefined : { value, version: versionOf(value) }
  }

  /** Compares and sets the setting in one turn of the event loop, so no other write intervenes. */
  async write(
    name: string,
    value: string,
    expected: string | undefined,
  ): Promise<string | undefined> {
    if (this.read(name)?.version !== expected) return undefined
    this.#catalog.writeSetting(name, value)
    for (const { listener } of [...this.#watchers]) listener(name)
    await this.#catalog.secure()
    return versionOf(value)
  }

  watch(listener: Listener): () => void {
    const watcher = { listener }
    this.#watchers.add(watcher)
    return () => {
      this.#watchers.delete(watcher)
    }
  }
}

function versionOf(value: string): string {
  return hash('sha256', value, 'base64')
}
