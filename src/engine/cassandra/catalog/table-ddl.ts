/**
 * Statements that create and alter tables. A change may need two statements: one for the definition
 * in CQL, and one for the notes of the table (table-notes.ts).
 */
import {
  keyNames,
  type Column,
  type EmbeddingService,
  type TableDefinition,
} from '../../schema.ts'
import type { NewTable, TableChange } from '../../schema-change.ts'
import type { Capabilities } from '../cluster/capabilities.ts'
import { quoteName, quoteTarget } from '../cluster/statement.ts'
import { printColumn } from './cql-type.ts'
import { createIndex, dropIndex } from './index-ddl.ts'
import {
  noNotes,
  noteOf,
  printNotes,
  readNotes,
  type IndexNote,
  type NoteSource,
  type TableNotes,
} from './table-notes.ts'

export interface TargetName {
  readonly keyspace: string
  readonly name: string
}

export function createTable(
  target: TargetName,
  { columns, partitionBy, partitionSort }: NewTable,
  can: Capabilities,
): string {
  const key = [
    `(${partitionBy.map(quoteName).join(', ')})`,
    ...partitionSort.map(({ column }) => quoteName(column)),
  ]
  const parts = [
    ...columns.map((column) => printColumn(column, target.keyspace)),
    `PRIMARY KEY (${key.join(', ')})`,
  ]
  const order = partitionSort.map(
    ({ column, direction }) => `${quoteName(column)} ${direction === 1 ? 'ASC' : 'DESC'}`,
  )
  const services = servicesOf(columns)
  const options = [
    ...(can.extensions || services.size > 0
      ? [printNotes({ ...noNotes, services }, nothing, can)]
      : []),
    ...(order.length > 0 ? [`CLUSTERING ORDER BY (${order.join(', ')})`] : []),
  ]
  const text = `CREATE TABLE ${quoteTarget(target)} (${parts.join(', ')})`
  return options.length === 0 ? text : `${text} WITH ${options.join(' AND ')}`
}

export function dropTable(target: TargetName): string {
  return `DROP TABLE IF EXISTS ${quoteTarget(target)}`
}

/** A table before the change. */
export interface ChangedTable extends TargetName {
  readonly definition: TableDefinition
  readonly source: NoteSource
}

/** Statements of the change, in the order in which they must run. */
export function changeTable(
  table: ChangedTable,
  change: TableChange,
  can: Capabilities,
): readonly string[] {
  const notes = readNotes(table.source)
  const alter = `ALTER TABLE ${quoteTarget(table)}`
  const note = (changed: TableNotes) =>
    `${alter} WITH ${printNotes(changed, table.source, can)}`
  switch (change.kind) {
    case 'addColumns': {
      const added = change.columns.map((column) => printColumn(column, table.keyspace))
      const services = servicesOf(change.columns)
      return [
        `${alter} ADD (${added.join(', ')})`,
        ...(services.size > 0
          ? [note({ ...notes, services: new Map([...notes.services, ...services]) })]
          : []),
      ]
    }
    case 'dropColumns': {
      const kept = without(notes.services, change.names)
      return [
        `${alter} DROP (${change.names.map(quoteName).join(', ')})`,
        ...(kept.size < notes.services.size ? [note({ ...notes, services: kept })] : []),
      ]
    }
    case 'putServices':
      return [note({ ...notes, services: withServices(notes.services, change.services) })]
    case 'createIndex': {
      const { index } = change
      const column = table.definition.columns.find(({ name }) => name === index.column)!
      const isKey = keyNames(table.definition).includes(column.name)
      const statement = createIndex(table, index, { ...column, isKey }, can)
      const own = noteOf(index, can)
      // The note is written first: a note without an index is ignored, but an index needs its note.
      return [
        ...(own ? [note({ ...notes, indexes: withNote(notes, index.name, own) })] : []),
        ...(statement === undefined ? [] : [statement]),
      ]
    }
    case 'dropIndex': {
      const { name } = change
      const index = table.definition.indexes.find((candidate) => candidate.name === name)
      const hasNote = notes.indexes.has(name)
      return [
        ...(index?.kind === 'text' && !can.indexAnalyzer
          ? []
          : [dropIndex(table.keyspace, name)]),
        ...(hasNote ? [note({ ...notes, indexes: without(notes.indexes, [name]) })] : []),
      ]
    }
  }
}

const nothing: NoteSource = { comment: null, extensions: null }

function servicesOf(columns: readonly Column[]): Map<string, EmbeddingService> {
  return new Map(
    columns.flatMap(({ name, type }) =>
      type.type === 'vector' && type.service ? [[name, type.service] as const] : [],
    ),
  )
}

function withServices(
  before: ReadonlyMap<string, EmbeddingService>,
  changed: ReadonlyMap<string, EmbeddingService | null>,
): Map<string, EmbeddingService> {
  const services = new Map(before)
  for (const [column, service] of changed)
    if (service === null) services.delete(column)
    else services.set(column, service)
  return services
}

function withNote({ indexes }: TableNotes, name: string, note: IndexNote) {
  return new Map([...indexes, [name, note]])
}

function without<T>(map: ReadonlyMap<string, T>, names: readonly string[]): Map<string, T> {
  return new Map([...map].filter(([name]) => !names.includes(name)))
}
