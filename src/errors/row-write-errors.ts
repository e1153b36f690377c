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
  return `${v.target} does not have these columns: ${v.unknown}. Columns: ${v.columns}.`
}

function unwritableColumns(v: {
  target: string
  columns: string
  unsupported: string
}): string {
  return (
    `These columns cannot be written: ${v.unsupported}. Columns of ${v.target}: ` +
    `${v.columns}.`
  )
}

function badValues(v: { target: string; columns: string; invalid: string }): string {
  return (
    `These values do not match the types of their columns: ${v.invalid}. Columns of ` +
    `${v.target}: ${v.columns}.`
  )
}

function noService(v: { target: string; vectorize: string; used: string }): string {
  return (
    `A text was sent for ${v.used}, which has no embedding service. Send vectors, or ` +
    `add a service with alterTable. Columns of ${v.target} with a service: ` +
    `${v.vectorize}.`
  )
}

const pushTakes =
  'Send one value, or {"$each": [<values>]} for several. A value of a map is {"<key>": ' +
  '<value>} or [<key>, <value>].'

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
  VALUE_NOT_STORABLE: {
    ...request('DOCUMENT'),
    code: 'INVALID_COLUMN_VALUES',
    title: 'Value not supported by the database',
    body: (v: { target: string; problem: string }) =>
      `The cluster of ${v.target} cannot store a value: ${v.problem}. Change this value.`,
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
      `A row of ${v.target} requires a value for each column of the primary key ` +
      `(${v.key}). Given: ${v.given}. Missing or null: ${v.missing}.`,
  },
  ROW_TEXT_TOO_LONG: {
    ...request('DOCUMENT'),
    code: 'LEXICAL_CONTENT_TOO_LONG',
    title: 'Text too long to index',
    body: (v: { target: string; column: string; max: number }) =>
      `The terms of the text of ${v.column} have more than ${counted(v.max, 'byte')}, ` +
      `the maximum that ${v.target} indexes. Shorten the text.`,
  },

  // Errors of updates.
  UNKNOWN_TABLE_COLUMNS_IN_UPDATE: {
    ...request('UPDATE'),
    code: 'UNKNOWN_TABLE_COLUMNS',
    title: 'Unknown columns in the update',
    body: (v: Parameters<typeof unknownColumns>[0]) =>
      `${unknownColumns(v)} An update can change only whole columns.`,
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
      'The update changes no column. Send at least one column under one of these ' +
      `operators: ${v.supported}.`,
  },
  UNSUPPORTED_UPDATE_OPERATIONS_FOR_TABLE: {
    ...request('UPDATE'),
    title: 'Update operator not supported on tables',
    body: (v: { supported: string; used: string }) =>
      `Tables do not support ${v.used}. Supported operators: ${v.supported}.`,
  },
  UNSUPPORTED_UPDATE_OPERATOR: {
    ...request('UPDATE'),
    title: 'Operator not supported on this column type',
    body: byReason({
      whole: (v: { target: string; columns: string; operator: string; used: string }) =>
        `${v.operator} supports only lists, sets and maps that are not frozen, not ` +
        `${v.used}. Use $set or $unset instead. Columns of ${v.target}: ${v.columns}.`,
      counter: (v: { operator: string; used: string }) =>
        `${v.operator} does not support counters: ${v.used}. Counters can be changed ` +
        'only with CQL.',
    }),
  },
  INVALID_PUSH_OPERATOR_USAGE: {
    ...request('UPDATE'),
    title: 'Invalid argument of $push',
    body: byReason({
      noEntry: (v: { column: string; value: string }) =>
        `$push of "${v.column}" has ${v.value}, which is not an entry of a map. ${pushTakes}`,
      array: (v: { column: string; type: string }) =>
        `$push of "${v.column}" has an Array, which cannot be an element of ` +
        `${withArticle(v.type)}. ` +
        pushTakes,
      besideEach: (v: { column: string; others: readonly string[] }) =>
        `$push of "${v.column}" has ${list(v.others)}; the only modifier is $each. ` +
        pushTakes,
      eachType: (v: { column: string; type: string }) =>
        `$each in $push of "${v.column}" must be an Array, but is of type ${v.type}. ` +
        pushTakes,
    }),
  },
  UNSUPPORTED_OVERLAPPING_UPDATE_OPERATIONS: {
    ...request('UPDATE'),
    title: 'Column updated more than once',
    body: (v: { columns: string }) =>
      `These columns are used by more than one operator: ${v.columns}. An update can ` +
      'change each column only once. Send several updates.',
  },
  UNSUPPORTED_UPDATE_FOR_PRIMARY_KEY_COLUMNS: {
    ...request('UPDATE'),
    title: 'The primary key cannot be changed',
    body: (v: { target: string; key: string; columns: string }) =>
      `${v.columns} cannot be updated, because it is part of the primary key of ` +
      `${v.target} (${v.key}). Insert another row, and delete this one.`,
  },

  // Errors about the target rows of updates and deletes.
  MISSING_FILTER_FOR_UPDATE_DELETE: {
    ...request('FILTER'),
    title: 'Empty filter',
    body: (v: { target: string; key: string }) =>
      `The filter must select a row of ${v.target}: send {"<column>": <value>} for ` +
      `each column of the primary key (${v.key}).`,
  },
  UNSUPPORTED_NON_PRIMARY_KEY_FILTER_FOR_UPDATE_DELETE: {
    ...request('FILTER'),
    title: 'Filter on columns outside the primary key',
    body: (v: { target: string; key: string; columns: string }) =>
      `Updates and deletes select rows of ${v.target} by the primary key (${v.key}), ` +
      `so the filter cannot use ${v.columns}. Find the rows first, then send their ` +
      'keys.',
  },
  UNSUPPORTED_FILTER_FOR_UPDATE_ONE_DELETE_ONE: {
    ...request('FILTER'),
    title: 'Only equality is supported in this filter',
    body: (v: { columns: string }) =>
      'The filter of an update or delete supports only $eq, once per column. It has ' +
      `other conditions on ${v.columns}.`,
  },
  MISSING_FULL_PRIMARY_KEY_FOR_UPDATE_DELETE: {
    ...request('FILTER'),
    title: 'Missing primary key columns in the filter',
    body: (v: { target: string; key: string; missing: string }) =>
      `The filter must have all columns of the primary key of ${v.target} (${v.key}). ` +
      `Missing: ${v.missing}.`,
  },
  INVALID_PRIMARY_KEY_FILTER: {
    ...request('FILTER'),
    title: 'Filter does not follow the primary key',
    body: (v: { target: string; key: string; missing: string; skipped: string }) =>
      `To delete rows of ${v.target}, filter on all partition columns, then on columns ` +
      `of the partition sort in their order, without gaps (primary key: ${v.key}). ` +
      `Missing partition columns: ${v.missing}. Columns after a gap: ${v.skipped}.`,
  },
  UNSUPPORTED_SORT_FOR_TABLE_UPDATE_COMMAND: {
    ...request('SORT'),
    title: 'Sort not supported when updating rows',
    body: () =>
      'On a table, the filter of updateOne selects exactly one row. Leave "sort" out.',
  },
  UNSUPPORTED_SORT_FOR_TABLE_DELETE_COMMAND: {
    ...request('SORT'),
    title: 'Sort not supported when deleting rows',
    body: () =>
      'On a table, the filter of deleteOne selects exactly one row. Leave "sort" out.',
  },
} as const satisfies Record<string, CatalogEntry>
