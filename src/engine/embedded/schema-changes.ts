/**
 * Schema changes of keyspaces, collections, tables and types. Each is atomic.
 *
 * A change locks the targets that it alters or drops, and waits for its turn at the catalog only to
 * commit (schema-turns.ts). Before the commit, the change is planned again, because another change
 * may have been committed in between. If the plan differs, the change starts again.
 */
import { isDeepStrictEqual } from 'node:util'
import { ownCaller, type Caller } from '../../caller/caller.ts'
import { EngineError } from '../errors.ts'
import type { Target } from '../schema.ts'
import type { SchemaChange, SchemaPlan, TableChange } from '../schema-change.ts'
import type { Catalog } from './catalog/catalog.ts'
import { changeCatalog } from './catalog/change-catalog.ts'
import type { StoredTable, StoredTarget } from './schema/stored-schema.ts'
import type { AskedChange, TableAlterations } from './targets/table-alterations.ts'
import { affectedTargets } from './targets/touched-targets.ts'
import type { StoreHealth } from './catalog/store-health.ts'
import type { SchemaLocks } from './schema-locks.ts'
import type { SchemaTurns } from './schema-turns.ts'
import type { OpenStore } from './targets/open-stores.ts'

export interface SchemaChangesOptions {
  readonly catalog: Catalog
  readonly health: StoreHealth
  readonly turns: SchemaTurns
  readonly locks: SchemaLocks
  readonly alterations: TableAlterations
  /** Runs `act` on the store of a table, and keeps the store open meanwhile. */
  readonly keeping: <T>(
    table: Target,
    act: (store: OpenStore) => Promise<T>,
  ) => T | Promise<T>
  /** Closes the stores of dropped targets on all threads. */
  readonly closeStores: (targets: readonly StoredTarget[]) => Promise<void>
}

export class SchemaChanges {
  readonly #options: SchemaChangesOptions

  constructor(options: SchemaChangesOptions) {
    this.#options = options
  }

  createKeyspace(name: string, caller: Caller): Promise<boolean> {
    const { catalog, turns } = this.#options
    return turns.inTurn(caller, () => this.#change(() => catalog.createKeyspace(name)))
  }

  async dropKeyspace(name: string, caller: Caller): Promise<boolean> {
    const { catalog, turns } = this.#options
    const uidsIn = () => catalog.schema(name)?.targets.map(({ uid }) => uid) ?? []
    for (;;) {
      const uids = uidsIn()
      const isCurrent = () => isDeepStrictEqual(uidsIn(), uids)
      const dropped = await turns.holding(uids, caller, async () => {
        const targets = await turns.inTurn(caller, async () =>
          isCurrent() ? this.#change(() => catalog.startDropKeyspace(name)) : 'changed',
        )
        if (targets !== 'changed') await this.#finishDrop(targets ?? [], caller)
        return targets
      })
      if (dropped !== 'changed') return dropped !== undefined
    }
  }

  async change(keyspace: string, plan: SchemaPlan, caller: Caller): Promise<boolean> {
    const { catalog, turns } = this.#options
    const planned = () => {
      const schema = catalog.schema(keyspace)
      if (schema === undefined)
        throw new EngineError('gone', `${keyspace} no longer exists`)
      return plan(schema, catalog.counts)
    }
    for (;;) {
      const change = planned()
      if (change === undefined) return false
      const touched = () => affectedTargets(change, catalog.schema(keyspace)!)
      const uids = touched()
      const isCurrent = () =>
        isDeepStrictEqual(planned(), change) && isDeepStrictEqual(touched(), uids)
      const isMade = await turns.holding(uids, caller, () =>
        this.#carryOut(keyspace, change, { isCurrent, caller }),
      )
      if (isMade) return true
    }
  }

  /**
   * Changes definitions of tables while no command relies on them (schema-locks.ts). Returns false,
   * and changes nothing, when the change is no longer current.
   */
  async changeTables(
    keyspace: string,
    asked: AskedChange,
    act: () => Promise<void>,
  ): Promise<boolean> {
    const { turns, locks } = this.#options
    return turns.holding([keyspace], asked.caller, () =>
      locks.exclude(keyspace, () => this.#inTurn(asked, act)),
    )
  }

  async #carryOut(
    keyspace: string,
    change: SchemaChange,
    asked: AskedChange,
  ): Promise<boolean> {
    if (!asked.isCurrent()) return false
    const { catalog } = this.#options
    const found = (name: string) => catalog.find(keyspace, name)!.stored
    if (change.kind === 'dropTarget') return this.#drop(found(change.name), asked)
    if ('table' in change)
      return this.#alter(found(change.table) as StoredTable, change, asked)
    const carryOut = () => catalog.carryOut(keyspace, change)
    return change.kind === 'alterType'
      ? this.changeTables(keyspace, asked, carryOut)
      : this.#inTurn(asked, carryOut)
  }

  async #alter(
    table: StoredTable,
    change: TableChange,
    asked: AskedChange,
  ): Promise<boolean> {
    const { keeping, alterations } = this.#options
    return keeping(table, (store) => alterations.alter(store, table, change, asked))
  }

  async #drop(target: StoredTarget, asked: AskedChange): Promise<boolean> {
    const { catalog } = this.#options
    const isStarted = await this.#inTurn(asked, () => catalog.startDrop(target))
    if (isStarted) await this.#finishDrop([target], asked.caller)
    return isStarted
  }

  async #finishDrop(
    targets: readonly StoredTarget[],
    { principalName }: Caller,
  ): Promise<void> {
    const { catalog, turns, closeStores } = this.#options
    await closeStores(targets)
    // The name of a dropped target is free already. Deleting its files must go on even when the
    // caller has left.
    await turns.inTurn({ ...ownCaller(), principalName }, () =>
      this.#change(() => catalog.finishDrop(targets)),
    )
  }

  /**
   * Makes a change when its turn at the catalog has come. Returns false, and does nothing, when the
   * change is no longer current.
   */
  #inTurn({ isCurrent, caller }: AskedChange, act: () => Promise<void>): Promise<boolean> {
    return this.#options.turns.inTurn(caller, async () => {
      if (!isCurrent()) return false
      await this.#change(act)
      return true
    })
  }

  #change<T>(act: () => Promise<T>): Promise<T> {
    const { catalog, health } = this.#options
    return changeCatalog(catalog, health, act)
  }
}
