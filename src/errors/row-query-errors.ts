/** Errors and warnings of reading rows: filters, sorts and projections. */
import { byReason, counted, list, request, type CatalogEntry } from './catalog-entry.ts'

/** Name of a table and its columns as "name(type)", for messages. */
interface TableNames {
  readonly table: string
  readonly columns: readonly string[]
}

interface KeyNames {
  readonly table: string
  /** Columns of the primary key. */
  readonly key: readonly string[]
}

interface SortedNames {
  readonly table: string
  /** Clustering columns, which order the rows of a partition. */
  readonly partitionSort: readonly string[]
  readonly sorted: readonly string[]
}

function unknownColumns(
  v: TableNames & { readonly unknown: readonly string[] },
  where: string,
): string {
  return (
    `The ${where} names columns that ${v.table} does not have: ${list(v.unknown)}. ` +
    `Columns: ${list(v.columns)}.`
  )
}

function slowOnIndex(what: string, instead: string) {
  return (v: { types: readonly string[]; columns: readonly string[] }): string =>
    `The filter uses ${what} on ${list(v.columns)}. Indexes on the types ` +
    `${list(v.types)} do not support this, so many rows may be read. ${instead}`
}

function sortedInMemory(why: string) {
  return (v: SortedNames): string =>
    `The sort of ${v.table} is by ${list(v.sorted)}, ${why}. So the server sorts all ` +
    'matching rows in memory for each page. Rows of a partition are stored in the ' +
    `order of ${list(v.partitionSort)}: sort by these, in this order, with $eq on ` +
    'every partition column.'
}

export const rowQueryErrors = {
  // Errors of filters.
  UNKNOWN_TABLE_COLUMNS_IN_FILTER: {
    ...request('FILTER'),
    code: 'UNKNOWN_TABLE_COLUMNS',
    title: 'Unknown columns in the filter',
    body: (v: TableNames & { unknown: readonly string[] }) => unknownColumns(v, 'filter'),
  },
  UNSUPPORTED_COLUMN_TYPES_IN_FILTER: {
    ...request('FILTER'),
    code: 'UNSUPPORTED_COLUMN_TYPES',
    title: 'Filter on columns of a CQL-only type',
    body: (v: TableNames & { unsupported: readonly string[] }) =>
      `${v.table} was created with CQL. Filters cannot use these columns: ` +
      `${list(v.unsupported)}. Other columns: ${list(v.columns)}.`,
  },
  INVALID_FILTER_COLUMN_VALUES: {
    ...request('FILTER'),
    title: 'Filter value does not match the column type',
    body: (v: TableNames & { column: string; value: string; problem: string }) =>
      `The filter compares ${v.column} of ${v.table} with ${v.value}, which ${v.problem}. ` +
      `Columns of the table: ${list(v.columns)}.`,
  },
  INVALID_MAP_SET_LIST_FILTER: {
    ...request('FILTER'),
    title: 'Unsupported filter on a map, set or list',
    body: (v: { column: string; operator: string; problem: string }) =>
      `The filter on ${v.column} uses ${v.operator}: ${v.problem}. Lists and sets ` +
      'support {"$in": […]}, {"$nin": […]} and {"$all": […]} with values. Maps support ' +
      'them with pairs [key, value], or inside {"$keys": …} or {"$values": …}.',
  },
  UNSUPPORTED_COMPARISON_FILTER_AGAINST_DURATION: {
    ...request('FILTER'),
    title: 'Durations have no order',
    body: (v: TableNames & { used: readonly string[] }) =>
      `The filter uses a range on ${list(v.used)} of ${v.table}, but durations have no ` +
      'order: a month can be longer or shorter than 30 days. Use $eq, $ne, $in or ' +
      `$nin. Columns of the table: ${list(v.columns)}.`,
  },
  CANNOT_LEXICAL_FILTER_NON_INDEXED_COLUMNS: {
    ...request('FILTER'),
    title: '$match requires a text index',
    body: (v: { table: string; indexed: readonly string[]; used: readonly string[] }) =>
      `The filter uses $match on ${list(v.used)} of ${v.table}, without a text index. ` +
      `Columns with one: ${list(v.indexed)}. Create one with createTextIndex.`,
  },

  // Errors of projections.
  UNSUPPORTED_COLUMN_TYPES_IN_PROJECTION: {
    ...request('PROJECTION'),
    code: 'UNSUPPORTED_COLUMN_TYPES',
    title: 'Projection of columns of a CQL-only type',
    body: (v: TableNames & { unsupported: readonly string[]; isKey: boolean }) =>
      `${v.table} was created with CQL. Replies cannot contain these columns: ` +
      `${list(v.unsupported)}. ` +
      (v.isKey
        ? 'They are part of the primary key, so only CQL can read the rows.'
        : `Exclude them, or include only other columns: ${list(v.columns)}.`),
  },
  UNKNOWN_TABLE_COLUMNS_IN_PROJECTION: {
    ...request('PROJECTION'),
    code: 'UNKNOWN_TABLE_COLUMNS',
    title: 'Empty projection',
    body: (v: TableNames & { unknown: readonly string[] }) =>
      `The projection contains no column of ${v.table}, only unknown ones: ` +
      `${list(v.unknown)}. Columns: ${list(v.columns)}.`,
  },

  // Errors of sorts.
  CANNOT_SORT_UNKNOWN_COLUMNS: {
    ...request('SORT'),
    title: 'Unknown columns in the sort',
    body: (v: TableNames & { unknown: readonly string[] }) => unknownColumns(v, 'sort'),
  },
  CANNOT_SORT_ON_SPECIAL_WITH_OTHERS: {
    ...request('SORT'),
    title: 'A search must be the only sort clause',
    body: (v: {
      lexical: readonly string[]
      vector: readonly string[]
      regular: readonly string[]
    }) =>
      'A search must be the only key of a sort. This sort has lexical searches on ' +
      `${list(v.lexical)}, vector searches on ${list(v.vector)}, and orders by ` +
      `${list(v.regular)}.`,
  },
  INVALID_REGULAR_SORT_EXPRESSION: {
    ...request('SORT'),
    title: 'Unsupported sort of a column',
    body: byReason({
      direction: (v: { column: string; value: string; type: string }) =>
        `Sort on ${v.column}: ${v.value} (${v.type}) was sent. Send 1 (ascending) or ` +
        '-1 (descending).',
      noOrder: (v: { column: string; type: string }) =>
        `Sort on ${v.column}: values of the type ${v.type} have no order.`,
    }),
  },
  INVALID_VECTOR_SORT_EXPRESSION: {
    ...request('SORT'),
    title: 'Unsupported sort of a vector column',
    body: (v: { column: string; value: string; type: string }) =>
      `Sort on ${v.column}: ${v.value} (${v.type}) was sent. A vector column requires ` +
      'an Array of numbers, {"$binary": "<Base64>"}, or a String if it has an ' +
      'embedding service.',
  },
  CANNOT_VECTOR_SORT_NON_VECTOR_COLUMNS: {
    ...request('SORT'),
    title: 'Vector sort on a column that is not a vector',
    body: (v: { table: string; vectors: readonly string[]; column: string }) =>
      `The sort has a vector for ${v.column} of ${v.table}, which is not a vector ` +
      `column. Vector columns: ${list(v.vectors)}.`,
  },
  CANNOT_VECTORIZE_SORT_NON_VECTOR_COLUMN: {
    ...request('SORT'),
    title: 'Vectorize sort on an unsupported column',
    body: (v: { table: string; vectors: readonly string[]; column: string }) =>
      `The sort has a text for ${v.column} of ${v.table}. A text requires a vector ` +
      'column with an embedding service, or a text or ascii column with a text index. ' +
      `Vector columns: ${list(v.vectors)}.`,
  },
  CANNOT_VECTORIZE_SORT_WHEN_MISSING_VECTORIZE_DEFINITION: {
    ...request('SORT'),
    title: 'The vector column has no embedding service',
    body: (v: { table: string; vectorized: readonly string[]; column: string }) =>
      `The sort has a text for ${v.column} of ${v.table}, but the column has no ` +
      `embedding service. Columns with one: ${list(v.vectorized)}. Send a vector, or ` +
      'add a service with alterTable.',
  },
  CANNOT_VECTOR_SORT_NON_INDEXED_VECTOR_COLUMNS: {
    ...request('SORT'),
    title: 'The vector column is not indexed',
    body: (v: {
      table: string
      vectors: readonly string[]
      indexed: readonly string[]
      column: string
    }) =>
      `${v.column} of ${v.table} has no vector index, so it cannot be searched. Vector ` +
      `columns: ${list(v.vectors)}; with an index: ${list(v.indexed)}. Create an index ` +
      'with createVectorIndex.',
  },
  CANNOT_VECTOR_SORT_ON_MISMATCHED_VECTOR_DIMENSIONS: {
    ...request('SORT'),
    title: 'Wrong dimension of the sort vector',
    body: (v: { column: string; dimension: number; given: number }) =>
      `${v.column} requires vectors of ${counted(v.dimension, 'number')}; the vector ` +
      `of the sort has ${v.given}. Use the embedding model that the column was created ` +
      'for.',
  },
  CANNOT_VECTOR_SORT_WITH_LIMIT_EXCEEDS_MAX: {
    ...request('SORT'),
    title: 'Limit exceeds the maximum of a vector search',
    body: (v: { column: string; limit: number; max: number }) =>
      `options.limit is ${v.limit}, but a vector search on ${v.column} returns at most ` +
      `${counted(v.max, 'row')}.`,
  },
  CANNOT_VECTOR_SORT_WITH_SKIP_OPTION: {
    ...request('SORT'),
    title: 'A vector search cannot skip rows',
    body: (v: { column: string; skip: number }) =>
      `options.skip is ${v.skip}, but a vector search on ${v.column} cannot skip rows. ` +
      'Leave it out.',
  },
  CANNOT_LEXICAL_SORT_NON_INDEXED_COLUMNS: {
    ...request('SORT'),
    title: 'Lexical sort requires a text index',
    body: (v: { table: string; indexed: readonly string[]; column: string }) =>
      `The sort is a lexical search on ${v.column} of ${v.table}, which has no text ` +
      `index. Columns with one: ${list(v.indexed)}. Create one with createTextIndex.`,
  },
  CANNOT_LEXICAL_SORT_WITH_SKIP_OPTION: {
    ...request('SORT'),
    title: 'A lexical search cannot skip rows',
    body: (v: { column: string; skip: number }) =>
      `options.skip is ${v.skip}, but a lexical search on ${v.column} cannot skip ` +
      'rows. Leave it out.',
  },

  // Warnings about slow or unusual reads.
  MISSING_INDEX: {
    ...request('WARNING'),
    title: 'Filter on columns without an index',
    body: (v: KeyNames & { indexed: readonly string[]; missing: readonly string[] }) =>
      `The filter on ${v.table} uses columns without an index: ${list(v.missing)}. So ` +
      `many rows may be read. Primary key: ${list(v.key)}. Indexed columns: ` +
      `${list(v.indexed)}. Create indexes on the columns of frequent filters.`,
  },
  QUERY_RETRIED_DUE_TO_INDEXING: {
    ...request('WARNING'),
    title: 'An index could not be used',
    body: (v: { table: string }) =>
      `The cluster could not use an index for the filter on ${v.table}, so the read ` +
      'was repeated over all rows. Check with listIndexes whether an index was dropped.',
  },
  NOT_EQUALS_UNSUPPORTED_BY_INDEXING: {
    ...request('WARNING'),
    title: 'An index does not support $ne',
    body: slowOnIndex('$ne', 'If possible, filter by the values that rows should have.'),
  },
  COMPARISON_FILTER_UNSUPPORTED_BY_INDEXING: {
    ...request('WARNING'),
    title: 'An index does not support range comparisons',
    body: slowOnIndex('$gt, $gte, $lt or $lte', 'If possible, use $eq or $in.'),
  },
  NOT_IN_FILTER_UNSUPPORTED_BY_INDEXING: {
    ...request('WARNING'),
    title: 'An index does not support $nin',
    body: slowOnIndex('$nin', 'If possible, filter by the values that rows should have.'),
  },
  ZERO_FILTER_OPERATIONS: {
    ...request('WARNING'),
    title: 'Missing filter',
    body: (v: KeyNames & { indexed: readonly string[] }) =>
      `The filter is empty, so all rows of ${v.table} match. Primary key: ` +
      `${list(v.key)}. Indexed columns: ${list(v.indexed)}. Filter on these to read ` +
      'less.',
  },
  INCOMPLETE_PRIMARY_KEY_FILTER: {
    ...request('WARNING'),
    title: 'Incomplete primary key in the filter',
    body: (v: KeyNames & { missing: readonly string[]; outOfOrder: readonly string[] }) =>
      `The primary key of ${v.table} is ${list(v.key)}. The filter has no condition on ` +
      `${list(v.missing)}. It has conditions on later columns of the key: ` +
      `${list(v.outOfOrder)}. Filter on all partition columns, then on columns of the ` +
      'partition sort in their order.',
  },
  IN_MEMORY_SORTING_DUE_SKIP_OPTIONS: {
    ...request('WARNING'),
    title: 'In-memory sort: skip is used',
    body: sortedInMemory('with options.skip'),
  },
  IN_MEMORY_SORTING_DUE_TO_NON_PARTITION_SORTING: {
    ...request('WARNING'),
    title: 'In-memory sort: a sort column is not part of the partition sort',
    body: sortedInMemory('and some of these columns are not part of the partition sort'),
  },
  IN_MEMORY_SORTING_DUE_TO_OUT_OF_ORDER_PARTITION_SORTING: {
    ...request('WARNING'),
    title: 'In-memory sort: the order differs from the partition sort',
    body: sortedInMemory('which differs from the partition sort and from its reverse'),
  },
  IN_MEMORY_SORTING_DUE_TO_PARTITION_KEY_NOT_RESTRICTED: {
    ...request('WARNING'),
    title: 'In-memory sort: the filter selects several partitions',
    body: (v: SortedNames & { partitionBy: readonly string[] }) =>
      sortedInMemory(
        `but the filter does not fix every partition column (${list(v.partitionBy)})`,
      )(v),
  },
} as const satisfies Record<string, CatalogEntry>
