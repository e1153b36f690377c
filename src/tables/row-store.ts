/** A table with the services that commands on its rows need. */
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
import type { LexicalOperator } from '../language/sorts/sort.ts'
import { embedderFor, type Embedder } from '../paging/embedder.ts'
import { nameOf } from './schema/show-column.ts'

export interface RowStore {
  readonly engine: Engine
  readonly limits: Limits
  /** Default for sorts by terms. */
  readonly lexicalOperator: LexicalOperator
  readonly table: Table
  /** Name in messages: "keyspace.table". */
  readonly name: string
  readonly columns: ReadonlyMap<string, Column>
  /** CQL types of CQL-only columns, by name. */
  readonly unsupported: ReadonlyMap<string, string>
  /** All columns in reply order. Always the same array, so that it can be the key of a cache. */
  readonly shownColumns: readonly Column[]
  /** Columns of the primary key: partition columns, then clustering columns. */
  readonly key: readonly Column[]
  /** Key columns of CQL-only types. Rows of such tables cannot be addressed. */
  readonly unsupportedKey: readonly string[]
  /** The metric of a vector column's index; undefined without an index. */
  metricOf(column: Column): Metric | undefined
  /**
   * Name or definition of the analyzer of the column's text index; undefined without one.
   */
  analyzerOf(column: Column): unknown
  /** The embedder of a vector column; undefined when the column has no embedding service. */
  embedderOf(column: Column): Embedder | undefined
  /** A copy that uses the provider credentials of a request. */
  as(request: { readonly credentials: ProviderCredentials }): RowStore
}

/** Server-wide services for commands on rows. */
export interface RowServices {
  readonly engine: Engine
  readonly limits: Limits
  readonly models: Pick<Models, 'embed'>
  readonly lexicalOperator: LexicalOperator
}

export function rowStoreOf(
  services: RowServices,
  table: Table,
  credentials: ProviderCredentials,
): RowStore {
  const { engine, limits, models, lexicalOperator } = services
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
    lexicalOperator,
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
