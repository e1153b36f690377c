/** Errors of the schema: tables, indexes and user-defined types. */
import {
  byReason,
  counted,
  list,
  request,
  server,
  withArticle,
  type CatalogEntry,
} from './catalog-entry.ts'

const schema = request('SCHEMA')

/** A table and its columns as "name(type)", for messages. */
interface TableFacts {
  readonly table: string
  readonly columns: readonly string[]
}

function columnsOf(v: TableFacts): string {
  return `Columns of ${v.table}: ${list(v.columns)}.`
}

/** Supported values, and the values that the request used. */
interface Choice {
  readonly supported: readonly string[]
  readonly used: readonly string[]
}

const columnToIndex =
  'Send the name of a column. To index the keys or values of a map, send {"<column>": ' +
  '"$keys"} or {"<column>": "$values"}; to index the values of a list or set, ' +
  '{"<column>": "$values"}.'

export const tableSchemaErrors = {
  // Errors of names that exist already, and of unknown names.
  CANNOT_ADD_EXISTING_TABLE: {
    ...schema,
    title: 'The name is already used',
    body: (v: { name: string; kind: string }) =>
      `"${v.name}" already exists as ${withArticle(v.kind)}. Choose another name, or ` +
      'send options.ifNotExists to ignore this.',
  },
  CANNOT_ADD_EXISTING_INDEX: {
    ...schema,
    title: 'Index already exists',
    body: (v: { name: string; table: string }) =>
      `The index "${v.name}" already exists, on the table "${v.table}". Choose another ` +
      'name, or send options.ifNotExists to ignore this.',
  },
  CANNOT_ADD_EXISTING_TYPE: {
    ...schema,
    title: 'Type already exists',
    body: (v: { name: string }) =>
      `The type "${v.name}" already exists. Choose another name, or send ` +
      'options.ifNotExists to ignore this.',
  },
  CANNOT_DROP_UNKNOWN_TABLE: {
    ...schema,
    title: 'Table not found',
    body: (v: { name: string; existing: readonly string[] }) =>
      `There is no table "${v.name}". Tables: ${list(v.existing)}. Send ` +
      'options.ifExists to drop a table only if it exists.',
  },
  CANNOT_DROP_UNKNOWN_INDEX: {
    ...schema,
    title: 'Index not found',
    body: (v: { name: string; existing: readonly string[] }) =>
      `There is no index "${v.name}". Indexes: ${list(v.existing)}. Send ` +
      'options.ifExists to drop an index only if it exists.',
  },
  CANNOT_DROP_UNKNOWN_TYPE: {
    ...schema,
    title: 'Type not found',
    body: (v: { name: string; existing: readonly string[] }) =>
      `There is no type "${v.name}". Types: ${list(v.existing)}. Send options.ifExists ` +
      'to drop a type only if it exists.',
  },
  CANNOT_DROP_TYPE_USED_BY_TABLE: {
    ...schema,
    title: 'Type is in use',
    body: (v: { name: string; tables: readonly string[] }) =>
      `Columns of these tables have the type "${v.name}": ${list(v.tables)}. Drop ` +
      'those columns or tables first.',
  },
  INVALID_KEYSPACE: {
    ...schema,
    title: 'Keyspace no longer exists',
    body: (v: { keyspace: string }) =>
      `The keyspace "${v.keyspace}" was dropped while its schema was read.`,
  },

  // Errors of invalid names.
  UNSUPPORTED_COLUMN_NAME: {
    ...schema,
    code: 'UNSUPPORTED_SCHEMA_NAME',
    title: 'Invalid column or field name',
    body: (v: { kind: string; name: string; max: number; reason: string }) =>
      `${v.kind} names must have 1 to ${v.max} characters, but ${v.name} was sent: ` +
      `${v.reason}.`,
  },
  INDEXED_COLUMN_NAME_REFUSED: {
    ...schema,
    code: 'UNSUPPORTED_SCHEMA_NAME',
    title: 'Index column name not in snake case',
    body: (v: { column: string }) =>
      'The name of an indexed column may contain only lower-case letters, digits and ' +
      `underscores; "${v.column}" contains others. The server was started with ` +
      '--snake-case-indexes on.',
  },

  // Errors of types of columns and fields.
  UNKNOWN_DATA_TYPE: {
    ...schema,
    title: 'Unknown type',
    body: (v: Choice) => `There is no type ${list(v.used)}. Types: ${list(v.supported)}.`,
  },
  UNKNOWN_PRIMITIVE_DATA_TYPE: {
    ...schema,
    title: 'Type not found',
    body: (v: Choice) =>
      `There is no type ${list(v.used)}. Types: ${list(v.supported)}. For a type that ` +
      'you created, write {"type": "userDefined", "udtName": "<name>"}.',
  },
  UNSUPPORTED_DATA_TYPE_TABLE_CREATION: {
    ...schema,
    title: 'Column type not supported in createTable',
    body: (v: Choice) =>
      `These columns cannot be created: ${list(v.used)}. Supported types: ` +
      `${list(v.supported)}.`,
  },
  CANNOT_ADD_UNSUPPORTED_DATA_TYPE_COLUMNS: {
    ...schema,
    title: 'Columns of this type cannot be added',
    body: (v: Choice) =>
      `These columns cannot be added: ${list(v.used)}. Supported types: ` +
      `${list(v.supported)}.`,
  },
  UNSUPPORTED_LIST_DEFINITION: {
    ...schema,
    title: 'Unsupported element type of a list',
    body: (v: Choice) =>
      `The valueType of a list cannot be ${list(v.used)}. Supported types: ` +
      `${list(v.supported)}.`,
  },
  UNSUPPORTED_SET_DEFINITION: {
    ...schema,
    title: 'Unsupported element type of a set',
    body: (v: Choice) =>
      `The valueType of a set cannot be ${list(v.used)}. Supported types: ` +
      `${list(v.supported)}.`,
  },
  UNSUPPORTED_SET_DEFINITION_IN_STORE: {
    ...schema,
    code: 'UNSUPPORTED_SET_DEFINITION',
    title: 'Element type of a set not supported by the database',
    body: (v: { target: string; problem: string }) =>
      `The cluster of ${v.target} does not support sets of durations, because ` +
      `durations have no order: ${v.problem}. Use a list.`,
  },
  UNSUPPORTED_MAP_DEFINITION: {
    ...schema,
    title: 'Unsupported key or value type of a map',
    body: (v: { member: string } & Choice) =>
      `The ${v.member} of a map cannot be ${list(v.used)}. Supported types: ` +
      `${list(v.supported)}.`,
  },
  MISSING_DIMENSION_IN_VECTOR_COLUMN: {
    ...schema,
    title: 'Missing dimension of a vector column',
    body: (v: { column: string }) =>
      `The column "${v.column}" requires a dimension, which is the number of elements ` +
      'of its vectors, or a service whose model has a fixed one.',
  },
  UNSUPPORTED_VECTOR_DIMENSION: {
    ...schema,
    title: 'The dimension is not a positive integer',
    body: (v: { column: string; value: string }) =>
      `The dimension of the column "${v.column}" cannot be ${v.value}. It must be an ` +
      'integer of at least 1.',
  },
  INVALID_USER_DEFINED_TYPE_NAME: {
    ...schema,
    title: 'Missing name of a user-defined type',
    body: (v: { column: string; name: string }) =>
      `The column "${v.column}" has a user-defined type, but its udtName is ${v.name}. ` +
      'Set udtName to the name of the type.',
  },
  UNKNOWN_USER_DEFINED_TYPE: {
    ...schema,
    title: 'User-defined type not found',
    body: (v: { names: readonly string[]; existing: readonly string[] }) =>
      `The keyspace has no type ${list(v.names)}. Types: ${list(v.existing)}. Create ` +
      'the type first with createType.',
  },

  // Errors of primary keys.
  MISSING_PARTITION_COLUMNS: {
    ...schema,
    title: 'Missing partition columns in the primary key',
    body: (v: { columns: readonly string[] }) =>
      'primaryKey.partitionBy is empty. It must contain at least one of the columns: ' +
      `${list(v.columns)}.`,
  },
  UNKNOWN_PARTITION_COLUMNS: {
    ...schema,
    title: 'Unknown columns in the primary key',
    body: (v: { columns: readonly string[]; unknown: readonly string[] }) =>
      'primaryKey.partitionBy contains columns that the definition does not have: ' +
      `${list(v.unknown)}. Columns: ${list(v.columns)}.`,
  },
  UNKNOWN_PARTITION_SORT_COLUMNS: {
    ...schema,
    title: 'Unknown columns in the partition sort',
    body: (v: { columns: readonly string[]; unknown: readonly string[] }) =>
      'primaryKey.partitionSort contains columns that the definition does not have: ' +
      `${list(v.unknown)}. Columns: ${list(v.columns)}.`,
  },
  PRIMARY_KEY_DEFINITION_INCORRECT: {
    ...schema,
    title: 'Unsupported primary key columns',
    body: byReason({
      twice: (v: { target: string; column: string }) =>
        `${v.target}: the primary key has the column "${v.column}" twice.`,
      type: (v: { target: string; column: string; type: string }) =>
        `${v.target}: the column "${v.column}" cannot be part of the primary key, because it ` +
        `is of the type ${v.type}.`,
    }),
  },

  // Errors of alterTable.
  MISSING_ALTER_TABLE_OPERATIONS: {
    ...schema,
    title: 'The operation has no columns',
    body: (v: { operation: string }) =>
      `${v.operation} requires at least one column in "columns".`,
  },
  CANNOT_ADD_EXISTING_COLUMNS: {
    ...schema,
    title: 'Columns already exist',
    body: (v: TableFacts & { duplicates: readonly string[] }) =>
      `${columnsOf(v)} These already exist and cannot be added: ${list(v.duplicates)}.`,
  },
  CANNOT_ADD_PREVIOUSLY_DROPPED_COLUMN: {
    ...schema,
    title: 'A dropped column cannot be re-added with another type',
    body: (v: { target: string; problem: string }) =>
      `The cluster of ${v.target} can add a dropped column again only with its old ` +
      `type: ${v.problem}. Use that type or another column name, or create another ` +
      'table and copy the rows.',
  },
  CANNOT_DROP_USER_DEFINED_COLUMNS: {
    ...schema,
    title: 'The column cannot be dropped',
    body: (v: { target: string; problem: string }) =>
      `The cluster of ${v.target} cannot drop columns of user-defined types: ` +
      `${v.problem}. Clear the column with $unset, or create another table and copy ` +
      'the rows.',
  },
  CANNOT_DROP_PRIMARY_KEY_COLUMNS: {
    ...schema,
    title: 'Columns of the primary key cannot be dropped',
    body: (v: TableFacts & { key: readonly string[]; offending: readonly string[] }) =>
      `${columnsOf(v)} Primary key: ${list(v.key)}. These columns cannot be dropped: ` +
      `${list(v.offending)}.`,
  },
  CANNOT_DROP_UNKNOWN_COLUMNS: {
    ...schema,
    title: 'Unknown columns to drop',
    body: (v: TableFacts & { offending: readonly string[] }) =>
      `${columnsOf(v)} The table does not have: ${list(v.offending)}.`,
  },
  CANNOT_DROP_INDEXED_COLUMNS: {
    ...schema,
    title: 'Indexed columns cannot be dropped',
    body: (
      v: TableFacts & {
        indexed: readonly string[]
        offending: readonly string[]
        indexes: readonly string[]
      },
    ) =>
      `${columnsOf(v)} Indexed columns: ${list(v.indexed)}. To drop ` +
      `${list(v.offending)}, first drop the indexes: ${list(v.indexes)}.`,
  },
  CANNOT_VECTORIZE_UNKNOWN_COLUMNS: {
    ...schema,
    title: 'Unknown columns for an embedding service',
    body: vectorizeProblem,
  },
  CANNOT_VECTORIZE_NON_VECTOR_COLUMNS: {
    ...schema,
    title: 'Embedding service on a column that is not a vector',
    body: vectorizeProblem,
  },
  CANNOT_DROP_VECTORIZE_FROM_UNKNOWN_COLUMNS: {
    ...schema,
    title: 'Unknown columns to remove an embedding service from',
    body: vectorizeProblem,
  },
  CANNOT_DROP_VECTORIZE_FROM_NON_VECTOR_COLUMNS: {
    ...schema,
    title: 'Embedding service removed from a column that is not a vector',
    body: vectorizeProblem,
  },

  // Errors of indexes.
  UNKNOWN_INDEX_COLUMN: {
    ...schema,
    title: 'Unknown column to index',
    body: (v: TableFacts & { column: string }) =>
      `${columnsOf(v)} There is no column "${v.column}".`,
  },
  UNKNOWN_INDEX_TYPE: {
    ...schema,
    title: 'Unknown index type',
    body: (v: { known: readonly string[]; used: string }) =>
      `indexType cannot be "${v.used}". It must be one of: ${list(v.known)}.`,
  },
  UNSUPPORTED_INDEX_TYPE: {
    ...schema,
    title: 'Index type not supported by this command',
    body: (v: { command: string; expected: string; used: string }) =>
      `${v.command} creates indexes of the type ${v.expected}, but indexType is ` +
      `"${v.used}". Leave indexType out, or send the command that creates that type.`,
  },
  INVALID_FORMAT_FOR_INDEX_CREATION_COLUMN: {
    ...schema,
    title: 'Malformed index column',
    body: byReason({
      type: (v: { type: string }) =>
        `definition.column is of type ${v.type}. ${columnToIndex}`,
      members: (v: { members: number }) =>
        `definition.column has ${counted(v.members, 'member')}, but must have one. ` +
        columnToIndex,
      selector: (v: { column: string }) =>
        `definition.column must select "$keys" or "$values" of "${v.column}". ` +
        columnToIndex,
      part: (v: { column: string; type: string; part: string }) =>
        `"${v.column}" is of the type ${v.type}, which has no "${v.part}". ${columnToIndex}`,
    }),
  },
  UNSUPPORTED_INDEXING_FOR_DATA_TYPES: {
    ...schema,
    title: 'Columns of this type cannot be indexed',
    body: (v: TableFacts & { column: string; supported: readonly string[] }) =>
      `${columnsOf(v)} createIndex cannot index ${v.column}. Supported types: ` +
      `${list(v.supported)}; also lists, sets and maps without blobs and durations. ` +
      'Use createVectorIndex for vectors.',
  },
  UNSUPPORTED_INDEXING_FOR_FROZEN_COLUMN: {
    ...schema,
    title: 'Frozen columns cannot be indexed',
    body: (v: TableFacts & { column: string }) =>
      `${columnsOf(v)} createIndex cannot index ${v.column}: it is frozen, so its ` +
      'elements cannot be compared one by one.',
  },
  INVALID_INDEX_DEFINITION: {
    ...schema,
    title: 'Index not supported on the table',
    body: byReason({
      partition: (v: { target: string; column: string }) =>
        `${v.target}: "${v.column}" is the only partition column, so filters on it ` +
        'need no index.',
      dimension: (v: { target: string; column: string; dimension: number; max: number }) =>
        `${v.target}: the dimension of "${v.column}" is ${v.dimension}; the maximum of ` +
        `an index is ${v.max}.`,
      same: (v: { target: string; column: string; index: string; existing: string }) =>
        `${v.target}: the index "${v.index}" on "${v.column}" would be the same as ` +
        `"${v.existing}".`,
    }),
  },
  UNSUPPORTED_TEXT_ANALYSIS_FOR_DATA_TYPES: {
    ...schema,
    title: 'Text options on a column that is not text',
    body: (v: TableFacts & { column: string; options: readonly string[] }) =>
      `${columnsOf(v)} The options ${list(v.options)} apply only to text and ascii ` +
      `values, which the index on ${v.column} does not have. Leave the options out.`,
  },
  CANNOT_ANALYZE_ENTRIES_ON_MAP_COLUMNS: {
    ...schema,
    title: 'Text options are not supported on map entries',
    body: (v: TableFacts & { column: string; options: readonly string[] }) =>
      `${columnsOf(v)} The options ${list(v.options)} do not apply to the entries of ` +
      `the map ${v.column}. Leave the options out, or index its "$keys" or "$values".`,
  },
  UNSUPPORTED_TEXT_INDEX_FOR_DATA_TYPES: {
    ...schema,
    title: 'Text index on a column that is not text',
    body: (v: TableFacts & { column: string }) =>
      `${columnsOf(v)} A text index requires a column of the type text or ascii, not ` +
      `${v.column}.`,
  },
  UNSUPPORTED_VECTOR_INDEX_FOR_DATA_TYPES: {
    ...schema,
    title: 'Vector index on a column that is not a vector',
    body: (v: TableFacts & { column: string }) =>
      `${columnsOf(v)} A vector index requires a column of the type vector, not ${v.column}.`,
  },
  UNSUPPORTED_JSON_TYPE_FOR_TEXT_INDEX: {
    ...schema,
    title: 'Invalid analyzer',
    body: (v: { type: string }) =>
      `analyzer is of type ${v.type}. Send the name of a built-in analyzer, or an ` +
      'Object with a tokenizer and filters.',
  },
  UNKNOWN_VECTOR_METRIC: {
    ...schema,
    title: 'Unknown metric',
    body: (v: { known: readonly string[]; used: string }) =>
      `metric cannot be "${v.used}". It must be one of: ${list(v.known)}.`,
  },
  UNKNOWN_VECTOR_SOURCE_MODEL: {
    ...schema,
    title: 'Unknown source model',
    body: (v: { known: readonly string[]; used: string }) =>
      `sourceModel cannot be "${v.used}". It must be one of: ${list(v.known)}.`,
  },

  // Errors of user-defined types.
  MISSING_FIELDS_FOR_TYPE_CREATION: {
    ...schema,
    title: 'The type has no fields',
    body: (v: { name: string }) =>
      `The type "${v.name}" requires at least one field in definition.fields.`,
  },
  UNSUPPORTED_TYPE_FIELDS: {
    ...schema,
    title: 'Unsupported field type',
    body: (v: Choice) =>
      `The types of these fields are not supported: ${list(v.used)}. Supported types: ` +
      `${list(v.supported)}.`,
  },
  MISSING_ALTER_TYPE_OPERATIONS: {
    ...schema,
    title: 'Nothing to alter',
    body: () => 'alterType requires fields in "rename", "add" or both.',
  },
  CANNOT_ADD_EXISTING_FIELD: {
    ...schema,
    title: 'Field already exists',
    body: (v: { type: string; field: string; fields: readonly string[] }) =>
      `The type "${v.type}" already has a field "${v.field}". Fields: ` +
      `${list(v.fields)}.`,
  },
  CANNOT_RENAME_UNKNOWN_TYPE_FIELD: {
    ...schema,
    title: 'Unknown field to rename',
    body: (v: { type: string; field: string; fields: readonly string[] }) =>
      `The type "${v.type}" has no field "${v.field}". Fields: ${list(v.fields)}.`,
  },

  // A warning about the names of indexed columns.
  INDEXED_COLUMN_NOT_SNAKE_CASE: {
    ...request('WARNING'),
    title: 'Indexed column names should be in snake case',
    body: (v: { column: string; better: string }) =>
      `The index was created. Some Data API servers reject an index on "${v.column}", ` +
      `because the name is not in snake case. Use "${v.better}" for such servers.`,
  },

  // Errors from the store.
  UNEXPECTED_DRIVER_ERROR: {
    ...server('DATABASE'),
    title: 'Table not supported by the database',
    body: (v: { target: string; tables: number; max: number }) =>
      `${v.target}: there ${v.tables === 1 ? 'is' : 'are'} ` +
      `${counted(v.tables, 'table')}, and the maximum is ${v.max}. Drop a table, or ` +
      'raise the server setting --max-tables.',
  },
  INVALID_SCHEMA_CHANGE: {
    ...server('DATABASE'),
    code: 'INVALID_DATABASE_QUERY',
    title: 'Schema not supported by the database',
    body: byReason({
      indexes: (v: { target: string; indexes: number; max: number }) =>
        `${v.target}: the table has ${counted(v.indexes, 'index', 'indexes')}, and the ` +
        `maximum is ${v.max}. Drop an index, or raise the server setting --max-indexes.`,
      types: (v: { target: string; types: number; max: number }) =>
        `${v.target}: the keyspace has ${counted(v.types, 'type')}, and the maximum is ` +
        `${v.max}. Drop a type.`,
    }),
  },
} as const satisfies Record<string, CatalogEntry>

function vectorizeProblem(
  v: TableFacts & { vectors: readonly string[]; offending: readonly string[] },
): string {
  return (
    `${columnsOf(v)} Vector columns: ${list(v.vectors)}. These columns are not vector ` +
    `columns: ${list(v.offending)}.`
  )
}
