/**
 * Errors of writes to rows: inserts, updates and deletes. Variables hold columns as text, each
 * as "name(type)".
 */
import {
  byReason,
  counted,
  list,
  request,
  withArticle,
  type CatalogEntry,
} from './catalog-entry.ts'

function unknownColumns(v: { target: string; columns: string; unknown: string }): string {
  return `${v.target} has no columns ${v.unknown}. It has ${v.columns}.`
}

function unwritableColumns(v: {
  target: string
  columns: string
  unsupported: string
}): string {
  return (
    `Columns of these types cannot be written to: ${v.unsupported}. ` +
    `${v.target} has ${v.columns}.`
  )
}

function badValues(v: { target: string; columns: string; invalid: string }): string {
  return (
    `Values that do not fit their columns: ${v.invalid}. ` + `${v.target} has ${v.columns}.`
  )
}

function noService(v: { target: string; vectorize: string; used: string }): string {
  return (
    `A text was sent for ${v.used}, which has no embedding service to make a vector of it. ` +
    `Send vectors, or add a service with alterTable. Columns of ${v.target} that have one: ` +
    `${v.vectorize}.`
  )
}

const pushTakes =
  '$push takes one value, or {"$each": [<values>]} for several; for a map a value is ' +
  '{"<key>": <value>} or [<key>, <value>] of two scalars.'

export const rowWriteErrors = {
  // Errors of rows to insert.
  UNKNOWN_TABLE_COLUMNS: {
    ...request('DOCUMENT'),
    title: 'Unknown columns in the row',
    body: unknownColumns,
  },
  UNSUPPORTED_COLUMN_TYPES: {
    ...request('DOCUMENT'),
    title: 'Row has read-only columns',
    body: unwritableColumns,
  },
  INVALID_COLUMN_VALUES: {
    ...request('DOCUMENT'),
    title: 'Row values do not match their column types',
    body: badValues,
  },
  UNSUPPORTED_VECTORIZE_WHEN_MISSING_VECTORIZE_DEFINITION: {
    ...request('DOCUMENT'),
    title: 'The column has no embedding service',
    body: noService,
  },
  MISSING_PRIMARY_KEY_COLUMNS: {
    ...request('DOCUMENT'),
    title: 'Missing primary key columns in the row',
    body: (v: { target: string; key: string; given: string; missing: string }) =>
      `Every row of ${v.target} needs a value for each column of the primary key ` +
      `(${v.key}). Given: ${v.given}. Missing or null: ${v.missing}.`,
  },
  ROW_TEXT_TOO_LONG: {
    ...request('DOCUMENT'),
    code: 'LEXICAL_CONTENT_TOO_LONG',
    title: 'Text too long to index',
    body: (v: { target: string; column: string; max: number }) =>
      `The terms of the text of ${v.column} take more than ${counted(v.max, 'byte')}, which is what ` +
      `${v.target} indexes at most. Shorten the text.`,
  },

  // Errors of updates.
  UNKNOWN_TABLE_COLUMNS_IN_UPDATE: {
    ...request('UPDATE'),
    code: 'UNKNOWN_TABLE_COLUMNS',
    title: 'Unknown columns in the update',
    body: (v: Parameters<typeof unknownColumns>[0]) =>
      `${unknownColumns(v)} An update names whole columns, not parts of them.`,
  },
  UNSUPPORTED_COLUMN_TYPES_IN_UPDATE: {
    ...request('UPDATE'),
    code: 'UNSUPPORTED_COLUMN_TYPES',
    title: 'Update of read-only columns',
    body: unwritableColumns,
  },
  INVALID_UPDATE_COLUMN_VALUES: {
    ...request('UPDATE'),
    title: 'Update values do not match their column types',
    body: badValues,
  },
  UNSUPPORTED_VECTORIZE_IN_UPDATE: {
    ...request('UPDATE'),
    code: 'UNSUPPORTED_VECTORIZE_WHEN_MISSING_VECTORIZE_DEFINITION',
    title: 'The column has no embedding service',
    body: noService,
  },
  MISSING_UPDATE_OPERATIONS: {
    ...request('UPDATE'),
    title: 'Empty update',
    body: (v: { supported: string }) =>
      `Name at least one column under one of the operators that tables have: ${v.supported}.`,
  },
  UNSUPPORTED_UPDATE_OPERATIONS_FOR_TABLE: {
    ...request('UPDATE'),
    title: 'Update operator not supported on tables',
    body: (v: { supported: string; used: string }) =>
      `Rows cannot be updated by ${v.used}. Tables have ${v.supported}.`,
  },
  UNSUPPORTED_UPDATE_OPERATOR: {
    ...request('UPDATE'),
    title: 'Operator not supported on this column type',
    body: byReason({
      whole: (v: { target: string; columns: string; operator: string; used: string }) =>
        `${v.operator} works on lists, sets and maps that are not frozen, not on ${v.used}. Use ` +
        `$set or $unset there. ${v.target} has ${v.columns}.`,
      counter: (v: { operator: string; used: string }) =>
        `${v.operator} does not work on counters: ${v.used}. They can be read here, and ` +
        'counted by CQL.',
    }),
  },
  INVALID_PUSH_OPERATOR_USAGE: {
    ...request('UPDATE'),
    title: 'Invalid argument of $push',
    body: byReason({
      noEntry: (v: { column: string; value: string }) =>
        `$push of "${v.column}" has ${v.value}, which is no entry of a map. ${pushTakes}`,
      array: (v: { column: string; type: string }) =>
        `$push of "${v.column}" has an Array, which is no element of ${withArticle(v.type)}. ` +
        pushTakes,
      besideEach: (v: { column: string; others: readonly string[] }) =>
        `$push of "${v.column}" has ${list(v.others)}, and only $each can be there. ` +
        pushTakes,
      eachType: (v: { column: string; type: string }) =>
        `$push of "${v.column}" has a $each of type ${v.type}, not an Array. ${pushTakes}`,
    }),
  },
  UNSUPPORTED_OVERLAPPING_UPDATE_OPERATIONS: {
    ...request('UPDATE'),
    title: 'Column updated more than once',
    body: (v: { columns: string }) =>
      `These columns stand under more than one operator: ${v.columns}. An update can ` +
      'change a column once; send another update for the rest.',
  },
  UNSUPPORTED_UPDATE_FOR_PRIMARY_KEY_COLUMNS: {
    ...request('UPDATE'),
    title: 'The primary key cannot be changed',
    body: (v: { target: string; key: string; columns: string }) =>
      `${v.columns} cannot be updated: the primary key of ${v.target} (${v.key}) says which ` +
      'row it is. Insert another row, and delete this one.',
  },

  // Errors about the target rows of updates and deletes.
  MISSING_FILTER_FOR_UPDATE_DELETE: {
    ...request('FILTER'),
    title: 'Empty filter',
    body: (v: { target: string; key: string }) =>
      `Say which row of ${v.target}: the filter needs {"<column>": <value>} for each column ` +
      `of the primary key (${v.key}).`,
  },
  UNSUPPORTED_NON_PRIMARY_KEY_FILTER_FOR_UPDATE_DELETE: {
    ...request('FILTER'),
    title: 'Filter on columns outside the primary key',
    body: (v: { target: string; key: string; columns: string }) =>
      `Rows of ${v.target} are updated and deleted by their primary key (${v.key}); the ` +
      `filter cannot use ${v.columns}. Find the rows first, then name their keys.`,
  },
  UNSUPPORTED_FILTER_FOR_UPDATE_ONE_DELETE_ONE: {
    ...request('FILTER'),
    title: 'Only equality is supported in this filter',
    body: (v: { columns: string }) =>
      `A filter that says which row to update or delete can only use $eq, and not more than ` +
      `once for a column. Something else was used for ${v.columns}.`,
  },
  MISSING_FULL_PRIMARY_KEY_FOR_UPDATE_DELETE: {
    ...request('FILTER'),
    title: 'Missing primary key columns in the filter',
    body: (v: { target: string; key: string; missing: string }) =>
      `To name a row of ${v.target} a filter needs all columns of the primary key ` +
      `(${v.key}). Missing: ${v.missing}.`,
  },
  INVALID_PRIMARY_KEY_FILTER: {
    ...request('FILTER'),
    title: 'Filter does not follow the primary key',
    body: (v: { target: string; key: string; missing: string; skipped: string }) =>
      `Rows of ${v.target} are deleted by all partition columns, and then by columns of the ` +
      `sort in its order, leaving none out before another (primary key: ${v.key}). Missing ` +
      `partition columns: ${v.missing}. Named after one that was left out: ${v.skipped}.`,
  },
  UNSUPPORTED_SORT_FOR_TABLE_UPDATE_COMMAND: {
    ...request('SORT'),
    title: 'Sort not supported when updating rows',
    body: () => 'The filter of an updateOne on a table names one row. Leave "sort" out.',
  },
  UNSUPPORTED_SORT_FOR_TABLE_DELETE_COMMAND: {
    ...request('SORT'),
    title: 'Sort not supported when deleting rows',
    body: () => 'The filter of a deleteOne on a table names one row. Leave "sort" out.',
  },
} as const satisfies Record<string, CatalogEntry>
