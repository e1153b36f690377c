/** Converts rows of system_schema.indexes to indexes of the engine contract. */
import { packIfLong } from '../../../search/lexical/definition.ts'
import type { TextFolding } from '../../../language/columns/column-type.ts'
import { isCollection } from '../../../language/columns/collections.ts'
import type { ColumnPart } from '../../../language/columns/column.ts'
import { cqlName } from '../../../language/columns/cql-name.ts'
import type { Column, CqlIndex, Metric, RegularIndex, TableIndex } from '../../schema.ts'
import { quoteOptions, quoteText } from '../cluster/statement.ts'
import { readMetric, readSourceModel } from './collection-comment.ts'
import { plainFolding } from './index-ddl.ts'
import type { IndexNote } from './table-notes.ts'

/** Columns of system_schema.indexes that this module reads. */
export interface IndexRow {
  readonly keyspace_name: string
  readonly table_name: string
  readonly index_name: string
  readonly kind: string
  readonly options: ReadonlyMap<string, string>
}

/** Reads an index from its row; undefined: the Data API does not support this kind of index. */
export function readIndex(
  { index_name: name, kind, options }: IndexRow,
  columns: readonly Column[],
  note: IndexNote | undefined,
): TableIndex | undefined {
  const target = targetIn(options.get('target') ?? '')
  const column = columns.find((candidate) => candidate.name === target.column)
  if (column === undefined || kind !== 'CUSTOM' || !isStorageAttached(options))
    return undefined
  const base = { name, column: column.name }
  const analyzer = options.get('index_analyzer')?.trim() ?? ''
  if (analyzer !== '')
    return isText(column.type.type) && target.of === undefined
      ? { ...base, kind: 'text', analyzer: packIfLong(readAnalyzer(analyzer)) }
      : undefined
  if (column.type.type === 'vector')
    return { ...base, kind: 'vector', ...vectorOptions(options, note) }
  const part = partOf(column, target.of)
  return part && { ...base, kind: 'regular', part, ...foldingIn(options) }
}

/**
 * Text indexes that exist only as notes of the table, because the cluster does not support them.
 */
export function notedIndexes(
  notes: ReadonlyMap<string, IndexNote>,
  columns: readonly Column[],
): readonly TableIndex[] {
  return Array.from(notes).flatMap(([name, note]): TableIndex[] =>
    'column' in note &&
    columns.some(({ name: column, type }) => column === note.column && isText(type.type))
      ? [{ name, column: note.column, kind: 'text', analyzer: packIfLong(note.analyzer) }]
      : [],
  )
}

/** The CQL definition of an index that the Data API does not support. */
export function printIndex(row: IndexRow): CqlIndex {
  const { keyspace_name: keyspace, table_name: table, index_name: name, options } = row
  const custom = row.kind === 'CUSTOM'
  const using = custom ? ` USING ${quoteText(options.get('class_name') ?? '')}` : ''
  const given = Array.from(options).filter(
    ([option]) => option !== 'target' && option !== 'class_name',
  )
  return {
    name,
    column: targetIn(options.get('target') ?? '').column,
    cqlDefinition:
      `CREATE ${custom ? 'CUSTOM ' : ''}INDEX ${cqlName(name)} ` +
      `ON ${cqlName(keyspace)}.${cqlName(table)} (${options.get('target') ?? ''})` +
      `${using}${quoteOptions(given)};`,
  }
}

interface IndexTarget {
  readonly of: string | undefined
  readonly column: string
}

function targetIn(text: string): IndexTarget {
  const [, of, inner] = /^(keys|entries|values|full)\((.+)\)$/.exec(text) ?? []
  const column = inner ?? text
  const isQuoted = column.length > 1 && column.startsWith('"') && column.endsWith('"')
  return { of, column: isQuoted ? column.slice(1, -1).replaceAll('""', '"') : column }
}

function isStorageAttached(options: ReadonlyMap<string, string>): boolean {
  const name = options.get('class_name') ?? ''
  return /(?:^|\.)StorageAttachedIndex$/.test(name) || name.toLowerCase() === 'sai'
}

function partOf(
  { type, isFrozen }: Column,
  of: string | undefined,
): ColumnPart | undefined {
  if (type.type === 'userDefined') return undefined
  if (!isCollection(type)) return of === undefined ? 'value' : undefined
  if (isFrozen) return undefined
  if (type.type !== 'map') return of === 'values' ? 'value' : undefined
  return of === 'entries' ? 'value' : of === 'keys' || of === 'values' ? of : undefined
}

function foldingIn(options: ReadonlyMap<string, string>): Pick<RegularIndex, 'folding'> {
  const flag = (name: string, otherwise: boolean) =>
    (options.get(name) ?? String(otherwise)).toLowerCase() === 'true'
  const folding: TextFolding = {
    ascii: flag('ascii', plainFolding.ascii),
    caseSensitive: flag('case_sensitive', plainFolding.caseSensitive),
    normalize: flag('normalize', plainFolding.normalize),
  }
  const isPlain = folding.caseSensitive && !folding.ascii && !folding.normalize
  return isPlain ? {} : { folding }
}

function vectorOptions(
  options: ReadonlyMap<string, string>,
  note: IndexNote | undefined,
): { metric: Metric; sourceModel: string } {
  const noted = note && 'sourceModel' in note ? note.sourceModel : undefined
  const sourceModel = readSourceModel(options.get('source_model') ?? noted)
  const metric = options.get('similarity_function')
  return { metric: readMetric(metric ?? metricOf(sourceModel)), sourceModel }
}

/** Cassandra's default metric for a source model. */
function metricOf(sourceModel: string): Metric {
  return sourceModel === 'other' ? 'cosine' : 'dot_product'
}

function isText(type: string): boolean {
  return type === 'text' || type === 'ascii'
}

/** Reads the analyzer of an index: the name of a built-in one, or a JSON object. */
function readAnalyzer(text: string): unknown {
  if (!text.startsWith('{')) return text
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}
