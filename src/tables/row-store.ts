/** A table as commands on its rows work with it. */
import type { Engine } from '../engine/contract.ts'
import { viewOf } from '../engine/record-view.ts'
import type { RowView } from '../engine/row-view.ts'
import type { Column, Table } from '../engine/schema.ts'
import type { Limits } from '../limits.ts'
import type { Credentials, Models } from '../providers/models.ts'
import { embedderFor, type Embedder } from '../paging/embedder.ts'
import { locksOf, type Locks } from '../paging/locks.ts'
import type { Source } from '../paging/read.ts'
import { keyNames } from './primary-key.ts'
import { nameOf } from './schema/show-column.ts'

export interface RowStore extends Source {
  readonly table: Table
  readonly view: RowView
  /** As messages name the table: "keyspace.table". */
  readonly name: string
  readonly columns: ReadonlyMap<string, Column>
  /** Of the primary key, in its order: partition columns, then those of the sort. */
  readonly key: readonly Column[]
  readonly locks: Locks
  /** Undefined where the column has no embedding service. */
  embedderOf(column: Column): Embedder | undefined
  /** The same rows, for a request that brought keys for providers. */
  as(credentials: Credentials): RowStore
}

/** What rows work with, of the whole server. */
export interface RowServices {
  readonly engine: Engine
  readonly limits: Limits
  readonly models: Pick<Models, 'embed'>
}

export function rowStoreOf(
  services: RowServices,
  table: Table,
  credentials: Credentials,
): RowStore {
  const { engine, limits, models } = services
  const { definition } = table
  const columns = new Map(definition.columns.map((column) => [column.name, column]))
  const hasService = definition.columns.some(
    ({ type }) => type.type === 'vector' && type.service !== undefined,
  )
  const store: RowStore = {
    engine,
    limits,
    owner: table,
    table,
    view: viewOf(table) as RowView,
    name: nameOf(table),
    columns,
    key: keyNames(definition).map((name) => columns.get(name)!),
    locks: locksOf(engine),
    embedderOf: ({ type }) =>
      type.type === 'vector' ? embedderFor(type, models, credentials) : undefined,
    as: (given) => (hasService ? rowStoreOf(services, table, given) : store),
  }
  return store
}
