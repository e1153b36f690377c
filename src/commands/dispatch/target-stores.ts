/**
 * What commands work with, kept for as long as the engine gives out the same targets. By the
 * engine first: what acts for one caller must not act for another.
 */
import type { DocumentStore } from '../../collections/document-store.ts'
import type { Engine } from '../../engine/contract.ts'
import type { Collection, Table } from '../../engine/schema.ts'
import type { RowStore } from '../../tables/row-store.ts'

export class TargetStores {
  readonly #documents: Known<Collection, DocumentStore> = new WeakMap()
  readonly #rows: Known<Table, RowStore> = new WeakMap()

  documents(
    engine: Engine,
    collection: Collection,
    make: () => DocumentStore,
  ): DocumentStore {
    return known(this.#documents, engine, collection, make)
  }

  rows(engine: Engine, table: Table, make: () => RowStore): RowStore {
    return known(this.#rows, engine, table, make)
  }
}

type Known<T extends object, Store> = WeakMap<Engine, WeakMap<T, Store>>

function known<T extends object, Store>(
  all: Known<T, Store>,
  engine: Engine,
  target: T,
  make: () => Store,
): Store {
  let ofEngine = all.get(engine)
  if (ofEngine === undefined) all.set(engine, (ofEngine = new WeakMap()))
  let found = ofEngine.get(target)
  if (found === undefined) ofEngine.set(target, (found = make()))
  return found
}
