/**
 * Every number that bounds what a client or an operator can send, get or wait for.
 *
 * `defaultLimits` are passed as values, because each server may have its own.
 * `settings/limit-settings.ts` lists the limits that operators can set. `fixedLimits` are
 * constants. Other settings, such as timeouts and memory, have their defaults in
 * `settings/config.ts` and `settings/cluster-settings.ts`.
 *
 * Numbers in other files tune internal work, and clients cannot observe them as limits: sizes of
 * slices, caching, retries, ranges of types, output of the command line. tests/tidy.test.ts checks
 * this.
 */
import assert from 'node:assert/strict'

export const defaultLimits = {
  /** Bytes of a request body; larger bodies are rejected with 413. */
  bodySizeMax: 20_000_000,
  /**
   * Objects, arrays, strings, numbers, booleans and nulls of a request body, at all depths, without
   * keys. An empty object takes 2 bytes of a body but about 200 bytes of memory. This limit bounds
   * the memory of a parsed body to about 250 MB, including its text.
   */
  bodyValuesMax: 1_000_000,
  /** Maximum nesting that the JSON parser accepts in a body. */
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

  /** Bytes of a request to the management API, unless the route has its own limit. */
  adminBodySizeMax: 1_000_000,
  /** Databases per page of the management API's list, unless the request has a limit. */
  databasesPageSize: 25,
  /** Maximum page size that a request for the management API's list of databases may have. */
  databasesPageMax: 100,
  /** Characters of a database's name. */
  databaseNameLengthMax: 100,
  /**
   * Maximum milliseconds until all servers on a store see changes to tokens, roles and
   * databases. The server that made a change sees it at once.
   */
  settingsDelayMsMax: 5_000,

  /** Characters of a document's JSON text. */
  documentLengthMax: 4_000_000,
  /** Nesting levels of a document; the document itself is the first. */
  documentDepthMax: 16,
  /** Characters of a path, including dots. */
  pathLengthMax: 1_000,
  /** Properties of one indexed object. */
  objectPropertiesMax: 1_000,
  /** Indexed properties of a whole document. */
  documentPropertiesMax: 2_000,
  /** Elements of an indexed array. */
  arrayLengthMax: 1_000,
  /** UTF-8 bytes of an indexed string. */
  stringSizeMax: 8_000,
  /**
   * Bytes of a partition key or a clustering value: Cassandra stores lengths in 16 bits.
   */
  keySizeMax: 65_535,
  /** Numbers in a vector. */
  vectorDimensionMax: 4_096,
  /** UTF-8 bytes of the analyzed terms of a $lexical text, including duplicates. */
  lexicalSizeMax: 8_192,
  /**
   * Characters of all arguments of an analyzer: about twice the length of the stop words of all
   * languages.
   */
  analyzerLengthMax: 250_000,
  /**
   * Bytes of compiled analyzers that a server keeps. The least recently used are evicted; an
   * analyzer above the limit is not compiled. While the embedded engine fills a text index, the
   * analyzer of the index may take the same amount in addition.
   */
  analyzerMemoryMax: 48_000_000,
  /**
   * Entries of all lists of an analyzer: words, synonyms, mappings. Published word lists have
   * fewer.
   */
  analyzerEntriesMax: 10_000,

  /** Documents of one insertMany. */
  insertManyMax: 100,
  /** Characters of a page state of version 0.1: its format is JSON, which takes longer to parse. */
  oldPageStateLengthMax: 1_100_000,
  /** Documents per page of find, and per updateMany call. */
  pageSize: 20,
  /**
   * Characters of the documents of one reply. A larger page ends early and another page follows; a
   * reply without pages is rejected. An in-memory sort may hold as many characters of skipped
   * documents.
   */
  replySizeMax: 100_000_000,
  /** Documents per deleteMany call. */
  deleteManyMax: 20,
  /** Documents that countDocuments counts before it returns `moreData`. */
  countMax: 1_000,
  /** Documents that a vector search returns. */
  vectorLimitMax: 1_000,
  /**
   * A vector search with `diversity` chooses its results among this many nearest documents per
   * result, but no more than `vectorLimitMax`.
   */
  diverseCandidatesPerResult: 4,
  /** Minimum number of nearest documents that such a search chooses among. */
  diverseCandidatesMin: 50,
  /** Documents that findAndRerank returns when no limit is given. */
  rerankLimitDefault: 10,
  /** Maximum of each value of hybridLimits in findAndRerank. */
  hybridLimitMax: 100,
  /**
   * Maximum `limit` of a findAndRerank without hybridLimits: the vector search and the term search
   * then use `limit`, too.
   */
  hybridLimitDefaultMax: 1_000,
  /**
   * Maximum results of each search of a findAndRerank, when the search is repeated with a larger
   * limit until enough eligible documents are found.
   */
  hybridCandidatesMax: 4_000,
  /** Maximum matching documents of a sort; 0 means no limit. */
  sortedDocumentsMax: 0,
  /** Maximum matching rows of an in-memory sort; 0 means no limit. */
  tableSortRowsMax: 0,
  /**
   * Fields and elements of a filter, sort or projection, at all depths, and paths of an update. A
   * path of more than 4 segments or 250 characters counts as several. Usual clauses have far fewer
   * parts; parsing millions would block other requests.
   */
  clausePartsMax: 10_000,
  /** Fields of one sort: each adds to the cost of comparing two documents. */
  sortKeysMax: 64,
  /** Comparisons in one filter. */
  filterComparisonsMax: 64,
  /** Values of one $in or $nin. */
  inValuesMax: 100,
  /** Searches and long reads of one principal that may wait for a thread. */
  waitingReadsMax: 512,
  /**
   * Comparisons of array elements with the conditions of $pull, per document of an update. Without
   * a limit, an array without an index may need millions of comparisons.
   */
  pullComparisonsMax: 500_000,
  /** Attempts of a command when concurrent changes make it fail, including the first attempt. */
  writeAttemptsMax: 4,
  /** Attempts to change a document that another server may change concurrently. */
  changeAttemptsMax: 10,
} as const

const fixed = {
  /** Segments of a projection path, including those of enclosing objects. */
  projectionDepthMax: 100,
  /** Largest exponent, positive or negative, of a number in scientific notation. */
  exponentMax: 2_147_483_647,
  /**
   * Digits of a varint. A short numeral with an exponent, such as 1e1000, is printed with all its
   * digits.
   */
  varintDigitsMax: 1_000,
  /** Largest magnitude of a vector component; sums of larger squares overflow 32-bit floats. */
  vectorMagnitudeMax: 1e17,
  /**
   * A vector counts as a zero vector if no component has a magnitude above this number. Cosine is
   * undefined for zero vectors.
   */
  zeroVectorMax: 1e-6,

  /** Filters of an analyzer, including char filters: each processes every text. */
  analyzerFiltersMax: 32,
  /** Characters of an analyzer definition that the catalog keeps in memory. */
  analyzerInlineLengthMax: 2_000,
  /** Characters of an n-gram; as long as the longest word. */
  gramSizeMax: 255,
  /** Words of a shingle. */
  shingleSizeMax: 32,
  /** Words of a synonym: each one adds time for every token of a text. */
  synonymWordsMax: 100,
  /** Characters that a mapping replaces: each one adds time at every position of a text. */
  mappingLengthMax: 255,
  /** Largest count in an argument of an analyzer; 9 digits fit 32-bit integers. */
  analyzerCountMax: 999_999_999,
  /** Nesting depth of parentheses in a pattern; the call stack allows far more. */
  patternDepthMax: 200,
  /** Characters of a pattern: compiling takes microseconds per character. */
  patternLengthMax: 4_096,
  /**
   * Steps of a compiled pattern. Counts such as {1000} are expanded, so a short pattern may
   * have many.
   */
  patternStepsMax: 20_000,
  /** Steps to analyze one text; the analysis of a text cannot be interrupted. */
  analysisTextStepsMax: 1_000_000,
  /** Steps to analyze all texts of a request. */
  analysisStepsMax: 50_000_000,
  /** Characters of a word. Tokenizers split a longer word into pieces of this length. */
  wordLengthMax: 255,
  /** Maximum word length that an analyzer may configure. */
  wordLengthSettingMax: 1_048_576,
  /**
   * Characters of an HTML tag. A longer tag counts as text, so that the search for the end of a tag
   * stays short.
   */
  htmlTagLengthMax: 4_096,

  /**
   * Unknown names of a row or an update that a message lists: more than a table has
   * columns.
   */
  namesListedMax: 1_000,
  /** Characters of the request's input that a message repeats. */
  echoLengthMax: 1_200,
  /** Characters of each value of a clause that a message repeats. */
  echoValueLengthMax: 200,
  /** Events of a trace; without a limit, a command that changes many pages would add any number. */
  traceEventsMax: 200,
  /** Characters of a command that a trace shows. */
  traceCommandLengthMax: 2_048,

  /**
   * Maximum bytes of a provider's reply per number of a vector. The limit of a reply is computed
   * from this limit and the next two.
   */
  embeddingNumberSizeMax: 64,
  /** Maximum bytes of a provider's reply per score of a passage, including its JSON. */
  rerankingScoreSizeMax: 1_000,
  /** Maximum bytes of a provider's reply in addition to vectors and scores. */
  providerReplySizeMax: 1_000_000,
  /** Characters of a provider's error that a message repeats. */
  providerWordsLengthMax: 500,
  /** Connections to one host of a provider; further requests wait for a free one. */
  providerConnectionsMax: 16,

  /**
   * Resources per page of the MCP list; a page ends with a whole keyspace, so it may have
   * more.
   */
  resourcesPageSize: 100,
  /**
   * Characters of a list of definitions in a resource, which is parsed and printed without
   * yielding.
   */
  resourceListLengthMax: 1_000_000,
  /** Keyspaces that are read per page of resources. */
  resourcesKeyspacesMax: 25,
  /** Documents that a resource shows as examples. */
  samplesMax: 3,
  /** Characters of all sampled documents together; larger samples are omitted. */
  samplesLengthMax: 500_000,
  /** Characters of a string in a sample document. */
  sampleTextLengthMax: 300,
  /** Elements of an array in a sample document. */
  sampleElementsMax: 5,
  /** Values of a sample document, at all depths. */
  sampleValuesMax: 200,
  /** Milliseconds for which MCP clients may cache results that are the same for all tokens. */
  assistantCacheMs: 300_000,
  /** Bytes of a result over standard output: the official SDKs drop lines beyond 10 MiB. */
  assistantResultSizeMax: 8_388_608,

  /**
   * Milliseconds until the server closes an idle connection. The timeouts of clients and proxies
   * are shorter, so that they close connections first: a request that is sent while the server
   * closes its connection is lost.
   */
  keepAliveMs: 75_000,
  /**
   * Milliseconds to receive headers or to finish a TLS handshake; slower clients are
   * assumed to be attackers.
   */
  headersMsMax: 20_000,
  /**
   * Connections waiting to be accepted; beyond that the operating system makes clients
   * retry.
   */
  backlogMax: 4_096,
  /** Concurrent streams of an HTTP/2 connection; further requests wait at the client. */
  streamsMax: 128,
  /**
   * Megabytes of unsent responses of an HTTP/2 connection; beyond that it gets no new
   * streams.
   */
  streamMemoryMax: 32,
  /** Requests of an HTTP/2 connection that run concurrently. */
  requestsPerConnectionMax: 32,
  /** Queued requests of one connection; beyond that it is closed. */
  waitingPerConnectionMax: 1_000,
  /**
   * Queued requests of all connections; beyond that, connections that send more are closed.
   */
  waitingRequestsMax: 20_000,
  /**
   * Milliseconds per turn of the event loop for handshakes and unauthenticated requests; the others
   * wait for the next turn. A handshake or request takes 0.1 to 2 ms.
   */
  arrivalsMsPerTurn: 5,
  /**
   * Milliseconds until the server continues to serve an address that exceeded its limit of rejected
   * requests.
   */
  rejectedWaitMs: 50,
  /** TLS handshakes per address that run concurrently; others wait. */
  handshakesPerAddressMax: 64,
  /** Bytes of a TLS ClientHello. The server does not wait for the end of a longer one. */
  clientHelloSizeMax: 16_384,
  /** Milliseconds for which the rendered metrics are cached. */
  metricsCacheMs: 1_000,
  /**
   * Milliseconds between two log lines about refusals of one kind. Refusals in between are only
   * counted.
   */
  refusalLogMs: 1_000,
  /**
   * Milliseconds that a request waits for memory or a command slot before it is rejected.
   */
  roomWaitMsMax: 5_000,
  /** Requests of a principal that wait for one resource; further ones are rejected at once. */
  roomWaitersMax: 1_024,
  /**
   * Entries of one principal in a fair queue: writes, schema changes, or runs of the local
   * model. Further ones are rejected.
   */
  waitingWorkMax: 4_096,
  /**
   * Milliseconds for which the remaining bytes of a rejected body are read before the connection is
   * closed.
   */
  refusedBodyMsMax: 10_000,
  /**
   * Compressed bodies that are decompressed concurrently: each may decompress to the maximum
   * size of a body.
   */
  unpackingMax: 4,
  /** Milliseconds without progress after which a stopping server drops a reply. */
  unreadWhileStoppingMsMax: 5_000,

  /** Maximum number of tokens, of roles and of users: all of them are kept in memory. */
  accessEntriesMax: 10_000,
  /** Maximum number of resources, and of actions, per policy: every command checks them. */
  policyListMax: 1_000,
  /** Characters of a string in a policy. */
  policyTextLengthMax: 500,
  /** Milliseconds for which the code of a sign-in link is valid. */
  signInCodeMs: 600_000,
  /** Bytes of the body with which the console redeems the code. */
  signInBodySizeMax: 1_000,
  /** Milliseconds of the first lockout of an address. */
  lockoutMsMin: 1_000,
  /** Milliseconds of the longest lockout. */
  lockoutMsMax: 60_000,
  /** Milliseconds without failed attempts after which the count of an address is reset. */
  lockoutForgottenMs: 300_000,
  /** Number of tracked addresses. The address whose last failure is the oldest is evicted first. */
  lockoutAddressesMax: 10_000,
  /**
   * Milliseconds after which an initializing database is assumed to be left by a server
   * that died. Creating a keyspace takes seconds; clocks of servers may differ by minutes.
   */
  databaseInitializingMsMax: 600_000,
  /** Terminated databases that are kept; the oldest are removed first. */
  terminatedDatabasesMax: 1_000,
  /** Slow commands that are kept; the oldest are removed first. */
  slowCommandsMax: 100,
  /** Bytes of a backup request. It may list the keys of some hundred thousand files. */
  backupBodySizeMax: 16_000_000,
  /**
   * Milliseconds without progress after which a backup is aborted: while it runs, overwritten pages
   * cannot be freed.
   */
  backupUnreadMsMax: 300_000,

  /** Maximum results of a search by vector or by terms on a cluster. */
  clusterNearestMax: 1_000,
  /**
   * Maximum documents or rows that are counted when the nodes of a cluster have no estimate yet.
   */
  clusterEstimateMax: 1_000,
  /** Characters of the name of a cluster's keyspace, including the key of a database. */
  clusterKeyspaceLengthMax: 48,
  /** Cluster users with open connections. */
  clusterUsersMax: 100,
  /**
   * Concurrent statements on one node. When a node falls behind, further statements are rejected:
   * they would fill memory and be answered after their deadline.
   */
  nodeStatementsMax: 1_024,
  /**
   * Concurrent statements of a server; others wait. A node executes 128 concurrently by default.
   */
  clusterStatementsMax: 96,
  /**
   * Queued statements of one principal; further ones are rejected. A node executes this many in a
   * few seconds. An insertMany of long texts may queue 2 048 at a time.
   */
  waitingStatementsMax: 16_384,
  /** Statements of the server itself, such as health checks, which have their own queue. */
  ownStatementsMax: 512,
  /** Milliseconds for a schema change on a cluster, which waits for all of its nodes. */
  definitionMsMax: 60_000,
  /** Milliseconds to build an index on a cluster over existing rows. */
  indexBuildMsMax: 600_000,
}

export const fixedLimits: Readonly<typeof fixed> = fixed

export type Limits = { readonly [name in keyof typeof defaultLimits]: number }

/**
 * Maximum characters of a page state. A request body must have space for the page state and the
 * query. A page state contains sort values and a key, which together are at most as long as the
 * longest document. Their characters take up to three bytes each, which Base64 encodes in four
 * characters.
 */
export function pageStateLengthMaxOf({ bodySizeMax }: Limits): number {
  return Math.floor((bodySizeMax / 6) * 5)
}

/** Checks dependencies between limits; called at start. */
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
  assert(
    limits.diverseCandidatesPerResult >= 1,
    'a search with diversity must find the results that it chooses',
  )
  assert(limits.pageSize >= 1, 'a page holds at least one document')
  assert(limits.deleteManyMax >= 1, 'deleteMany must make progress')
}
