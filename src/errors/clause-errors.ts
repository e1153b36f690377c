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
    `the analyzer makes no term of ${text}, so there is nothing to look for; send words ` +
    'that it keeps'
  )
}

function undeletable(table: string): string {
  return `Rows of ${table} cannot be deleted by this filter`
}

export const clauseErrors = {
  // Errors of filters.
  FILTER_FIELDS_LIMIT_VIOLATION: {
    ...request('FILTER'),
    title: 'Too many comparisons in the filter',
    body: (v: { count: number; max: number }) =>
      `The filter makes ${counted(v.count, 'comparison')}, and at most ${v.max} may be made.`,
  },
  FILTER_ID_NOT_INDEXED: {
    ...request('FILTER'),
    title: '_id is not indexed in this collection',
    body: (v: { operator: string }) =>
      `The collection's indexing leaves _id out, so only $eq and $in work on it, not ` +
      `${v.operator}.`,
  },
  FILTER_INVALID_EXPRESSION: {
    ...request('FILTER'),
    title: 'Malformed filter',
    body: byReason({
      notNoFilter: (v: { value: string }) =>
        `$not takes a filter, which is a JSON Object, not ${v.value}.`,
      noFilters: (v: { operator: string; value: string }) =>
        `${v.operator} takes an Array of filters, not ${v.value}.`,
      elementNoFilter: (v: { operator: string; value: string }) =>
        `${v.operator} holds ${v.value}, which is not a JSON Object.`,
      fieldBesideOperators: (v: { path: string; field: string }) =>
        `"${v.path}" has the field "${v.field}" beside operators; an object holds either ` +
        'operators or the fields to be equal to.',
      tooManyValues: (v: { operator: string; path: string; count: number; max: number }) =>
        `${v.operator} on "${v.path}" has ${counted(v.count, 'value')}; at most ${v.max} are ` +
        'allowed.',
      argument: (v: { operator: string; path: string; expected: string; value: string }) =>
        `${v.operator} on "${v.path}" takes ${v.expected}, not ${v.value}.`,
      matchUnderNot: () => '$match cannot stand under $not.',
      matchElsewhere: (v: { path: string }) =>
        `$match works on "$lexical" only, not on "${v.path}".`,
      matchWithoutTerms: (v: { path: string; text: string }) =>
        `$match on "${v.path}": ${withoutTerms(v.text)}.`,
      idInOr: () =>
        '_id cannot stand directly in $or; {"_id": {"$in": […]}} takes several ids.',
      notAField: (v: { path: string }) =>
        `"${v.path}" cannot be filtered on: names that start with $ are operators and search ` +
        'fields, and it is neither.',
      operatorBesideFields: (v: { operator: string }) =>
        `"${v.operator}" cannot stand beside fields; of the operators, only $and, $or and $not ` +
        'do.',
      path: (v: { path: string; problem: string }) =>
        `"${v.path}" cannot be filtered on: ${v.problem}.`,
      array: (v: { path: string }) =>
        `"${v.path}" cannot be compared with an Array as it stands; write {"$eq": […]} for ` +
        'that array, or {"$in": […]} for one of several values.',
      columnWithArray: (v: { column: string }) =>
        `"${v.column}" cannot be compared with an Array; write {"$in": […]} for one of ` +
        'several values.',
      searchField: (v: { path: string; operator: string; only: string }) =>
        `"${v.path}" cannot be filtered on by ${v.operator}, only by ${v.only}.`,
      binary: (v: { operator: string; path: string }) =>
        `${v.operator} on "${v.path}": $binary values cannot be compared.`,
      operatorInside: (v: { path: string; operator: string }) =>
        `"${v.path}" is compared with an object that has "${v.operator}" inside; operators ` +
        'go with a whole path, such as {"a.b": {"$gt": 1}}.',
      deletedByLogic: (v: { table: string }) =>
        `${undeletable(v.table)}: $or and $not cannot say which rows to delete.`,
      deletedByOperator: (v: { table: string; operator: string }) =>
        `${undeletable(v.table)}: ${v.operator} cannot say which rows to delete.`,
      deletedByRange: (v: { table: string; column: string }) =>
        `${undeletable(v.table)}: ${v.column} must be given by $eq or $in; a range can be of ` +
        'the last column that the filter names, if it is one of the sort.',
      wildcardInside: (v: { path: string }) =>
        `"${v.path}" is compared with an object that has "*" inside, and no field can be ` +
        'called that.',
    }),
  },
  FILTER_MULTIPLE_ID_FILTER: {
    ...request('FILTER'),
    title: 'More than one condition on _id',
    body: () => 'A filter may hold one comparison on _id. Use $in for several values.',
  },
  FILTER_PATH_UNINDEXED: {
    ...request('FILTER'),
    title: 'Filter on a path that is not indexed',
    body: (v: { path: string }) =>
      `"${v.path}" is not indexed in this collection, so it cannot be filtered on. ` +
      'Indexing is chosen when a collection is created.',
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
      `"${v.path}" has ${v.operator} among its comparisons; write ${v.operator} beside ` +
      'the fields and give it whole filters.',
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
      `A projection is a JSON Object; ${withArticle(v.type)} was sent.`,
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
        `The filter matches more ${v.unit} than this server sorts, which is ${v.max} at ` +
        'most. Narrow the filter.',
      skipped: (v: { max: number }) =>
        'The store does not sort this by itself. The server does, and holds what a page ' +
        `skips: ${counted(v.max, 'character')} at most, and this page skips more. Narrow ` +
        'the filter, or take page after page instead of skipping.',
    }),
  },
  SORT_CLAUSE_INVALID: {
    ...request('SORT'),
    title: 'Malformed sort',
    body: byReason({
      notAnObject: (v: { type: string }) =>
        `A sort is a JSON Object; it is of type ${v.type}.`,
      tooManyKeys: (v: { count: number; max: number; setting: string }) =>
        `The sort has ${counted(v.count, 'key')}; at most ${v.max} are allowed. Sort by ` +
        `fewer fields, or have the server started with a greater ${v.setting}.`,
      notAlone: (v: { field: string; others: readonly string[] }) =>
        `${v.field} sorts alone; remove ${list(v.others)}.`,
      noTerms: (v: { value: string }) =>
        `Sort on "$lexical" takes a String of terms; ${v.value} was sent.`,
      onePage: (v: { by: string }) =>
        `${v.by} has one page only; leave options.pageState out.`,
    }),
  },
  SORT_CLAUSE_PATH_INVALID: {
    ...request('SORT'),
    title: 'Invalid path in the sort',
    body: (v: { path: string; problem: string }) =>
      `"${v.path}" cannot be sorted on: ${v.problem}.`,
  },
  SORT_CLAUSE_PATH_UNINDEXED: {
    ...request('SORT'),
    title: 'Sort by a path that is not indexed',
    body: (v: { path: string }) =>
      `"${v.path}" is not indexed in this collection, so it cannot be sorted on. ` +
      'Indexing is chosen when a collection is created.',
  },
  SORT_CLAUSE_VALUE_INVALID: {
    ...request('SORT'),
    title: 'Invalid value in the sort',
    body: byReason({
      value: (v: { path: string; value: string; expected: string }) =>
        `Sort on "${v.path}": ${v.value} was sent, but it takes ${v.expected}.`,
      blank: (v: { path: string }) =>
        `Sort on "${v.path}": the text is blank, so it has no meaning to search by.`,
      binary: (v: { path: string; problem: string; value: string }) =>
        `Sort on "${v.path}": $binary ${v.problem}: ${v.value}.`,
      otherObject: (v: { path: string; value: string }) =>
        `Sort on "${v.path}": ${v.value} was sent, but the only Object that it takes is ` +
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
        `A page state holds the values of ${list(values)} of the last ${v.noun} on its page. ` +
        `Here it would have ${counted(v.length, 'character')}; the maximum is ${v.max}. ` +
        `${v.sort.length > 0 ? 'Sort by something shorter, or set' : 'Set'} options.limit to ` +
        `no more than a page holds, which is ${v.pageSize}.`
      )
    },
  },
  UNSUPPORTED_VECTOR_SORT_FOR_COLLECTION: {
    ...request('SORT'),
    title: 'Vector sort on a collection without vectors',
    body: (v: { target: string }) =>
      `${v.target} was created without the vector option, so a sort cannot use $vector.`,
  },
  UNSUPPORTED_VECTORIZE_SORT_FOR_COLLECTION: {
    ...request('SORT'),
    title: 'The collection has no embedding service',
    body: (v: { target: string; hasLexical: boolean }) =>
      `${v.target} was created without vector.service, so a sort cannot use $vectorize, ` +
      `nor a text as $hybrid. ${
        v.hasLexical
          ? 'Send {"$vector": …, "$lexical": …} instead.'
          : 'Sort by {"$vector": …} in find instead: without lexical search, there is no hybrid one.'
      }`,
  },

  // Errors of updates.
  UNSUPPORTED_UPDATE_DATA_TYPE: {
    ...request('UPDATE'),
    title: 'Malformed update',
    body: (v: { what: string; type: string }) =>
      `${v.what} must be a JSON Object; it is of type ${v.type}.`,
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
      `${v.operator} does not take "${v.modifier}". It takes: ${list(v.known)}.`,
  },
  UNSUPPORTED_UPDATE_OPERATION_PARAM: {
    ...request('UPDATE'),
    title: 'Invalid argument of an update operator',
    body: byReason({
      argument: (v: { operator: string; path: string; expected: string; value: string }) =>
        `${v.operator} of "${v.path}" takes ${v.expected}, not ${v.value}.`,
      notAPath: (v: { operator: string; path: string }) =>
        `${v.operator} takes paths, and "${v.path}" is none; modifiers go below a path.`,
      overlap: (v: {
        operator: string
        path: string
        otherOperator: string
        otherPath: string
      }) =>
        `${v.operator} of "${v.path}" overlaps with ${v.otherOperator} of "${v.otherPath}"; ` +
        'an update can change a place once.',
      tooManyPaths: (v: { max: number }) =>
        `The update names more than ${counted(v.max, 'path')}; a path of more than 4 ` +
        'segments or 250 characters counts as several. Send several updates.',
      tooManyParts: (v: { operator: string; path: string; max: number }) =>
        `The argument of ${v.operator} of "${v.path}" has more than ${counted(v.max, 'part')} ` +
        'in all.',
      malformedValue: (v: {
        operator: string
        path: string
        value: string
        wrapper: string
        expected: string
      }) =>
        `The argument of ${v.operator} of "${v.path}" has ${v.value}; ${v.wrapper} takes ` +
        `${v.expected}.`,
      /** An invalid operand of $pull, which is a filter; `message` is the error of that filter. */
      condition: (v: { operator: string; path: string; message: string }) =>
        `The argument of ${v.operator} of "${v.path}" cannot be used: ${v.message}`,
      tooManyComparisons: (v: {
        operator: string
        path: string
        count: number
        elements: number
        max: number
      }) =>
        `${v.operator} of "${v.path}" makes ${counted(v.count, 'comparison')} with the ` +
        `${counted(v.elements, 'element')} there, and an update may make ${v.max} with one ` +
        'document.',
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
      `${v.operator} needs ${v.expected} at "${v.path}"; the document has ` +
      `${withArticle(v.type)} there.`,
  },
  UNSUPPORTED_UPDATE_OPERATOR_FOR_DOC_ID: {
    ...request('UPDATE'),
    title: '_id cannot be changed',
    body: (v: { operator: string }) =>
      `${v.operator} cannot act on _id. Only $setOnInsert can set it, on an upsert.`,
  },
  UNSUPPORTED_UPDATE_OPERATOR_FOR_VECTOR: {
    ...request('UPDATE'),
    title: 'Operator not supported on $vector',
    body: (v: { operator: string }) =>
      `${v.operator} cannot act on $vector, which is only set or removed as a whole.`,
  },
  UNSUPPORTED_UPDATE_OPERATOR_FOR_VECTORIZE: {
    ...request('UPDATE'),
    title: 'Operator not supported on $vectorize',
    body: (v: { operator: string }) =>
      `${v.operator} cannot act on $vectorize, which is only set or removed as a whole.`,
  },
  UNSUPPORTED_UPDATE_OPERATOR_FOR_LEXICAL: {
    ...request('UPDATE'),
    title: 'Operator not supported on $lexical',
    body: (v: { operator: string }) =>
      `${v.operator} cannot act on $lexical, which is only set or removed as a whole.`,
  },
} as const satisfies Record<string, CatalogEntry>
