/** A table as commands on its rows work with it. */
import type { Engine } from '../engine/contract.ts'
import {
  columnsInOrder,
  keyNames,
  type Column,
  type Metric,
  type Table,
} from '../engine/schema.ts'
import type { Limits } from '../limits.ts'
import type { ProviderCredentials, Models } from '../providers/models.ts'
import { embedderFor, type Embedder } from '../paging/embedder.ts'
import { nameOf } from './schema/show-column.ts'

export interface RowStore {
  readonly engine: Engine
  readonly limits: Limits
  readonly table: Table
  /** As messages name the table: "keyspace.table". */
  readonly name: string
  readonly columns: ReadonlyMap<string, Column>
  /** The types of columns that only CQL can use, by their names. */
  readonly unsupported: ReadonlyMap<string, string>
  /** All of them, in the order in which rows show them: the same list each time. */
  readonly shownColumns: readonly Column[]
  /** Columns of the primary key: partition columns, then clustering columns. */
  readonly key: readonly Column[]
  /** Key columns of CQL-only types. Rows of such tables cannot be addressed. */
  readonly unsupportedKey: readonly string[]
  /** The metric of the index that a vector column has; undefined where it has none. */
  metricOf(column: Column): Metric | undefined
  /** A built-in analyzer's name, or a recipe; undefined where the column has no text index. */
  analyzerOf(column: Column): unknown
  /** Undefined where the column has no embedding service. */
  embedderOf(column: Column): Embedder | undefined
  /** The same rows, for a request that may have brought keys for providers. */
  as(request: { readonly credentials: ProviderCredentials }): RowStore
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
  credentials: ProviderCredentials,
): RowStore {
  const { engine, limits, models } = services
  const { definition } = table
  const columns = new Map<string, Column>(
    definition.columns.map((column) => [column.name, column]),
  )
  const hasService = definition.columns.some(
    ({ type }) => type.type === 'vector' && type.service !== undefined,
  )
  const metrics = new Map<string, Metric>()
  const analyzers = new Map<string, unknown>()
  for (const index of definition.indexes)
    if (index.kind === 'vector') metrics.set(index.column, index.metric)
    else if (index.kind === 'text') analyzers.set(index.column, index.analyzer)
  const store: RowStore = {
    engine,
    limits,
    table,
    name: nameOf(table),
    columns,
    unsupported: new Map(
      definition.unsupported?.columns.map(({ name, cqlDefinition }) => [
        name,
        cqlDefinition,
      ]),
    ),
    shownColumns: columnsInOrder<Column>(definition),
    key: keyNames(definition).flatMap((name) => columns.get(name) ?? []),
    unsupportedKey: keyNames(definition).filter((name) => !columns.has(name)),
    metricOf: ({ name }) => metrics.get(name),
    analyzerOf: ({ name }) => analyzers.get(name),
    embedderOf: ({ type }) =>
      type.type === 'vector' ? embedderFor(type, models, credentials) : undefined,
    as: (request) =>
      hasService ? rowStoreOf(services, table, request.credentials) : store,
  }
  return store
}
