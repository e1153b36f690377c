/**
 * Every number that the API promises. Operators may override those that `config.ts` offers
 * as settings; nothing else in the code holds a limit of its own.
 */
import assert from 'node:assert/strict'

export const defaultLimits = {
  /** Bytes of a request body; one more is answered with 413. */
  bodySizeMax: 20_000_000,
  /**
   * Objects, arrays, strings, numbers, booleans and nulls of a request body, at all depths;
   * keys are not counted. An empty object takes two bytes of a body and some 200 of memory,
   * so this bounds what a body can take: about 250 MB, its text included.
   */
  bodyValuesMax: 1_000_000,
  /** Nesting that the JSON reader follows before it gives up on a body. */
  jsonDepthMax: 500,
  /** Characters of one numeral. */
  numeralLengthMax: 100,

  /** Characters of the name of a keyspace, collection, table or user-defined type. */
  nameLengthMax: 48,
  /** Characters of an index's name. */
  indexNameLengthMax: 100,
  /** Characters of the name of a column, or of a user-defined type's field. */
  columnNameLengthMax: 1_000,
  /** Collections in all keyspaces together. */
  collectionsMax: 1_000,
  /** Tables in all keyspaces together. */
  tablesMax: 1_000,
  /** Columns of a table, and fields of a user-defined type. */
  columnsMax: 1_000,
  /** Indexes of one table, of all types. */
  indexesPerTableMax: 100,
  /** User-defined types of a keyspace. */
  typesMax: 1_000,

  /** Bytes of a request to the management API, where it does not say otherwise. */
  adminBodySizeMax: 1_000_000,
  /** Databases on a page of the management API's list, unless a request says how many. */
  databasesPageSize: 25,
  /** The most that a request may say. */
  databasesPageMax: 100,
  /** Characters of a database's name. */
  databaseNameLengthMax: 100,
  /**
   * Milliseconds until all servers on a store know of tokens, roles and databases that one of
   * them made, changed or ended. That one knows at once.
   */
  settingsDelayMsMax: 5_000,

  /** Characters of a document's JSON text. */
  documentLengthMax: 4_000_000,
  /** Levels of a document; the document itself is the first. */
  documentDepthMax: 16,
  /** Characters of a path, names and dots together. */
  pathLengthMax: 1_000,
  /** Properties of one indexed object. */
  objectPropertiesMax: 1_000,
  /** Indexed properties of a whole document. */
  documentPropertiesMax: 2_000,
  /** Elements of an indexed array. */
  arrayLengthMax: 1_000,
  /** UTF-8 bytes of an indexed string. */
  stringSizeMax: 8_000,
  /** Numbers in a vector. */
  vectorDimensionMax: 4_096,
  /** UTF-8 bytes of the terms that an analyzer makes of a $lexical text, repeats included. */
  lexicalSizeMax: 8_192,

  /** Documents of one insertMany. */
  insertManyMax: 100,
  /**
   * Characters of a page state. Those that are given out hold the values of the sort's keys,
   * strings of up to 8 000 bytes as a rule; a hundred of these fit.
   */
  pageStateLengthMax: 1_100_000,
  /** Documents of one page of find, and of one updateMany call. */
  pageSize: 20,
  /**
   * Characters of the documents of one reply. A page that has more ends there and is
   * followed by another; what has no pages is refused.
   */
  replySizeMax: 100_000_000,
  /** Documents that one deleteMany call deletes. */
  deleteManyMax: 20,
  /** Documents that countDocuments counts before it says "more". */
  countMax: 1_000,
  /** Documents that a vector search returns. */
  vectorLimitMax: 1_000,
  /** Documents that findAndRerank returns when no limit is given. */
  rerankLimitDefault: 10,
  /** Documents that each search of a findAndRerank may find, by its hybridLimits. */
  hybridLimitMax: 100,
  /** The same where there are no hybridLimits, and each finds as many as `limit` says. */
  hybridLimitDefaultMax: 1_000,
  /**
   * Documents that each of them looks at, at most, to find as many that take part, where no
   * index says which do.
   */
  hybridCandidatesMax: 4_000,
  /** Matching documents that a sort takes; 0 means any number. */
  sortedDocumentsMax: 0,
  /**
   * Matching rows that a sort takes which the stored order does not serve; 0 means any
   * number.
   */
  tableSortRowsMax: 0,
  /**
   * Fields and elements of a filter, sort or projection, at all depths, and paths of an
   * update. No sensible one comes near; reading millions would hold up everybody else.
   */
  clausePartsMax: 10_000,
  /** Comparisons in one filter. */
  filterComparisonsMax: 64,
  /** Values of one $in or $nin. */
  inValuesMax: 100,
  /** Searches and long reads of one principal that wait for a thread. */
  waitingReadsMax: 512,
  /**
   * Comparisons that the conditions of $pull in an update make with the elements of one
   * document. Indexed arrays come nowhere near; others can have millions of elements.
   */
  pullComparisonsMax: 500_000,
  /** Times that a write which lost a race is tried, the first time included. */
  writeAttemptsMax: 4,
} as const

export type Limits = { readonly [name in keyof typeof defaultLimits]: number }

/** Limits that lean on each other, checked once at start. */
export function checkLimits(limits: Limits): void {
  for (const [name, value] of Object.entries(limits))
    assert(Number.isSafeInteger(value) && value >= 0, `${name} must be a whole number`)
  assert(
    limits.documentDepthMax < limits.jsonDepthMax,
    'a legal document must fit below the depth at which a body is refused',
  )
  assert(
    limits.documentLengthMax <= limits.bodySizeMax,
    'the largest document must fit into a body',
  )
  assert(
    limits.documentLengthMax <= limits.replySizeMax,
    'the largest document must fit into a reply',
  )
  assert(
    limits.vectorDimensionMax < limits.bodyValuesMax,
    'a body must be able to hold a vector',
  )
  assert(
    limits.vectorDimensionMax < limits.clausePartsMax,
    'a sort must be able to hold a vector',
  )
  assert(
    limits.rerankLimitDefault <= limits.hybridLimitDefaultMax,
    'each search of a findAndRerank must be able to find what it returns by default',
  )
  assert(
    limits.hybridLimitDefaultMax <= limits.hybridCandidatesMax,
    'a search of a findAndRerank looks at no fewer documents than it may find',
  )
  assert(limits.pageSize >= 1, 'a page holds at least one document')
  assert(limits.deleteManyMax >= 1, 'deleteMany must make progress')
}
