/** Changes columns and indexes of tables while they are read and written. */
import { viewOf } from '../format/views.ts'
import type { Caller } from '../../../caller/caller.ts'
import type { TableChange } from '../../schema-change.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { OpenStores, OpenStore } from './open-stores.ts'
import type { Readers } from '../reader-threads/readers.ts'
import type { IndexStep } from '../write/reindex.ts'
import type { StoredTable, StoredTarget } from '../schema/stored-schema.ts'
import { changesOf } from './table-changes.ts'
import type { Vectors } from '../vectors/vectors.ts'
import type { Writer } from '../write/writer.ts'

export interface AlterationsOptions {
  readonly catalog: Catalog
  readonly stores: OpenStores
  readonly writer: Writer
  readonly readers: Readers
  readonly vectors: Vectors
  /**
   * Changes the catalog while no command has locked the keyspace's schema. False: the change is not
   * current any more, and was not made.
   */
  readonly changeTables: (
    keyspace: string,
    asked: AskedChange,
    act: () => Promise<void>,
  ) => Promise<boolean>
  /** Runs `act` while no other change holds the target. */
  readonly holding: <T>(target: StoredTarget, act: () => Promise<T>) => Promise<T>
}

export interface AskedChange {
  /** Whether the plan would still return this change. Throws the errors of the plan. */
  readonly isCurrent: () => boolean
  readonly caller: Caller
}

export class TableAlterations {
  readonly #options: AlterationsOptions
  /** Uids of tables that were swept for remains of interrupted index builds. */
  readonly #swept = new Set<string>()

  constructor(options: AlterationsOptions) {
    this.#options = options
  }

  /**
   * Alters a table, which the caller must hold. Builds new indexes before the new definition takes
   * effect, and removes old indexes afterwards. Returns false, and changes nothing, when the change
   * is not current any more.
   */
  async alter(
    store: OpenStore,
    table: StoredTable,
    change: TableChange,
    asked: AskedChange,
  ): Promise<boolean> {
    const { catalog, stores, readers, vectors, changeTables } = this.#options
    const { file } = store
    const altered = catalog.altered(table, change)
    const { before, after, opened, closed } = changesOf(table, altered)
    const current = store.writeView
    const progress = { isInForce: false }
    // While a new index is being built, writes maintain it already. A dropped index is maintained
    // as long as reads use it.
    if (before.length > 0) store.writeView = viewOf(altered)
    try {
      for (const step of before) await this.#reindex(file, step)
      const isMade = await changeTables(table.keyspace, asked, () =>
        catalog.alterTable(altered, () => {
          progress.isInForce = true
          // The shared snapshot ends here, because it lacks the new tables of the store.
          stores.use(altered)!.reader.store.endRead()
        }),
      )
      if (!isMade) return false
    } finally {
      if (!progress.isInForce) store.writeView = current
    }
    try {
      for (const suffix of closed) {
        await readers.forget({ file, suffix })
        await vectors.drop({ file, suffix })
      }
      for (const step of after) await this.#reindex(file, step)
    } catch {
      // The change is in effect. Remaining old indexes are swept when the store is first opened
      // after a restart.
    }
    for (const field of viewOf(altered).vectors.values())
      if (opened.includes(field.suffix)) await vectors.current(file, field)
    return true
  }

  /** Removes the remains of index builds and removals that a crash interrupted. */
  sweepSoon(store: OpenStore): void {
    const { stores, holding } = this.#options
    const { uid, kind } = store.target
    if (kind !== 'table' || this.#swept.has(uid)) return
    const sweep = async () => {
      const { file, target } = store
      if (!stores.isOpen(store) || target.kind !== 'table') return
      await stores.keeping(store, () =>
        this.#reindex(file, { kind: 'sweep', table: target }),
      )
      this.#swept.add(uid)
    }
    // If the sweep fails, the remains only take space, and the next opening of the store tries
    // again.
    void holding(store.target, sweep).catch(() => undefined)
  }

  forget({ uid }: StoredTarget): void {
    this.#swept.delete(uid)
  }

  async #reindex(file: string, step: IndexStep): Promise<void> {
    let next: number | undefined = 0
    while (next !== undefined) {
      const part: IndexStep = 'after' in step ? { ...step, after: next } : step
      next = await this.#options.writer.reindex(file, part)
    }
  }
}
