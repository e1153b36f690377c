/** Errors of clauses on documents: filters, projections, sorts and updates. */
import {
  byReason,
  counted,
  list,
  request,
  withArticle,
  type CatalogEntry,
} from './catalog-entry.ts'

/** The end of a sentence which says that a search text has no terms. */
function withoutTerms(text: string): string {
  return (
    `the analyzer finds no terms in ${text}, so there is nothing to search for; send ` +
    'words that the analyzer does not remove'
  )
}

function undeletable(table: string): string {
  return `This filter cannot select the rows of ${table} to delete`
}

export const clauseErrors = {
  // Errors of filters.
  FILTER_FIELDS_LIMIT_VIOLATION: {
    ...request('FILTER'),
    title: 'Too many comparisons in the filter',
    body: (v: { count: number; max: number }) =>
      `The filter has ${counted(v.count, 'comparison')}; the maximum is ${v.max}.`,
  },
  FILTER_ID_NOT_INDEXED: {
    ...request('FILTER'),
    title: '_id is not indexed in this collection',
    body: (v: { operator: string }) =>
      'The collection does not index _id, so only $eq and $in are supported on it, not ' +
      `${v.operator}.`,
  },
  FILTER_INVALID_EXPRESSION: {
    ...request('FILTER'),
    title: 'Malformed filter',
    body: byReason({
      notNoFilter: (v: { value: string }) =>
        `$not requires a filter, which is a JSON Object, not ${v.value}.`,
      noFilters: (v: { operator: string; value: string }) =>
        `${v.operator} requires an Array of filters, not ${v.value}.`,
      elementNoFilter: (v: { operator: string; value: string }) =>
        `${v.operator} contains ${v.value}, but each filter must be a JSON Object.`,
      fieldBesideOperators: (v: { path: string; field: string }) =>
        `"${v.path}" is compared with an Object that has both operators and the field ` +
        `"${v.field}"; use either operators, or only fields to compare the value with.`,
      tooManyValues: (v: { operator: string; path: string; count: number; max: number }) =>
        `${v.operator} on "${v.path}" has ${counted(v.count, 'value')}; the maximum is ` +
        `${v.max}.`,
      argument: (v: { operator: string; path: string; expected: string; value: string }) =>
        `${v.operator} on "${v.path}" requires ${v.expected}, not ${v.value}.`,
      matchUnderNot: () => '$match cannot be used inside $not.',
      matchElsewhere: (v: { path: string }) =>
        `$match can be used only on "$lexical", not on "${v.path}".`,
      matchWithoutTerms: (v: { path: string; text: string }) =>
        `$match on "${v.path}": ${withoutTerms(v.text)}.`,
      idInOr: () =>
        '_id cannot be used directly in $or. For several ids, use {"_id": {"$in": […]}}.',
      notAField: (v: { path: string }) =>
        `"${v.path}" is neither an operator nor a search field. Names of other fields ` +
        'cannot start with $.',
      operatorBesideFields: (v: { operator: string }) =>
        `"${v.operator}" cannot be used beside fields; only $and, $or and $not can. ` +
        'Put it under a field.',
      path: (v: { path: string; problem: string }) =>
        `The path "${v.path}" is invalid: ${v.problem}.`,
      array: (v: { path: string }) =>
        `"${v.path}" cannot be compared with an Array directly. Use {"$eq": […]} for ` +
        'this array, or {"$in": […]} for one of several values.',
      columnWithArray: (v: { column: string }) =>
        `"${v.column}" cannot be compared with an Array. Use {"$in": […]} for one of ` +
        'several values.',
      searchField: (v: { path: string; operator: string; only: string }) =>
        `"${v.path}" does not support ${v.operator}, only ${v.only}.`,
      binary: (v: { operator: string; path: string }) =>
        `${v.operator} on "${v.path}": $binary values cannot be compared.`,
      operatorInside: (v: { path: string; operator: string }) =>
        `"${v.path}" is compared with an Object that contains "${v.operator}". Write ` +
        'operators directly under the full path, such as {"a.b": {"$gt": 1}}.',
      deletedByLogic: (v: { table: string }) =>
        `${undeletable(v.table)}: it uses $or or $not. Use $eq, $in and ranges on the ` +
        'primary key.',
      deletedByOperator: (v: { table: string; operator: string }) =>
        `${undeletable(v.table)}: it uses ${v.operator}. Use $eq, $in and ranges on ` +
        'the primary key.',
      deletedByRange: (v: { table: string; column: string }) =>
        `${undeletable(v.table)}: ${v.column} requires $eq or $in. A range is allowed ` +
        'only on the last column in the filter, if it is part of the partition sort.',
      wildcardInside: (v: { path: string }) =>
        `"${v.path}" is compared with an Object that contains "*", which is not a ` +
        'valid field name.',
    }),
  },
  FILTER_MULTIPLE_ID_FILTER: {
    ...request('FILTER'),
    title: 'More than one condition on _id',
    body: () => 'A filter can have only one comparison on _id. Use $in for several values.',
  },
  FILTER_PATH_UNINDEXED: {
    ...request('FILTER'),
    title: 'Filter on a path that is not indexed',
    body: (v: { path: string }) =>
      `The collection does not index "${v.path}", so filters cannot use it. The ` +
      'indexing option is set when a collection is created.',
  },
  FILTER_UNSUPPORTED_DATA_TYPE: {
    ...request('FILTER'),
    title: 'Unsupported value type in the filter',
    body: (v: { what: string; type: string }) => `${v.what} cannot be of type ${v.type}.`,
  },
  LOGICAL_OPERATOR_AMONG_COMPARISONS: {
    ...request('FILTER'),
    code: 'FILTER_UNSUPPORTED_OPERATOR',
    title: 'Operator at an invalid position',
    body: (v: { path: string; operator: string }) =>
      `${v.operator} cannot be used under "${v.path}". Write it beside the fields, ` +
      'with an Array of filters.',
  },
  FILTER_UNSUPPORTED_OPERATOR: {
    ...request('FILTER'),
    title: 'Unknown filter operator',
    body: (v: { operator: string; known: readonly string[]; column?: string }) =>
      `"${v.operator}" is not a filter operator` +
      `${v.column === undefined ? '' : ` for ${v.column}`}. ` +
      `Known operators: ${list(v.known)}.`,
  },

  // Errors of projections.
  UNSUPPORTED_PROJECTION_DEFINITION: {
    ...request('PROJECTION'),
    title: 'The projection is not an object',
    body: (v: { type: string }) =>
      `A projection must be a JSON Object, but ${withArticle(v.type)} was sent.`,
  },
  UNSUPPORTED_PROJECTION_PARAM: {
    ...request('PROJECTION'),
    title: 'Malformed projection',
    body: (v: { path: string; reason: string }) =>
      `Projection of "${v.path}": ${v.reason}.`,
  },

  // Errors of sorts.
  OVERLOADED_SORT_ROW_LIMIT: {
    ...request('SORT'),
    title: 'Too many matches for an in-memory sort',
    body: byReason({
      count: (v: { max: number; unit: string }) =>
        `The filter matches too many ${v.unit} for an in-memory sort; the maximum is ` +
        `${v.max}. Narrow the filter.`,
      skipped: (v: { max: number }) =>
        'The server sorts these results in memory, including those that options.skip ' +
        `skips. The skipped results may have at most ${counted(v.max, 'character')} in ` +
        'total, but have more. Narrow the filter, or read page by page instead of skipping.',
    }),
  },
  SORT_CLAUSE_INVALID: {
    ...request('SORT'),
    title: 'Malformed sort',
    body: byReason({
      notAnObject: (v: { type: string }) =>
        `A sort must be a JSON Object, but is of type ${v.type}.`,
      tooManyKeys: (v: { count: number; max: number; setting: string }) =>
        `The sort has ${counted(v.count, 'key')}; the maximum is ${v.max}. Sort by ` +
        `fewer fields, or raise the server setting ${v.setting}.`,
      notAlone: (v: { field: string; others: readonly string[] }) =>
        `${v.field} must be the only key of the sort. Remove ${list(v.others)}.`,
      noTerms: (v: { value: string }) =>
        `Sort on "$lexical" requires a String with words to search for, but ${v.value} ` +
        'was sent.',
      onePage: (v: { by: string }) =>
        `${v.by} has only one page. Leave options.pageState out.`,
    }),
  },
  SORT_CLAUSE_PATH_INVALID: {
    ...request('SORT'),
    title: 'Invalid path in the sort',
    body: (v: { path: string; problem: string }) =>
      `The path "${v.path}" is invalid: ${v.problem}.`,
  },
  SORT_CLAUSE_PATH_UNINDEXED: {
    ...request('SORT'),
    title: 'Sort by a path that is not indexed',
    body: (v: { path: string }) =>
      `The collection does not index "${v.path}", so sorts cannot use it. The indexing ` +
      'option is set when a collection is created.',
  },
  SORT_CLAUSE_VALUE_INVALID: {
    ...request('SORT'),
    title: 'Invalid value in the sort',
    body: byReason({
      value: (v: { path: string; value: string; expected: string }) =>
        `Sort on "${v.path}" requires ${v.expected}, but ${v.value} was sent.`,
      blank: (v: { path: string }) =>
        `Sort on "${v.path}": the text is blank. Send the text to search for.`,
      binary: (v: { path: string; problem: string; value: string }) =>
        `Sort on "${v.path}": $binary ${v.problem}: ${v.value}.`,
      otherObject: (v: { path: string; value: string }) =>
        `Sort on "${v.path}": ${v.value} was sent. An Object must have the form ` +
        '{"$binary": "<Base64>"}.',
      vector: (v: { path: string; problem: string }) =>
        `Sort on "${v.path}": ${v.problem}.`,
      withoutTerms: (v: { path: string; text: string }) =>
        `Sort on "${v.path}": ${withoutTerms(v.text)}.`,
    }),
  },
  UNSUPPORTED_PAGINATION_WITH_LONG_VALUES: {
    ...request('SORT'),
    title: 'Values too long for a page state',
    body: (v: {
      noun: 'document' | 'row'
      sort: readonly string[]
      length: number
      max: number
      pageSize: number
    }) => {
      const key = v.noun === 'row' ? 'the primary key' : '_id'
      const values = [...v.sort.map((name) => `"${name}"`), key]
      return (
        `A page state contains the values of ${list(values)} of the last ${v.noun} on ` +
        `its page. Here it would have ${counted(v.length, 'character')}; the maximum ` +
        `is ${v.max}. ` +
        `${v.sort.length > 0 ? 'Sort by a field with shorter values, or set' : 'Set'} ` +
        `options.limit to no more than ${v.pageSize}, the size of a page.`
      )
    },
  },
  UNSUPPORTED_VECTOR_SORT_FOR_COLLECTION: {
    ...request('SORT'),
    title: 'Vector sort on a collection without vectors',
    body: (v: { target: string }) =>
      `${v.target} was created without the vector option, so sorts cannot use $vector.`,
  },
  UNSUPPORTED_VECTORIZE_SORT_FOR_COLLECTION: {
    ...request('SORT'),
    title: 'The collection has no embedding service',
    body: (v: { target: string; hasLexical: boolean }) =>
      `${v.target} was created without vector.service, so sorts cannot use $vectorize ` +
      `or a String as $hybrid. ${
        v.hasLexical
          ? 'Send {"$vector": …, "$lexical": …} instead.'
          : 'Send {"$vector": …} instead.'
      }`,
  },

  // Errors of updates.
  UNSUPPORTED_UPDATE_DATA_TYPE: {
    ...request('UPDATE'),
    title: 'Malformed update',
    body: (v: { what: string; type: string }) =>
      `${v.what} must be a JSON Object, but is of type ${v.type}.`,
  },
  UNSUPPORTED_UPDATE_OPERATION: {
    ...request('UPDATE'),
    title: 'Unknown update operator',
    body: (v: { operator: string; known: readonly string[] }) =>
      `"${v.operator}" is not an update operator. Known operators: ${list(v.known)}.`,
  },
  UNSUPPORTED_UPDATE_OPERATION_MODIFIER: {
    ...request('UPDATE'),
    title: 'Unknown modifier of an update operator',
    body: (v: { operator: string; modifier: string; known: readonly string[] }) =>
      `${v.operator} has no modifier "${v.modifier}". Modifiers: ${list(v.known)}.`,
  },
  UNSUPPORTED_UPDATE_OPERATION_PARAM: {
    ...request('UPDATE'),
    title: 'Invalid argument of an update operator',
    body: byReason({
      argument: (v: { operator: string; path: string; expected: string; value: string }) =>
        `${v.operator} of "${v.path}" requires ${v.expected}, not ${v.value}.`,
      notAPath: (v: { operator: string; path: string }) =>
        `${v.operator} requires paths, but "${v.path}" is not a path. Write modifiers ` +
        'under a path.',
      overlap: (v: {
        operator: string
        path: string
        otherOperator: string
        otherPath: string
      }) =>
        `${v.operator} of "${v.path}" overlaps with ${v.otherOperator} of ` +
        `"${v.otherPath}". An update can change each path only once.`,
      tooManyPaths: (v: { max: number }) =>
        `The update has more than ${counted(v.max, 'path')}, the maximum. A path of ` +
        'more than 4 segments or 250 characters counts as several. Send several ' +
        'updates.',
      tooManyParts: (v: { operator: string; path: string; max: number }) =>
        `The argument of ${v.operator} of "${v.path}" has more than ` +
        `${counted(v.max, 'part')} in total, the maximum. Use a smaller argument.`,
      malformedValue: (v: {
        operator: string
        path: string
        value: string
        wrapper: string
        expected: string
      }) =>
        `The argument of ${v.operator} of "${v.path}" contains ${v.value}, but ` +
        `${v.wrapper} requires ${v.expected}.`,
      /** The operand of $pull is an invalid filter. `message` is the error of the filter. */
      condition: (v: { operator: string; path: string; message: string }) =>
        `The argument of ${v.operator} of "${v.path}" is invalid: ${v.message}`,
      tooManyComparisons: (v: {
        operator: string
        path: string
        count: number
        elements: number
        max: number
      }) =>
        `${v.operator} of "${v.path}" needs ${counted(v.count, 'comparison')} with the ` +
        `${counted(v.elements, 'element')} of the stored array; the maximum per ` +
        `document is ${v.max}.`,
    }),
  },
  UNSUPPORTED_UPDATE_OPERATION_PATH: {
    ...request('UPDATE'),
    title: 'Path cannot be updated',
    body: (v: { operator: string; path: string; reason: string }) =>
      `${v.operator} cannot change "${v.path}": ${v.reason}.`,
  },
  UNSUPPORTED_UPDATE_OPERATION_TARGET: {
    ...request('UPDATE'),
    title: 'Stored value has the wrong type for the update operator',
    body: (v: { operator: string; path: string; type: string; expected: string }) =>
      `${v.operator} requires ${v.expected} at "${v.path}", but the document has ` +
      `${withArticle(v.type)} there.`,
  },
  UNSUPPORTED_UPDATE_OPERATOR_FOR_DOC_ID: {
    ...request('UPDATE'),
    title: '_id cannot be changed',
    body: (v: { operator: string }) =>
      `${v.operator} cannot change _id. Only $setOnInsert can set it, on an upsert.`,
  },
  UNSUPPORTED_UPDATE_OPERATOR_FOR_VECTOR: {
    ...request('UPDATE'),
    title: 'Operator not supported on $vector',
    body: (v: { operator: string }) =>
      `${v.operator} cannot change $vector. Use $set or $unset on the whole vector.`,
  },
  UNSUPPORTED_UPDATE_OPERATOR_FOR_VECTORIZE: {
    ...request('UPDATE'),
    title: 'Operator not supported on $vectorize',
    body: (v: { operator: string }) =>
      `${v.operator} cannot change $vectorize. Use $set or $unset on the whole text.`,
  },
  UNSUPPORTED_UPDATE_OPERATOR_FOR_LEXICAL: {
    ...request('UPDATE'),
    title: 'Operator not supported on $lexical',
    body: (v: { operator: string }) =>
      `${v.operator} cannot change $lexical. Use $set or $unset on the whole text.`,
  },
} as const satisfies Record<string, CatalogEntry>
