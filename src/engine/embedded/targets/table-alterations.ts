/** Gives tables other columns and indexes while they are read and written. */
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
   * Changes the catalog, while nobody has locked the keyspace's schema. False: the change is no
   * longer what was asked for, and was not made.
   */
  readonly changeTables: (
    keyspace: string,
    asked: AskedChange,
    act: () => Promise<void>,
  ) => Promise<boolean>
  /** Does something while nobody changes the target. */
  readonly holding: <T>(target: StoredTarget, act: () => Promise<T>) => Promise<T>
}

/** A change as it was asked for. */
export interface AskedChange {
  /** Whether it is still what the plan says. Throws what the plan throws. */
  readonly isCurrent: () => boolean
  readonly caller: Caller
}

export class TableAlterations {
  readonly #options: AlterationsOptions
  /** Tables whose stores were looked through for what an end at the wrong time left. */
  readonly #swept = new Set<string>()

  constructor(options: AlterationsOptions) {
    this.#options = options
  }

  /**
   * To be called while the table is held. Fills new indexes before the new definition holds,
   * removes old ones after. Returns false, with nothing changed, where the change is no longer
   * what was asked for.
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
    // While a new index is filled, rows are written as if it were there. A dropped index is
    // written as long as reads use it.
    if (before.length > 0) store.writeView = viewOf(altered)
    try {
      for (const step of before) await this.#reindex(file, step)
      const isMade = await changeTables(table.keyspace, asked, () =>
        catalog.alterTable(altered, () => {
          progress.isInForce = true
          // Nobody may read a state from before the new parts of the store were there.
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
      // The change holds. What could not be removed is swept away at the next start.
    }
    for (const field of viewOf(altered).vectors.values())
      if (opened.includes(field.suffix)) await vectors.current(file, field)
    return true
  }

  /** An index that was being made or removed when the process died left something behind. */
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
    // If it fails, the next start tries again; meanwhile it only takes space.
    void holding(store.target, sweep).catch(() => undefined)
  }

  /** The target is no more. */
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
