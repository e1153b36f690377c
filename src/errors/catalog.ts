/**
 * Every error and warning of the API: what happened, why, and what to do next.
 *
 * An entry's name is its error code, unless `code` says otherwise: codes are unique only
 * within a family and scope. `status` is the HTTP status where it is not 200. A code that has
 * several reasons has a sentence for each. Clauses, collections and tables have files of their
 * own.
 */
import { clauseErrors } from './clause-errors.ts'
import { collectionSchemaErrors } from './collection-schema-errors.ts'
import {
  byReason,
  counted,
  list,
  request,
  sentence,
  server,
  withArticle,
  type CatalogEntry,
} from './catalog-entry.ts'
import { rowQueryErrors } from './row-query-errors.ts'
import { rowWriteErrors } from './row-write-errors.ts'
import { tableSchemaErrors } from './table-schema-errors.ts'

// A provider's own words come last, as they end anyhow; status is "none" where no answer came.

function refusedBy(v: { provider: string; status: number | 'none'; text: string }): string {
  return (
    `"${v.provider}" refused the request (HTTP status ${v.status}). Check the key, the ` +
    `model and its parameters. The provider says: ${v.text}`
  )
}

function limitedBy(v: Parameters<typeof refusedBy>[0]): string {
  return (
    `"${v.provider}" takes no more requests now (HTTP status ${v.status}). Send the ` +
    `command again later. The provider says: ${v.text}`
  )
}

function failedAt(v: Parameters<typeof refusedBy>[0]): string {
  return (
    `"${v.provider}" failed (HTTP status ${v.status}). The command can be sent again. ` +
    `Details: ${v.text}`
  )
}

function lateAt(v: Parameters<typeof refusedBy>[0]): string {
  return (
    `"${v.provider}" took too long (HTTP status ${v.status}), also when asked again. ` +
    `Details: ${v.text}`
  )
}

function answeredElse(v: { provider: string; expected: string; actual: string }): string {
  return `"${v.provider}" was to answer with ${v.expected}, but gave ${v.actual}.`
}

/** What follows where a body, or a part of it, has another shape. */
const bodyShape =
  'A body is {"<command>": {<fields>}} with exactly one command, whose fields have the ' +
  'shapes that the command takes.'

function againAfter(seconds: number): string {
  return `Nothing was done. Send the command again after ${seconds} s.`
}

export const catalog = {
  ...clauseErrors,
  ...collectionSchemaErrors,
  ...tableSchemaErrors,
  ...rowWriteErrors,
  ...rowQueryErrors,

  // Requests as such.
  COMMAND_ACCEPTS_NO_OPTIONS: {
    ...request(''),
    title: 'The command accepts no options',
    body: (v: { command: string }) =>
      `${v.command} has no options. Leave "options" out, or send it empty.`,
  },
  COMMAND_FIELD_UNKNOWN: {
    ...request(''),
    title: 'Unknown command field',
    body: (v: { field: string; where: string; known: readonly string[] }) =>
      `"${v.field}" is not a field of ${v.where}. Known fields: ${list(
        v.known.toSorted().map((name) => `"${name}"`),
      )}.`,
  },
  COMMAND_FIELD_VALUE_INVALID: {
    ...request(''),
    title: 'Invalid value of a command field',
    body: (v: { field: string; value: string; reason: string }) =>
      `${v.field} cannot be ${v.value}: ${v.reason}.`,
  },
  COMMAND_UNKNOWN: {
    ...request(''),
    title: 'Unknown command',
    body: (v: {
      command: string
      level: string
      /** Where it should have been sent; undefined where there is no such command at all. */
      path?: string | undefined
      known: readonly string[]
    }) =>
      `"${v.command}" is not ${withArticle(v.level)}. ` +
      (v.path === undefined ? '' : `Send it to ${v.path}. `) +
      `Known here are [${v.known.toSorted().join(', ')}].`,
  },
  HYBRID_FIELD_CONFLICT: {
    ...request(''),
    title: '$hybrid conflicts with $vectorize or $lexical',
    body: (v: { fields: readonly string[]; where: string }) =>
      `$hybrid stands together with ${list(v.fields)} in ${v.where}. ` +
      '$hybrid fills $lexical and $vectorize: send either it or them, and no $vector with it.',
  },
  HYBRID_FIELD_UNSUPPORTED_VALUE_TYPE: {
    ...request(''),
    title: '$hybrid has a value of an unsupported type',
    body: (v: { type: string; where: string }) =>
      `$hybrid is of type ${v.type} in ${v.where}. ` +
      'Send a String, an Object with $lexical and $vectorize, or Null.',
  },
  HYBRID_FIELD_UNKNOWN_SUBFIELDS: {
    ...request(''),
    title: 'Unknown field in $hybrid',
    body: (v: { fields: readonly string[]; where: string }) =>
      `$hybrid holds ${list(v.fields)} in ${v.where}. ` +
      'It may hold $lexical and $vectorize, nothing else.',
  },
  HYBRID_FIELD_UNSUPPORTED_SUBFIELD_VALUE_TYPE: {
    ...request(''),
    title: 'Invalid value in $hybrid',
    body: (v: { field: string; type: string; where: string }) =>
      `${v.field} of $hybrid is of type ${v.type} in ${v.where}. Send a String or Null.`,
  },
  INVALID_CREATE_COLLECTION_FIELD: {
    ...request(''),
    title: 'Unknown option of createCollection',
    body: (v: { field: string; where: string; known: readonly string[] }) =>
      `"${v.field}" is not known in ${v.where}. Known there: ${list(v.known)}.`,
  },
  MISSING_RERANK_QUERY_TEXT: {
    ...request(''),
    title: 'Missing query for reranking',
    body: (v: { hasService: boolean }) =>
      'Rerankers compare documents with a text. Send one as ' +
      (v.hasService ? 'sort.$hybrid, as sort.$hybrid.$vectorize, or as ' : '') +
      'options.rerankQuery.',
  },
  REPLY_TOO_LARGE: {
    ...request(''),
    title: 'Reply too large',
    body: (v: { max: number; what?: 'definitions' | 'keyspaces' }) => {
      const max = counted(v.max, 'character')
      if (v.what === 'keyspaces')
        return (
          `The names of keyspaces have more than ${max} together. Drop keyspaces, ` +
          'or raise --max-reply-size.'
        )
      return v.what === 'definitions'
        ? `The definitions have more than ${max} together. Leave out explain ` +
            'to list their names alone, or raise --max-reply-size.'
        : `The documents or rows that were found have more than ${max} together, ` +
            'and results in this order have no pages. Ask for fewer with a smaller limit.'
    },
  },
  REQUEST_NOT_JSON: {
    ...request(''),
    title: 'The request body is not valid JSON',
    body: (v: { problem: string }) =>
      `The request body could not be read as JSON: ${v.problem}.`,
  },
  REQUEST_STRUCTURE_MISMATCH: {
    ...request(''),
    title: 'The request body is not a command',
    body: byReason({
      bodyType: (v: { type: string }) =>
        `The body is of type ${v.type}, not an Object. ${bodyShape}`,
      noCommand: () => `The body holds no command. ${bodyShape}`,
      severalCommands: (v: { keys: number; names: readonly string[] }) =>
        `The body has ${counted(v.keys, 'key')}: ${list(v.names)}. ${bodyShape}`,
      commandType: (v: { command: string; type: string }) =>
        `The command ${v.command} holds a value of type ${v.type}, not an Object. ${bodyShape}`,
      fieldType: (v: { field: string; type: string; expected: string }) =>
        `${v.field} is of type ${v.type}, but takes ${v.expected}. ${bodyShape}`,
      fieldMissing: (v: { field: string; expected?: string }) =>
        `${v.field} is missing${v.expected === undefined ? '' : `, which takes ${v.expected}`}. ` +
        bodyShape,
      otherMember: (v: { field: string; name: string; known: readonly string[] }) =>
        `${v.field} has "${v.name}", but takes only ${list(v.known)}. ${bodyShape}`,
      members: (v: { field: string; members: number }) =>
        `${v.field} has ${counted(v.members, 'member')}, but takes exactly one. ${bodyShape}`,
    }),
  },
  UNSUPPORTED_CONTENT_TYPE: {
    ...request(''),
    status: 415,
    title: 'Unsupported content type',
    body: (v: { contentType: string }) =>
      `Bodies are read as application/json; "${v.contentType}" was sent. ` +
      'Set the Content-Type header accordingly.',
  },
  UNSUPPORTED_CONTENT_ENCODING: {
    ...request(''),
    status: 415,
    title: 'Unsupported content encoding',
    body: (v: { encoding: string; known: readonly string[] }) =>
      `The Content-Encoding header says "${v.encoding}". ` +
      (v.known.length === 0
        ? 'This server reads uncompressed bodies only: send the body uncompressed, or start ' +
          'the server with --compression on.'
        : `Known are ${list(v.known)}, and one of them at a time.`),
  },
  BODY_TOO_LARGE: {
    ...request(''),
    status: 413,
    title: 'Request body too large',
    body: (v: { max: number }) =>
      `A body may have ${counted(v.max, 'byte')}, after unpacking. Send less at a time, for example ` +
      'fewer documents in one insertMany.',
  },
  TOO_MANY_VALUES_IN_BODY: {
    ...request(''),
    title: 'Too many values in the request body',
    body: (v: { max: number; setting: string }) =>
      `The JSON of a body may have ${counted(v.max, 'value')}: objects, arrays, strings, ` +
      'numbers, booleans and nulls, at all depths. Send less at a time, or raise the maximum ' +
      `by the setting ${v.setting}.`,
  },
  UNKNOWN_PATH: {
    ...request(''),
    status: 404,
    title: 'Path not found',
    body: (v: { path: string }) => {
      const root = `${/^\/databases\/[^/]+/.exec(v.path)?.[0] ?? ''}/v1`
      return (
        `"${v.path}" leads nowhere. Commands are sent to ${root}, ${root}/<keyspace> or ` +
        `${root}/<keyspace>/<collection>.`
      )
    },
  },
  UNSUPPORTED_METHOD: {
    ...request(''),
    status: 405,
    title: 'HTTP method not allowed',
    body: (v: { method: string; path: string }) =>
      `${v.method} has no meaning at "${v.path}". Send commands with POST.`,
  },
  MALFORMED_REQUEST: {
    ...request(''),
    status: 400,
    title: 'Malformed request',
    body: (v: { problem: string }) =>
      `The request is ambiguous: ${v.problem}. Send one Host header, and a path alone.`,
  },
  REQUEST_NOT_HTTP: {
    ...request(''),
    status: 400,
    title: 'Invalid HTTP request',
    body: (v: { problem: string }) =>
      `The bytes that arrived cannot be read as HTTP/1.1 (${v.problem}). The connection is closed. ` +
      'Send requests by a library for HTTP, and with https:// only where the server has a certificate.',
  },
  HEADERS_TOO_LARGE: {
    ...request(''),
    status: 431,
    title: 'Request headers too large',
    body: (v: { max: number }) =>
      `The headers of a request may have ${counted(v.max, 'byte')} together. The connection is closed. ` +
      'Send fewer or shorter ones.',
  },
  REQUEST_TOO_SLOW: {
    ...request(''),
    status: 408,
    title: 'Request timed out',
    body: () =>
      'A request was begun and its end did not come, and nothing was done. The connection is ' +
      'closed. Send it again, or start the server with a longer --request-timeout.',
  },
  RATE_LIMIT_EXCEEDED: {
    ...request(''),
    status: 429,
    title: 'Rate limit of the token exceeded',
    body: (v: { perSecond: number; seconds: number }) =>
      `This token may send ${counted(v.perSecond, 'command')} a second, and the server was started ` +
      'with that limit. Nothing was done. Send the command again after ' +
      `${v.seconds} s, or send fewer.`,
  },
  UNSUPPORTED_TABLE_COMMAND: {
    ...request(''),
    title: 'Command not supported on tables',
    body: (v: {
      target: string
      command: string
      table: readonly string[]
      collection: readonly string[]
    }) =>
      `${v.target} is a table, and ${v.command} acts on collections. ` +
      `Table commands: ${list(v.table)}. Collection commands: ${list(v.collection)}.`,
  },
  UNSUPPORTED_COLLECTION_COMMAND: {
    ...request(''),
    title: 'Command not supported on collections',
    body: (v: {
      target: string
      command: string
      table: readonly string[]
      collection: readonly string[]
    }) =>
      `${v.target} is a collection, and ${v.command} acts on tables. ` +
      `Table commands: ${list(v.table)}. Collection commands: ${list(v.collection)}.`,
  },
  UNSUPPORTED_RERANKING_COMMAND: {
    ...request(''),
    title: 'Reranking is disabled for the collection',
    body: (v: { target: string; command: string }) =>
      `${v.target} was created with rerank off, so ${v.command} has no service to ask. ` +
      'Name one in options.rerank, or use a collection that was created with rerank on.',
  },

  // Who is asking.
  MISSING_AUTHENTICATION_TOKEN: {
    ...request('SECURITY'),
    status: 401,
    title: 'Missing token',
    body: () =>
      'Send your token in the Token header. The server prints an administrator token ' +
      'when it first starts.',
  },
  UNAUTHENTICATED_REQUEST: {
    ...request('SECURITY'),
    status: 401,
    title: 'Invalid token',
    body: () =>
      'The token is unknown, revoked, malformed, or its password is wrong. Check the ' +
      'Token header.',
  },
  EXPIRED_TOKEN: {
    ...request('SECURITY'),
    code: 'UNAUTHENTICATED_REQUEST',
    status: 401,
    title: 'Token expired',
    body: (v: { expiredAt: string }) =>
      `The token was valid until ${v.expiredAt}. Nothing was done. Create another token, ` +
      'and send that.',
  },
  CREDENTIALS_LOCKED: {
    ...request('SECURITY'),
    status: 429,
    title: 'Too many invalid credentials from this address',
    body: (v: { seconds: number }) =>
      `The token was not checked. Make sure that it is right, and try again in ${counted(v.seconds, 'second')}.`,
  },
  UNKNOWN_DATABASE: {
    ...request('DATABASE'),
    status: 404,
    title: 'Database not found',
    body: (v: { database: string }) =>
      `No database has the id "${v.database}", or it was terminated. The management API ` +
      'lists the databases with their endpoints.',
  },
  UNAUTHORIZED_ACCESS: {
    ...request('SECURITY'),
    status: 401,
    title: 'Permission denied',
    body: (v: { target: string; action: string; byStore?: boolean }) =>
      v.byStore === true
        ? `The cluster does not let the user that acts for this token ${v.action} ${v.target}. ` +
          'Grant it to that user there, or use another token.'
        : `This token may not ${v.action} ${v.target}. Use a token whose role allows it.`,
  },

  // Documents.
  DOCUMENT_ALREADY_EXISTS: {
    ...request('DOCUMENT'),
    title: 'Duplicate _id',
    body: (v: { id: string }) =>
      `The collection already has a document with _id ${v.id}. Choose another _id, or ` +
      'update or replace the existing document.',
  },
  DOCUMENT_REPLACE_DIFFERENT_DOCID: {
    ...request('DOCUMENT'),
    title: 'The replacement has a different _id',
    body: (v: { found: string; given: string }) =>
      `The document to replace has _id ${v.found}, the replacement has ${v.given}. ` +
      'Leave _id out of the replacement, or make them equal.',
  },
  INVALID_VECTORIZE_VALUE_TYPE: {
    ...request('DOCUMENT'),
    title: '$vectorize is not a string',
    body: (v: { type: string; position: number }) =>
      `$vectorize of document ${v.position} is of type ${v.type}. Send a String.`,
  },
  INVALID_VECTOR_LENGTH: {
    ...request('DOCUMENT'),
    title: 'Wrong vector dimension',
    body: (v: { target: string; expected: number; actual: number }) =>
      `${v.target} holds vectors of ${counted(v.expected, 'number')}; this one has ${v.actual}. ` +
      'Use the embedding model that the collection was created for.',
  },
  LEXICAL_CONTENT_TOO_LONG: {
    ...request('DOCUMENT'),
    title: '$lexical is too long to index',
    body: (v: { target: string; max: number }) =>
      `The terms of the $lexical text take more than ${counted(v.max, 'byte')}, which is what ` +
      `${v.target} indexes at most. Shorten the text.`,
  },
  LEXICAL_QUERY_TOO_LONG: {
    ...request('DOCUMENT'),
    code: 'LEXICAL_CONTENT_TOO_LONG',
    title: 'Search text too long',
    body: (v: { target: string; field: string }) =>
      `The terms of the text to look for in ${v.field} take more bytes than those of any ` +
      `text that ${v.target} indexes may, so nothing can have them all. Search for fewer words.`,
  },
  TEXT_TOO_SLOW_TO_ANALYZE: {
    ...request('DOCUMENT'),
    code: 'LEXICAL_CONTENT_TOO_LONG',
    title: 'Text analysis exceeds its limit',
    body: () =>
      'The analyzer takes too many steps to make terms of this text. Shorten it, send fewer ' +
      'texts at a time, or create the collection with an analyzer that does less: with fewer ' +
      'filters, or with patterns that repeat nothing inside of repetitions.',
  },
  SHRED_BAD_BINARY_VECTOR_VALUE: {
    ...request('DOCUMENT'),
    title: 'Invalid binary vector',
    body: (v: { problem: string }) =>
      `$binary in $vector ${v.problem}. Send the Base64 text of 4-byte big-endian floats.`,
  },
  SHRED_BAD_DOCID_TYPE: {
    ...request('DOCUMENT'),
    title: 'Unsupported type of _id',
    body: (v: { type: string; value: string }) =>
      `_id cannot be ${v.value} (${v.type}). Use a String, a Number, a Boolean, Null, ` +
      '{"$uuid": …}, {"$objectId": …} or {"$date": …}.',
  },
  SHRED_BAD_DOCID_VALUE: {
    ...request('DOCUMENT'),
    title: 'Empty _id',
    body: () => '_id cannot be the empty String. Leave it out to have one generated.',
  },
  SHRED_BAD_DOCUMENT_TYPE: {
    ...request('DOCUMENT'),
    title: 'The document is not an object',
    body: (v: { type: string }) =>
      `A document is a JSON Object; ${withArticle(v.type)} was sent.`,
  },
  SHRED_BAD_DOCUMENT_VECTOR_TYPE: {
    ...request('DOCUMENT'),
    title: '$vector is not a vector',
    body: (v: { problem: string }) =>
      `$vector ${v.problem}. Send an Array of numbers or {"$binary": "<Base64>"}.`,
  },
  SHRED_BAD_DOCUMENT_LEXICAL_TYPE: {
    ...request('DOCUMENT'),
    title: '$lexical is not a string',
    body: (v: { type: string }) => `$lexical is of type ${v.type}. Send a String or Null.`,
  },
  SHRED_BAD_EJSON_VALUE: {
    ...request('DOCUMENT'),
    title: 'Malformed typed value',
    body: (v: { wrapper: string; value: string; path: string; expected: string }) =>
      `${v.wrapper} at "${v.path}" cannot be ${v.value}. It takes ${v.expected}.`,
  },
  SHRED_BAD_FIELD_NAME: {
    ...request('DOCUMENT'),
    title: 'Invalid field name',
    body: (v: { name: string; path: string; reason: string }) =>
      `The field name "${v.name}"${v.path === '' ? '' : ` under "${v.path}"`} is not ` +
      `allowed: ${v.reason}.`,
  },
  SHRED_BAD_VECTOR_SIZE: {
    ...request('DOCUMENT'),
    title: 'Empty vector',
    body: (v: { field: string }) =>
      `${v.field} cannot be an empty Array. Leave it out, or send the numbers.`,
  },
  SHRED_BAD_VECTOR_VALUE: {
    ...request('DOCUMENT'),
    title: 'Invalid vector value',
    body: (v: { field: string; problem: string }) =>
      `${v.field} cannot be used: ${v.problem}.`,
  },
  SHRED_DOC_LIMIT_VIOLATION: {
    ...request('DOCUMENT'),
    title: 'Document limit exceeded',
    body: (v: {
      what: string
      actual: number | string
      max: number
      setting?: string
      hint?: string
    }) =>
      `${v.what} is ${v.actual}; the maximum is ${v.max}` +
      `${v.setting === undefined ? '' : `, which the setting ${v.setting} can raise`}.` +
      (v.hint === undefined ? '' : ` ${v.hint}.`),
  },

  // Warnings, which only ever stand in status.warnings.
  DEPRECATED_COMMAND: {
    ...request('WARNING'),
    title: 'Deprecated command',
    body: (v: { command: string; replacement: string }) =>
      `${v.command} still works; ${v.replacement} is its newer name.`,
  },
  VECTOR_SEARCH_RESULTS_TRUNCATED: {
    ...request('WARNING'),
    title: 'Vector search results truncated',
    body: (v: { max: number; noun: string }) =>
      `A vector search returns at most ${counted(v.max, v.noun)}, the nearest, and more match ` +
      'here. Narrow the filter to reach others, or say with options.limit how many are enough.',
  },
  VECTOR_SEARCH_MAY_MISS_ROWS: {
    ...request('WARNING'),
    title: 'Vector search may miss rows of a large partition',
    body: (v: { max: number }) =>
      `The filter names a partition of more than ${counted(v.max, 'row')}, which the index of the ` +
      'cluster searches. It misses a row whose vector was set after its insert, until the node ' +
      'flushes its memtable. Filter by another indexed column as well, or raise ' +
      '--max-compared-rows.',
  },
  HYBRID_LIMITS_BELOW_LIMIT: {
    ...request('WARNING'),
    title: 'Limit exceeds the candidates of both searches',
    body: (v: { limit: number; vector: number; lexical: number; max: number }) =>
      `limit is ${v.limit}, but by hybridLimits one search finds at most ` +
      `${counted(v.vector, 'document')} and the other ${v.lexical}, so no more than ${v.max} ` +
      'can come. Raise hybridLimits, leave them out, or ask for fewer.',
  },
  HYBRID_SEARCH_MISSING_LEXICAL: {
    ...request('WARNING'),
    title: 'Documents without $lexical were excluded from the hybrid search',
    body: (v: {
      target: string
      count: number
      limit: number
      /** Whether a vector is enough already. */
      isVectorEnough: boolean
      /** Whether $lexical is what documents are to be reranked on. */
      isRerankedOn: boolean
    }) => {
      const setting = 'start the server with --hybrid-eligibility vector'
      const rerankOn = 'set options.rerankOn to a field that they have'
      const advice = !v.isRerankedOn
        ? `${setting}, so that a vector is enough`
        : v.isVectorEnough
          ? rerankOn
          : `${setting} and ${rerankOn}`
      return (
        `The search found ${counted(v.count, 'document')} where limit allows ${v.limit}, and ` +
        `${v.target} has others that match but lack $lexical. Insert documents with $lexical ` +
        `or $hybrid, or ${advice}.`
      )
    },
  },

  HYBRID_SEARCH_WITHOUT_LEXICAL: {
    ...request('WARNING'),
    title: 'Hybrid search ranked by vector only',
    body: (v: { target: string }) =>
      `No document of ${v.target} has $lexical, so the search by vector alone found these. ` +
      'Insert documents with $lexical or $hybrid to search them by words as well.',
  },

  // Failures on our side.
  INTERNAL_SERVER_ERROR: {
    ...server(''),
    title: 'Internal error: a server invariant was violated',
    body: (v: { problem: string }) =>
      `${v.problem}. This is a bug in the server; its log has the details.`,
  },
  UNEXPECTED_SERVER_ERROR: {
    ...server(''),
    title: 'Internal server error',
    body: (v: { kind: string; problem: string }) =>
      `${v.kind}: ${v.problem}. The server's log has the details.`,
  },
  SERVER_OVERLOADED: {
    ...server(''),
    status: 503,
    title: 'Server overloaded',
    body: byReason({
      commands: (v: { seconds: number }) =>
        'The server has as many commands at work, of this token or of all, as it takes. ' +
        againAfter(v.seconds),
      bodies: (v: { seconds: number }) =>
        'The bodies of other requests, of this token or of all, take all the memory there is ' +
        `for them. ${againAfter(v.seconds)}`,
      replies: (v: { seconds: number }) =>
        'Replies that are made or not read yet, of this token or of all, take all the memory ' +
        `there is for them. ${againAfter(v.seconds)}`,
      store: (v: { problem: string; seconds: number }) =>
        `The store has too much to do: ${v.problem}. ${againAfter(v.seconds)}`,
    }),
  },
  FAILED_CONCURRENT_OPERATIONS: {
    ...server('DATABASE'),
    title: 'Too many concurrent updates of the document',
    body: (v: { target: string; attempts: number }) =>
      `A document of ${v.target} was changed by others in each of ${counted(v.attempts, 'attempt')}. ` +
      'Nothing was written to it; the command can be sent again.',
  },
  INVALID_DATABASE_QUERY: {
    ...server('DATABASE'),
    title: 'Value not supported by the database',
    body: (v: { target: string; problem: string }) => `${v.target}: ${v.problem}.`,
  },
  DATABASE_UNKNOWN_KEYSPACE: {
    ...server('DATABASE'),
    code: 'UNKNOWN_KEYSPACE',
    title: 'Keyspace no longer exists',
    body: (v: { keyspace: string }) =>
      `The keyspace "${v.keyspace}" was dropped while the command ran.`,
  },
  COLLECTION_SCHEMA_VERSION_INVALID: {
    ...server('DATABASE'),
    title: 'Unknown version of the collection',
    body: (v: { target: string; problem: string }) =>
      `${v.target} cannot be used here: ${v.problem}. Use a server that knows its version.`,
  },
  ANALYZER_TOO_LARGE: {
    ...server('DATABASE'),
    title: 'Analyzer too large',
    body: (v: { target: string; size: number; max: number }) =>
      `The analyzer of ${v.target} would take ${v.size} bytes of memory, and analyzers may ` +
      `take ${v.max} (--max-analyzer-memory). Commands that analyze no text work. Create another ` +
      'collection or text index with shorter lists, and copy what this one holds.',
  },
  CORRUPTED_COLLECTION_SCHEMA: {
    ...server('DATABASE'),
    title: 'The collection is incomplete',
    body: (v: { target: string; problem: string }) =>
      `${v.target} cannot be used like this: ${v.problem}. "stela check" says what is missing.`,
  },
  DOCUMENT_FROM_DB_UNPARSEABLE: {
    ...server('DATABASE'),
    title: 'A stored document is damaged',
    body: (v: { target: string; problem: string }) =>
      `${v.target} holds a document that cannot be read: ${v.problem}.`,
  },
  STORED_DATA_DAMAGED: {
    ...server('DATABASE'),
    title: 'Stored data is damaged',
    body: (v: { target: string; problem: string }) =>
      `Reading ${v.target} failed: ${v.problem}.`,
  },
  FAILED_READ_REQUEST: {
    ...server('DATABASE'),
    title: 'Read failed',
    body: (v: { target: string; problem: string }) =>
      `Reading ${v.target} failed: ${v.problem}.`,
  },
  FAILED_WRITE_REQUEST: {
    ...server('DATABASE'),
    title: 'Write failed',
    body: (v: { target: string; problem: string }) =>
      `Writing to ${v.target} failed: ${v.problem}.`,
  },
  TIMEOUT_READING_DATA: {
    ...server('DATABASE'),
    title: 'Command timed out',
    body: (v: { command: string; target: string; problem: string }) =>
      `${v.command} on ${v.target} was given up: ${v.problem}. It changed nothing. ` +
      'Let it read less: a filter on indexed fields, or a smaller limit. Where machines of ' +
      'the store are down or busy, send it again later.',
  },
  TIMEOUT_WRITING_DATA: {
    ...server('DATABASE'),
    title: 'Command timed out and may have been applied partially',
    body: (v: { command: string; target: string; problem: string }) =>
      `${v.command} on ${v.target} was given up: ${v.problem}. Part of it may have been ` +
      'written, and that stays. Check what is there, then send the command again for the ' +
      'rest.',
  },
  UNAVAILABLE_DATABASE: {
    ...server('DATABASE'),
    title: 'Not enough replicas available',
    body: (v: { target: string; problem: string }) =>
      `Too few of the machines that keep ${v.target} answer: ${v.problem}. Send the command ` +
      'again later.',
  },
  FAILED_TO_CONNECT_TO_DATABASE: {
    ...server('DATABASE'),
    title: 'No database node is reachable',
    body: (v: { target: string; problem: string }) =>
      `None of the machines that keep ${v.target} can be reached: ${v.problem}. Send the ` +
      'command again later.',
  },
  UNSUPPORTED_DATABASE_QUERY: {
    ...server('DATABASE'),
    title: 'Operation not supported by the database',
    body: (v: { target: string; problem: string }) => `${v.target}: ${v.problem}.`,
  },

  // Failures of providers.
  EMBEDDING_PROVIDER_AUTHENTICATION_KEYS_NOT_PROVIDED: {
    ...server('EMBEDDING_PROVIDER'),
    title: 'Missing key of the embedding provider',
    body: (v: { provider: string; headers: readonly string[]; note: string }) =>
      `"${v.provider}" needs a key. Send it in the ` +
      `${v.headers.length === 1 ? 'header' : 'headers'} ${v.headers.join(' and ')}.` +
      sentence(v.note),
  },
  EMBEDDING_PROVIDER_BAD_HOST_NAME: {
    ...server('EMBEDDING_PROVIDER'),
    title: 'Address of the embedding provider not allowed',
    body: (v: { provider: string; problem: string }) =>
      `"${v.provider}" cannot be called: ${v.problem}. Its address comes from the ` +
      "collection's vector.service parameters, the server's --embedding-urls, or the " +
      "provider's own address.",
  },
  EMBEDDING_PROVIDER_CLIENT_ERROR: {
    ...server('EMBEDDING_PROVIDER'),
    title: 'Embedding provider rejected the request',
    body: refusedBy,
  },
  EMBEDDING_PROVIDER_RATE_LIMITED: {
    ...server('EMBEDDING_PROVIDER'),
    title: 'Rate limit of the embedding provider reached',
    body: limitedBy,
  },
  EMBEDDING_PROVIDER_SERVER_ERROR: {
    ...server('EMBEDDING_PROVIDER'),
    title: 'Embedding provider failed',
    body: failedAt,
  },
  EMBEDDING_PROVIDER_TIMEOUT: {
    ...server('EMBEDDING_PROVIDER'),
    title: 'Embedding provider timed out',
    body: lateAt,
  },
  EMBEDDING_PROVIDER_UNAVAILABLE: {
    ...server('EMBEDDING_PROVIDER'),
    title: 'Embedding provider not available',
    body: byReason({
      notOffered: (v: { name: string; offered: readonly string[] }) =>
        `"${v.name}" cannot be used here: this server offers ${list(v.offered)}.`,
      modelGone: (v: { name: string; model: string }) =>
        `"${v.name}" cannot be used here: it no longer has the model "${v.model}" that the ` +
        'collection was made with.',
      otherModel: (v: { name: string; model: string; local: string }) =>
        `"${v.name}" cannot be used here: the collection was made with the model ` +
        `"${v.model}", and this server runs "${v.local}".`,
      otherCloud: (v: { name: string; local: string; isInstalled: boolean }) =>
        `"${v.name}" cannot be used here: its own service is open to another cloud only. To ` +
        'embed without a key, create the collection with the provider that is built in: ' +
        `${v.local}${v.isInstalled ? '' : " (it needs the server's optional packages)"}. Or ` +
        'the operator names a service that speaks the same language: ' +
        `--embedding-urls ${v.name}=<url>.`,
    }),
  },
  EMBEDDING_PROVIDER_UNEXPECTED_RESPONSE: {
    ...server('EMBEDDING_PROVIDER'),
    title: 'Unexpected reply from the embedding provider',
    body: answeredElse,
  },
  EMBEDDING_RESPONSE_DECODING_ERROR: {
    ...server('EMBEDDING_PROVIDER'),
    title: 'Invalid reply from the embedding provider',
    body: (v: { provider: string; model: string; problem: string }) =>
      `The reply of "${v.provider}", model "${v.model}", is not JSON: ${v.problem}.`,
  },
  RERANKING_PROVIDER_CLIENT_ERROR: {
    ...request('SCHEMA'),
    title: 'Reranking provider rejected the request',
    body: refusedBy,
  },
  RERANKING_PROVIDER_RATE_LIMITED: {
    ...request('SCHEMA'),
    title: 'Rate limit of the reranking provider reached',
    body: limitedBy,
  },
  RERANKING_PROVIDER_SERVER_ERROR: {
    ...request('SCHEMA'),
    title: 'Reranking provider failed',
    body: failedAt,
  },
  RERANKING_PROVIDER_UNEXPECTED_RESPONSE: {
    ...request('SCHEMA'),
    title: 'Unexpected reply from the reranking provider',
    body: answeredElse,
  },
  RERANKING_PROVIDER_TIMEOUT: {
    ...server('RERANKING_PROVIDER'),
    title: 'Reranking provider timed out',
    body: lateAt,
  },
} as const satisfies Record<string, CatalogEntry>

export type ErrorName = keyof typeof catalog

/** The argument that an entry's message needs: none, or one object. */
export type ErrorVariables<Name extends ErrorName> = Parameters<
  (typeof catalog)[Name]['body']
>
