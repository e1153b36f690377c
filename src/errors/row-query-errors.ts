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
    `${v.table} has no column ${list(v.unknown)}, which the ${where} names. ` +
    `Its columns: ${list(v.columns)}.`
  )
}

function slowOnIndex(what: string, instead: string) {
  return (v: { types: readonly string[]; columns: readonly string[] }): string =>
    `The filter uses ${what} on ${list(v.columns)}. Indexes on columns of the types ` +
    `${list(v.types)} are not made for that, so many rows may be read. ${instead}`
}

function sortedInMemory(why: string) {
  return (v: SortedNames): string =>
    `${v.table} is sorted by ${list(v.sorted)}, ${why}, so matching rows have to be put in ` +
    `order for each page. Rows of a partition are kept in the order of ` +
    `${list(v.partitionSort)}: sort by these, in this order, with $eq on every partition column.`
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
      `${v.table} was made by CQL, and nothing can be compared with ${list(v.unsupported)}. ` +
      `Other columns: ${list(v.columns)}.`,
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
      `The filter on ${v.column} uses ${v.operator}: ${v.problem}. Lists and sets take ` +
      '{"$in": […]}, {"$nin": […]} and {"$all": […]} with values; maps take them with ' +
      'pairs [key, value], or inside {"$keys": …} or {"$values": …}.',
  },
  UNSUPPORTED_COMPARISON_FILTER_AGAINST_DURATION: {
    ...request('FILTER'),
    title: 'Durations have no order',
    body: (v: TableNames & { used: readonly string[] }) =>
      `The filter asks what is greater or less than ${list(v.used)} of ${v.table}, but one ` +
      'month may be more than 30 days or less. Use $eq, $ne, $in or $nin. ' +
      `Columns of the table: ${list(v.columns)}.`,
  },
  CANNOT_LEXICAL_FILTER_NON_INDEXED_COLUMNS: {
    ...request('FILTER'),
    title: '$match requires a text index',
    body: (v: { table: string; indexed: readonly string[]; used: readonly string[] }) =>
      `The filter uses $match on ${list(v.used)} of ${v.table}. Columns with a text index: ` +
      `${list(v.indexed)}. Create one with createTextIndex.`,
  },

  // Errors of projections.
  UNSUPPORTED_COLUMN_TYPES_IN_PROJECTION: {
    ...request('PROJECTION'),
    code: 'UNSUPPORTED_COLUMN_TYPES',
    title: 'Projection of columns of a CQL-only type',
    body: (v: TableNames & { unsupported: readonly string[]; isKey: boolean }) =>
      `${v.table} was made by CQL, and there is no way to show ${list(v.unsupported)}. ` +
      (v.isKey
        ? 'Its rows can be read by CQL only, because their key cannot be read.'
        : `Exclude them, or include some of the others: ${list(v.columns)}.`),
  },
  UNKNOWN_TABLE_COLUMNS_IN_PROJECTION: {
    ...request('PROJECTION'),
    code: 'UNKNOWN_TABLE_COLUMNS',
    title: 'Empty projection',
    body: (v: TableNames & { unknown: readonly string[] }) =>
      `The projection shows no column that ${v.table} has; it names ${list(v.unknown)}. ` +
      `Columns of the table: ${list(v.columns)}.`,
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
      'A sort holds one search and nothing else. This one searches by terms in ' +
      `${list(v.lexical)}, by vector in ${list(v.vector)}, and orders by ${list(v.regular)}.`,
  },
  INVALID_REGULAR_SORT_EXPRESSION: {
    ...request('SORT'),
    title: 'Unsupported sort of a column',
    body: byReason({
      direction: (v: { column: string; value: string; type: string }) =>
        `Sort on ${v.column}: ${v.value} (${v.type}) was sent, but it takes 1 (ascending) or ` +
        '-1 (descending).',
      noOrder: (v: { column: string; type: string }) =>
        `Sort on ${v.column}: values of the type ${v.type} have no order.`,
    }),
  },
  INVALID_VECTOR_SORT_EXPRESSION: {
    ...request('SORT'),
    title: 'Unsupported sort of a vector column',
    body: (v: { column: string; value: string; type: string }) =>
      `Sort on ${v.column}: ${v.value} (${v.type}) was sent. A vector column takes an Array ` +
      'of numbers, {"$binary": "<Base64>"}, or a String if it has an embedding service.',
  },
  CANNOT_VECTOR_SORT_NON_VECTOR_COLUMNS: {
    ...request('SORT'),
    title: 'Vector sort on a column that is not a vector',
    body: (v: { table: string; vectors: readonly string[]; column: string }) =>
      `The sort gives ${v.column} of ${v.table} a vector. Vector columns: ${list(v.vectors)}.`,
  },
  CANNOT_VECTORIZE_SORT_NON_VECTOR_COLUMN: {
    ...request('SORT'),
    title: 'Vectorize sort on an unsupported column',
    body: (v: { table: string; vectors: readonly string[]; column: string }) =>
      `The sort gives ${v.column} of ${v.table} a text. Texts go with vector columns that ` +
      'have an embedding service, and with text and ascii columns that have a text index. ' +
      `Vector columns: ${list(v.vectors)}.`,
  },
  CANNOT_VECTORIZE_SORT_WHEN_MISSING_VECTORIZE_DEFINITION: {
    ...request('SORT'),
    title: 'The vector column has no embedding service',
    body: (v: { table: string; vectorized: readonly string[]; column: string }) =>
      `The sort gives ${v.column} of ${v.table} a text, but no service turns it into a ` +
      `vector. Columns with one: ${list(v.vectorized)}. Send a vector, or add a service ` +
      'with alterTable.',
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
      `${v.column} of ${v.table} cannot be searched without an index. Vector columns: ` +
      `${list(v.vectors)}; with an index: ${list(v.indexed)}. Create one with ` +
      'createVectorIndex.',
  },
  CANNOT_VECTOR_SORT_ON_MISMATCHED_VECTOR_DIMENSIONS: {
    ...request('SORT'),
    title: 'Wrong dimension of the sort vector',
    body: (v: { column: string; dimension: number; given: number }) =>
      `${v.column} holds vectors of ${counted(v.dimension, 'number')}; the one to sort by has ` +
      `${v.given}. Use the embedding model that the column was made for.`,
  },
  CANNOT_VECTOR_SORT_WITH_LIMIT_EXCEEDS_MAX: {
    ...request('SORT'),
    title: 'Limit exceeds the maximum of a vector search',
    body: (v: { column: string; limit: number; max: number }) =>
      `A search by ${v.column} returns at most ${counted(v.max, 'row')}; options.limit is ${v.limit}.`,
  },
  CANNOT_VECTOR_SORT_WITH_SKIP_OPTION: {
    ...request('SORT'),
    title: 'A vector search cannot skip rows',
    body: (v: { column: string; skip: number }) =>
      `A search by ${v.column} starts with the nearest row. Leave options.skip, which is ` +
      `${v.skip}, out.`,
  },
  CANNOT_LEXICAL_SORT_NON_INDEXED_COLUMNS: {
    ...request('SORT'),
    title: 'Lexical sort requires a text index',
    body: (v: { table: string; indexed: readonly string[]; column: string }) =>
      `The sort looks for terms in ${v.column} of ${v.table}. Columns with a text index: ` +
      `${list(v.indexed)}. Create one with createTextIndex.`,
  },
  CANNOT_LEXICAL_SORT_WITH_SKIP_OPTION: {
    ...request('SORT'),
    title: 'A lexical search cannot skip rows',
    body: (v: { column: string; skip: number }) =>
      `A search in ${v.column} starts with the best row. Leave options.skip, which is ` +
      `${v.skip}, out.`,
  },

  // Warnings about slow or unusual reads.
  MISSING_INDEX: {
    ...request('WARNING'),
    title: 'Filter on columns without an index',
    body: (v: KeyNames & { indexed: readonly string[]; missing: readonly string[] }) =>
      `The filter on ${v.table} uses ${list(v.missing)}, for which there is no index, so ` +
      `many rows may be read. Primary key: ${list(v.key)}. Indexed columns: ` +
      `${list(v.indexed)}. Create an index for columns that are often filtered on.`,
  },
  QUERY_RETRIED_DUE_TO_INDEXING: {
    ...request('WARNING'),
    title: 'An index could not be used',
    body: (v: { table: string }) =>
      `The cluster could not use an index for the filter on ${v.table}, so it was asked ` +
      'again, and looked at all rows. See with listIndexes whether one was dropped.',
  },
  NOT_EQUALS_UNSUPPORTED_BY_INDEXING: {
    ...request('WARNING'),
    title: 'An index does not support $ne',
    body: slowOnIndex('$ne', 'Where possible, filter by the values that rows should have.'),
  },
  COMPARISON_FILTER_UNSUPPORTED_BY_INDEXING: {
    ...request('WARNING'),
    title: 'An index does not support range comparisons',
    body: slowOnIndex('$gt, $gte, $lt or $lte', 'Use $eq or $in, where that is possible.'),
  },
  NOT_IN_FILTER_UNSUPPORTED_BY_INDEXING: {
    ...request('WARNING'),
    title: 'An index does not support $nin',
    body: slowOnIndex(
      '$nin',
      'Where possible, filter by the values that rows should have.',
    ),
  },
  ZERO_FILTER_OPERATIONS: {
    ...request('WARNING'),
    title: 'Missing filter',
    body: (v: KeyNames & { indexed: readonly string[] }) =>
      `All rows of ${v.table} match. Primary key: ${list(v.key)}. Indexed columns: ` +
      `${list(v.indexed)}. Filter on these to read less.`,
  },
  INCOMPLETE_PRIMARY_KEY_FILTER: {
    ...request('WARNING'),
    title: 'Incomplete primary key in the filter',
    body: (v: KeyNames & { missing: readonly string[]; outOfOrder: readonly string[] }) =>
      `The primary key of ${v.table} is ${list(v.key)}. The filter leaves out ` +
      `${list(v.missing)}, and these come after a column that it leaves out: ` +
      `${list(v.outOfOrder)}. Name all partition columns, then columns of the partition ` +
      'sort from the first on.',
  },
  IN_MEMORY_SORTING_DUE_SKIP_OPTIONS: {
    ...request('WARNING'),
    title: 'In-memory sort: skip is used',
    body: sortedInMemory('and options.skip leaves rows out'),
  },
  IN_MEMORY_SORTING_DUE_TO_NON_PARTITION_SORTING: {
    ...request('WARNING'),
    title: 'In-memory sort: a sort column is not part of the partition sort',
    body: sortedInMemory('of which some are not in the partition sort'),
  },
  IN_MEMORY_SORTING_DUE_TO_OUT_OF_ORDER_PARTITION_SORTING: {
    ...request('WARNING'),
    title: 'In-memory sort: the order differs from the partition sort',
    body: sortedInMemory(
      'which is not how the partition sort begins, either as declared or all reversed',
    ),
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
