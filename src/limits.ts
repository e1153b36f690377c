/**
 * Every number that bounds what a client or an operator can send, get or wait for.
 *
 * `defaultLimits` belong to a server and are passed along; `settings/limit-settings.ts` lists the ones
 * that operators can set. `fixedLimits` are constants. Other settings, such as timeouts and memory,
 * have their defaults in `settings/config.ts` and `settings/cluster-settings.ts`.
 *
 * Numbers in other files tune internal work and are not visible as a limit: sizes of slices, caching,
 * retries, ranges of types, output of the command line. tests/tidy.test.ts checks this.
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
  /** Bytes of a partition key, and of a value in the sort: Cassandra's lengths have 16 bits. */
  keySizeMax: 65_535,
  /** Numbers in a vector. */
  vectorDimensionMax: 4_096,
  /** UTF-8 bytes of the terms that an analyzer makes of a $lexical text, repeats included. */
  lexicalSizeMax: 8_192,
  /** Characters of all arguments of an analyzer: twice the stop words of all languages. */
  analyzerLengthMax: 250_000,
  /** Entries of all lists of an analyzer: words, synonyms, mappings. Published lists have fewer. */
  analyzerEntriesMax: 10_000,

  /** Documents of one insertMany. */
  insertManyMax: 100,
  /** Characters of a page state in the form of version 0.1, which takes longer to read. */
  oldPageStateLengthMax: 1_100_000,
  /** Documents of one page of find, and of one updateMany call. */
  pageSize: 20,
  /**
   * Characters of the documents of one reply. A larger page ends early and another page follows; a
   * reply without pages is rejected. An in-memory sort may hold as many characters of skipped
   * documents.
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
   * update. A path of more than 4 segments or 250 characters counts as several. No sensible
   * clause comes near; reading millions would hold up everybody else.
   */
  clausePartsMax: 10_000,
  /** Fields of one sort: each one multiplies what comparing two documents costs. */
  sortKeysMax: 64,
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
  /** The same for a change of a document, which another server may change as often. */
  changeAttemptsMax: 10,
} as const

const fixed = {
  /** Segments of a path of a projection, with those of the objects that it stands in. */
  projectionDepthMax: 100,
  /** The greatest power of ten, of either sign, that the first digit of a number may have. */
  exponentMax: 2_147_483_647,
  /** Digits of a varint: an exponent writes in a few characters what is shown in all of them. */
  varintDigitsMax: 1_000,
  /** Largest magnitude of a vector component; sums of larger squares overflow 32-bit floats. */
  vectorMagnitudeMax: 1e17,
  /** A vector all within this is zero, and zero has no direction to take the cosine of. */
  zeroVectorMax: 1e-6,

  /** Filters of an analyzer, char filters included: each one goes over every text. */
  analyzerFiltersMax: 32,
  /**
   * Bytes that compiled analyzers may take in a thread, as estimated by their definitions. The
   * least recently used are evicted; an analyzer that takes more by itself is not compiled.
   */
  analyzerMemoryMax: 64_000_000,
  /** Characters of a definition of an analyzer that the catalog holds in memory. */
  analyzerInlineLengthMax: 2_000,
  /** Characters of a gram: as long as the longest word. */
  gramSizeMax: 255,
  /** Words of a shingle. */
  shingleSizeMax: 32,
  /** Words of a synonym: longer ones would only cost time, for every token of a text. */
  synonymWordsMax: 100,
  /** Characters that a mapping replaces: longer ones would only cost time, at every place. */
  mappingLengthMax: 255,
  /** Largest count in an argument of an analyzer; 9 digits fit 32-bit integers. */
  analyzerCountMax: 999_999_999,
  /** Parentheses in parentheses of a pattern, far from where our own stack would end. */
  patternDepthMax: 200,
  /** Characters of a pattern: compiling one takes microseconds for each. */
  patternLengthMax: 4_096,
  /** Steps of a pattern. Counts such as {1000} are written out, so a short one may be long. */
  patternStepsMax: 20_000,
  /** Steps of the analysis of one text, which does not yield. */
  analysisTextStepsMax: 1_000_000,
  /** Steps of the analysis of all texts of a request. */
  analysisStepsMax: 50_000_000,
  /** Characters of a word, for tokenizers: longer ones are cut into pieces of this length. */
  wordLengthMax: 255,
  /** The most that an analyzer may say instead. */
  wordLengthSettingMax: 1_048_576,
  /** Characters of an HTML tag. A longer one is text, which bounds the search for its end. */
  htmlTagLengthMax: 4_096,

  /** Unknown names of a row or an update that a message lists: more than a table has columns. */
  namesListedMax: 1_000,
  /** Characters of what was sent that a message repeats: enough to recognise it by. */
  echoLengthMax: 1_200,
  /** The same for a value in a clause, beside which others stand. */
  echoValueLengthMax: 200,
  /** Events of a trace: a command that changes page after page could go on for long. */
  traceEventsMax: 200,
  /** Characters of a command that a trace shows. */
  traceCommandLengthMax: 2_048,

  /** Bytes that a provider may send: for each number of a vector, */
  embeddingNumberSizeMax: 64,
  /** for each score of a passage, with what surrounds it, */
  rerankingScoreSizeMax: 1_000,
  /** and for the rest of a reply. */
  providerReplySizeMax: 1_000_000,
  /** Characters of a provider's words that a message repeats. */
  providerWordsLengthMax: 500,
  /** Connections to one host of a provider; what comes on top waits for one to be free. */
  providerConnectionsMax: 16,

  /** Resources on a page of their list, for assistants; more where its last keyspace ends. */
  resourcesPageSize: 100,
  /** Characters of a list of definitions in a resource: it is read and printed in one go. */
  resourceListLengthMax: 1_000_000,
  /** Keyspaces that are looked into for such a page. */
  resourcesKeyspacesMax: 25,
  /** Documents that a resource shows as examples. */
  samplesMax: 3,
  /** Characters of the documents that are sampled; larger documents are left out. */
  samplesLengthMax: 500_000,
  /** Of an example: characters of a text, */
  sampleTextLengthMax: 300,
  /** elements of an array, */
  sampleElementsMax: 5,
  /** and values in all. */
  sampleValuesMax: 200,
  /** Milliseconds for which assistants may keep what is the same for everybody. */
  assistantCacheMs: 300_000,
  /** Bytes of a result over standard output: the official SDKs drop lines beyond 10 MiB. */
  assistantResultSizeMax: 8_388_608,

  /**
   * Milliseconds until an idle connection is closed: longer than clients and proxies keep one, so that
   * the client closes it and no request is lost.
   */
  keepAliveMs: 75_000,
  /** Milliseconds for headers: a client that needs longer is not sending them. So for handshakes. */
  headersMsMax: 20_000,
  /** Connections that wait to be accepted. Past that the system lets clients try again later. */
  backlogMax: 4_096,
  /** Requests that an HTTP/2 connection may have at work; more wait at the client. */
  streamsMax: 128,
  /** Megabytes of its responses that wait; past that it gets no new streams. */
  streamMemoryMax: 32,
  /** Requests of an HTTP/2 connection that are at work at a time. */
  requestsPerConnectionMax: 32,
  /** Requests of one connection that wait. Past that it ends. */
  waitingPerConnectionMax: 1_000,
  /** Requests of all connections that wait. Past that, those end that send more. */
  waitingRequestsMax: 20_000,
  /**
   * Milliseconds for which a turn of the event loop begins handshakes and requests whose sender
   * is not known yet; the rest waits for the next turns. One takes 0.1 to 2 ms.
   */
  arrivalsMsPerTurn: 5,
  /** Milliseconds until an address that was rejected too often is looked at again. */
  rejectedWaitMs: 50,
  /** TLS handshakes of an address that have begun and not ended; more wait. */
  handshakesPerAddressMax: 64,
  /** Bytes of the first message of a TLS handshake; a longer one is not waited for. */
  clientHelloSizeMax: 16_384,
  /** Milliseconds for which the text of the metrics answers further requests. */
  metricsCacheMs: 1_000,
  /** Milliseconds between two log lines about refusals of one kind; more are counted. */
  refusalLogMs: 1_000,
  /** Milliseconds that a request waits for room before it is refused. */
  roomWaitMsMax: 5_000,
  /** Requests that wait for room of one kind; more are refused at once. */
  roomWaitersMax: 1_024,
  /**
   * Entries of one principal in a fair queue: writes, changes of schemas, or runs of the local
   * model. More are refused.
   */
  waitingWorkMax: 4_096,
  /** Milliseconds for which the rest of a refused body is read before its connection ends. */
  refusedBodyMsMax: 10_000,
  /** Compressed bodies that are unpacked at a time: each may take as much as the largest. */
  unpackingMax: 4,
  /** Milliseconds in which nothing of a reply may be read while the server stops. */
  unreadWhileStoppingMsMax: 5_000,

  /** Tokens, roles and users each: all of them are kept in memory. */
  accessEntriesMax: 10_000,
  /** Resources, and actions, of a policy: each is looked at with every command. */
  policyListMax: 1_000,
  /** Characters of a text in a policy. */
  policyTextLengthMax: 500,
  /** Milliseconds that an address waits after too many bad credentials, the first time. */
  lockoutMsMin: 1_000,
  /** The most that it waits. */
  lockoutMsMax: 60_000,
  /** Milliseconds without bad credentials after which an address starts anew. */
  lockoutForgottenMs: 300_000,
  /** Addresses that are remembered for that; the one that was quiet longest goes first. */
  lockoutAddressesMax: 10_000,
  /**
   * Milliseconds after which a database that is not ready was left by a server that died. To
   * make a keyspace takes seconds; the clocks of servers may differ by minutes.
   */
  databaseInitializingMsMax: 600_000,
  /** Terminated databases that stay readable; of more, the oldest do not. */
  terminatedDatabasesMax: 1_000,
  /** Slow commands that the management API tells of; of more, the oldest are forgotten. */
  slowCommandsMax: 100,
  /** Bytes of a request for a backup: the keys of some hundred thousand files. */
  backupBodySizeMax: 16_000_000,
  /** Milliseconds in which nothing of a backup may be read: it holds on to what is overwritten. */
  backupUnreadMsMax: 300_000,

  /** What is nearest to a vector, or ranks best: a cluster gives no more. */
  clusterNearestMax: 1_000,
  /** Documents or rows that are counted on a cluster where it has no estimate. */
  clusterEstimateMax: 1_000,
  /** Characters of the name of a cluster's keyspace, the key of a database included. */
  clusterKeyspaceLengthMax: 48,
  /** Users of a cluster that are connected at a time. */
  clusterUsersMax: 100,
  /**
   * Statements in flight to one node. More are rejected when it falls behind: they would fill memory and
   * be answered after their deadline.
   */
  nodeStatementsMax: 1_024,
  /**
   * Statements that a server has sent to its cluster and that are not answered; others wait. A
   * node works at 128 at a time, unless its operators say otherwise.
   */
  clusterStatementsMax: 96,
  /**
   * Statements of one principal that wait to be sent. More are refused: a node answers as many in
   * a few seconds. An insertMany of long texts may have 2 048 at a time.
   */
  waitingStatementsMax: 16_384,
  /** Statements of the server itself, such as health checks, which have a queue of their own. */
  ownStatementsMax: 512,
  /** Milliseconds for a definition on a cluster, which waits for all of its nodes. */
  definitionMsMax: 60_000,
  /** Milliseconds until an index is ready on a cluster: the rows that are there come first. */
  indexBuildMsMax: 600_000,
}

export const fixedLimits: Readonly<typeof fixed> = fixed

export type Limits = { readonly [name in keyof typeof defaultLimits]: number }

/**
 * Characters of a page state: it has to fit into a body with the query that it belongs to. It
 * holds the values that a sort goes by and the key. Those of the longest document fit, even if
 * each of its characters takes three bytes, of which a state makes four.
 */
export function pageStateLengthMaxOf({ bodySizeMax }: Limits): number {
  return Math.floor((bodySizeMax / 6) * 5)
}

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
  const { clusterStatementsMax, ownStatementsMax, nodeStatementsMax } = fixedLimits
  assert(
    clusterStatementsMax + ownStatementsMax <= nodeStatementsMax,
    'all of them may go to one node',
  )
  const { analysisTextStepsMax, analysisStepsMax, streamsMax } = fixedLimits
  assert(analysisTextStepsMax <= analysisStepsMax, 'a text is part of its request')
  assert(
    fixedLimits.requestsPerConnectionMax <= streamsMax,
    'a connection must be able to send what it may have at work',
  )
  assert(limits.pageSize >= 1, 'a page holds at least one document')
  assert(limits.deleteManyMax >= 1, 'deleteMany must make progress')
}
