/**
 * The catalog of all errors and warnings of the API. Each message says what happened, why, and what
 * to do next.
 *
 * An entry's name is its error code, unless `code` is set: codes are unique only within a family
 * and scope. `status` is the HTTP status if it is not 200. A code with several reasons has one
 * sentence per reason. Entries for clauses, collections and tables are in other files.
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

// The provider's text is quoted last, because it may end with any punctuation. `status` is "none"
// if the provider did not reply.

function refusedBy(v: { provider: string; status: number | 'none'; text: string }): string {
  return (
    `"${v.provider}" rejected the request (HTTP status ${v.status}). Check the key, ` +
    `the model and its parameters. Message of the provider: ${v.text}`
  )
}

function limitedBy(v: Parameters<typeof refusedBy>[0]): string {
  return (
    `"${v.provider}" accepts no more requests at present (HTTP status ${v.status}). ` +
    `Send the command again later. Message of the provider: ${v.text}`
  )
}

function failedAt(v: Parameters<typeof refusedBy>[0]): string {
  return (
    `"${v.provider}" failed (HTTP status ${v.status}). Send the command again. ` +
    `Details: ${v.text}`
  )
}

function lateAt(v: Parameters<typeof refusedBy>[0]): string {
  return (
    `"${v.provider}" did not answer in time (HTTP status ${v.status}), not even when the ` +
    `request was repeated. Send the command again later. Details: ${v.text}`
  )
}

function answeredElse(v: { provider: string; expected: string; actual: string }): string {
  return `"${v.provider}" must answer with ${v.expected}, but sent ${v.actual}.`
}

/** Hint about the shape of a body, for errors about malformed bodies. */
const bodyShape = 'A body has the form {"<command>": {<fields>}}, with exactly one command.'

function againAfter(seconds: number): string {
  return `Nothing was done. Send the command again after ${seconds} s.`
}

export const catalog = {
  ...clauseErrors,
  ...collectionSchemaErrors,
  ...tableSchemaErrors,
  ...rowWriteErrors,
  ...rowQueryErrors,

  // Errors of whole requests.
  COMMAND_ACCEPTS_NO_OPTIONS: {
    ...request(''),
    title: 'The command accepts no options',
    body: (v: { command: string }) =>
      `${v.command} has no options. Leave out "options", or send an empty Object.`,
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
      /** The path that accepts the command; undefined for an unknown command. */
      path?: string | undefined
      known: readonly string[]
    }) =>
      `"${v.command}" is not ${withArticle(v.level)}. ` +
      (v.path === undefined ? '' : `Send it to ${v.path}. `) +
      `Known commands: [${v.known.toSorted().join(', ')}].`,
  },
  HYBRID_FIELD_CONFLICT: {
    ...request(''),
    title: '$hybrid conflicts with $vectorize or $lexical',
    body: (v: { fields: readonly string[]; where: string }) =>
      `${v.where} has $hybrid and ${list(v.fields)}. $hybrid sets $lexical and ` +
      '$vectorize: send either $hybrid alone, or the other fields without it.',
  },
  HYBRID_FIELD_UNSUPPORTED_VALUE_TYPE: {
    ...request(''),
    title: '$hybrid has a value of an unsupported type',
    body: (v: { type: string; where: string }) =>
      `$hybrid in ${v.where} is of type ${v.type}. Send a String, an Object with ` +
      '$lexical and $vectorize, or Null.',
  },
  HYBRID_FIELD_UNKNOWN_SUBFIELDS: {
    ...request(''),
    title: 'Unknown field in $hybrid',
    body: (v: { fields: readonly string[]; where: string }) =>
      `$hybrid in ${v.where} contains ${list(v.fields)}. Only $lexical and $vectorize ` +
      'are allowed.',
  },
  HYBRID_FIELD_UNSUPPORTED_SUBFIELD_VALUE_TYPE: {
    ...request(''),
    title: 'Invalid value in $hybrid',
    body: (v: { field: string; type: string; where: string }) =>
      `${v.field} of $hybrid in ${v.where} is of type ${v.type}. Send a String or Null.`,
  },
  INVALID_CREATE_COLLECTION_FIELD: {
    ...request(''),
    title: 'Unknown option of createCollection',
    body: (v: { field: string; where: string; known: readonly string[] }) =>
      `"${v.field}" is not an option in ${v.where}. Known options: ${list(v.known)}.`,
  },
  MISSING_RERANK_QUERY_TEXT: {
    ...request(''),
    title: 'Missing query for reranking',
    body: (v: { hasService: boolean }) =>
      'A reranker compares documents with a text. Send this text as ' +
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
          `The names of the keyspaces have more than ${max} in total. Drop keyspaces, ` +
          'or raise --max-reply-size.'
        )
      return v.what === 'definitions'
        ? `The definitions have more than ${max} in total. Leave out options.explain ` +
            'to list only names, or raise --max-reply-size.'
        : `The results have more than ${max} in total, and results in this order cannot ` +
            'be split into pages. Use a smaller options.limit.'
    },
  },
  REQUEST_NOT_JSON: {
    ...request(''),
    title: 'The request body is not valid JSON',
    body: (v: { problem: string }) =>
      `The request body cannot be parsed as JSON: ${v.problem}.`,
  },
  REQUEST_STRUCTURE_MISMATCH: {
    ...request(''),
    title: 'The request body is not a command',
    body: byReason({
      bodyType: (v: { type: string }) =>
        `The body must be an Object, but is of type ${v.type}. ${bodyShape}`,
      noCommand: () => `The body contains no command. ${bodyShape}`,
      severalCommands: (v: { keys: number; names: readonly string[] }) =>
        `The body has ${counted(v.keys, 'key')}: ${list(v.names)}. ${bodyShape}`,
      commandType: (v: { command: string; type: string }) =>
        `The value of the command ${v.command} must be an Object, but is of type ` +
        `${v.type}. ${bodyShape}`,
      fieldType: (v: { field: string; type: string; expected: string }) =>
        `${v.field} must be ${v.expected}, but is of type ${v.type}.`,
      fieldMissing: (v: { field: string; expected?: string }) =>
        `${v.field} is missing.${v.expected === undefined ? '' : ` Send ${v.expected}.`}`,
      otherMember: (v: { field: string; name: string; known: readonly string[] }) =>
        `${v.field} contains "${v.name}". Only these are allowed: ${list(v.known)}.`,
      members: (v: { field: string; members: number }) =>
        `${v.field} has ${counted(v.members, 'member')}. Exactly one is allowed.`,
    }),
  },
  UNSUPPORTED_CONTENT_TYPE: {
    ...request(''),
    status: 415,
    title: 'Unsupported content type',
    body: (v: { contentType: string }) =>
      `The content type "${v.contentType}" is not supported. Send JSON, with the ` +
      'header Content-Type: application/json.',
  },
  UNSUPPORTED_CONTENT_ENCODING: {
    ...request(''),
    status: 415,
    title: 'Unsupported content encoding',
    body: (v: { encoding: string; known: readonly string[] }) =>
      `The content encoding "${v.encoding}" is not supported. ` +
      (v.known.length === 0
        ? 'This server accepts only uncompressed bodies. Send the body uncompressed, ' +
          'or start the server with --compression on.'
        : `Use one of ${list(v.known)}, and only one per request.`),
  },
  BODY_TOO_LARGE: {
    ...request(''),
    status: 413,
    title: 'Request body too large',
    body: (v: { max: number }) =>
      `The body exceeds the maximum of ${counted(v.max, 'byte')} after decompression. ` +
      'Send less per request, for example fewer documents in an insertMany.',
  },
  TOO_MANY_VALUES_IN_BODY: {
    ...request(''),
    title: 'Too many values in the request body',
    body: (v: { max: number; setting: string }) =>
      `The body exceeds the maximum of ${counted(v.max, 'JSON value')}: objects, ` +
      'arrays, strings, numbers, booleans and nulls, at all depths. Send less per ' +
      `request, or raise the setting ${v.setting}.`,
  },
  UNKNOWN_PATH: {
    ...request(''),
    status: 404,
    title: 'Path not found',
    body: (v: { path: string }) => {
      const root = `${/^\/databases\/[^/]+/.exec(v.path)?.[0] ?? ''}/v1`
      return (
        `"${v.path}" is not a path of this server. Send commands to ${root}, ` +
        `${root}/<keyspace> or ${root}/<keyspace>/<collection>.`
      )
    },
  },
  UNSUPPORTED_METHOD: {
    ...request(''),
    status: 405,
    title: 'HTTP method not allowed',
    body: (v: { method: string; path: string }) =>
      `${v.method} is not supported at "${v.path}". Send commands with POST.`,
  },
  MALFORMED_REQUEST: {
    ...request(''),
    status: 400,
    title: 'Malformed request',
    body: (v: { problem: string }) =>
      `The request is ambiguous: ${v.problem}. Send one Host header, and only a path ` +
      'in the request line.',
  },
  REQUEST_NOT_HTTP: {
    ...request(''),
    status: 400,
    title: 'Invalid HTTP request',
    body: (v: { problem: string }) =>
      `The request is not valid HTTP/1.1 (${v.problem}). The connection is closed. Use ` +
      'an HTTP library, and https:// only when the server has a certificate.',
  },
  HEADERS_TOO_LARGE: {
    ...request(''),
    status: 431,
    title: 'Request headers too large',
    body: (v: { max: number }) =>
      `The headers exceed the maximum of ${counted(v.max, 'byte')} in total. The ` +
      'connection is closed. Send fewer or shorter headers.',
  },
  REQUEST_TOO_SLOW: {
    ...request(''),
    status: 408,
    title: 'Request timed out',
    body: () =>
      'The request did not arrive completely in time. Nothing was done, and the ' +
      'connection is closed. Send the request again, or start the server with a longer ' +
      '--request-timeout.',
  },
  RATE_LIMIT_EXCEEDED: {
    ...request(''),
    status: 429,
    title: 'Rate limit of the token exceeded',
    body: (v: { perSecond: number; seconds: number }) =>
      `This server accepts ${counted(v.perSecond, 'command')} per second and token. ` +
      `Nothing was done. Send the command again after ${v.seconds} s, or send fewer ` +
      'commands.',
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
      `${v.target} is a table, but ${v.command} works only on collections. Table ` +
      `commands: ${list(v.table)}. Collection commands: ${list(v.collection)}.`,
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
      `${v.target} is a collection, but ${v.command} works only on tables. Table ` +
      `commands: ${list(v.table)}. Collection commands: ${list(v.collection)}.`,
  },
  UNSUPPORTED_RERANKING_COMMAND: {
    ...request(''),
    title: 'Reranking is disabled for the collection',
    body: (v: { target: string; command: string }) =>
      `${v.target} was created with reranking disabled, so ${v.command} has no ` +
      'reranking service. Name one in options.rerank, or use a collection with ' +
      'reranking.',
  },

  // Errors of authentication and authorization.
  MISSING_AUTHENTICATION_TOKEN: {
    ...request('SECURITY'),
    status: 401,
    title: 'Missing token',
    body: () =>
      'Send your token in the Token header. The server prints an administrator token ' +
      'at its first start.',
  },
  UNAUTHENTICATED_REQUEST: {
    ...request('SECURITY'),
    status: 401,
    title: 'Invalid token',
    body: () =>
      'The token is unknown, revoked or malformed, or its password is wrong. Check the ' +
      'Token header.',
  },
  EXPIRED_TOKEN: {
    ...request('SECURITY'),
    code: 'UNAUTHENTICATED_REQUEST',
    status: 401,
    title: 'Token expired',
    body: (v: { expiredAt: string }) =>
      `The token expired at ${v.expiredAt}. Nothing was done. Create another token.`,
  },
  CREDENTIALS_LOCKED: {
    ...request('SECURITY'),
    status: 429,
    title: 'Too many invalid credentials from this address',
    body: (v: { seconds: number }) =>
      `The token was not checked. Correct it, and try again after ${v.seconds} s.`,
  },
  UNKNOWN_DATABASE: {
    ...request('DATABASE'),
    status: 404,
    title: 'Database not found',
    body: (v: { database: string }) =>
      `There is no database with the id "${v.database}", or it was terminated. The ` +
      'management API lists the databases and their endpoints.',
  },
  UNAUTHORIZED_ACCESS: {
    ...request('SECURITY'),
    status: 401,
    title: 'Permission denied',
    body: (v: { target: string; action: string; byStore?: boolean }) =>
      v.byStore === true
        ? `The cluster user that acts for this token may not ${v.action} ${v.target}. ` +
          'Grant the permission in the cluster, or use another token.'
        : `This token may not ${v.action} ${v.target}. Use a token whose role allows it.`,
  },

  // Errors of documents.
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
      `The document to replace has _id ${v.found}, but the replacement has ${v.given}. ` +
      'Leave _id out of the replacement, or send the same one.',
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
      `${v.target} requires vectors of ${counted(v.expected, 'number')}; this one has ` +
      `${v.actual}. Use the embedding model that the collection was created for.`,
  },
  LEXICAL_CONTENT_TOO_LONG: {
    ...request('DOCUMENT'),
    title: '$lexical is too long to index',
    body: (v: { target: string; max: number }) =>
      `The terms of the $lexical text have more than ${counted(v.max, 'byte')}, the ` +
      `maximum that ${v.target} indexes. Shorten the text.`,
  },
  LEXICAL_QUERY_TOO_LONG: {
    ...request('DOCUMENT'),
    code: 'LEXICAL_CONTENT_TOO_LONG',
    title: 'Search text too long',
    body: (v: { target: string; field: string }) =>
      `The search text for ${v.field} has more terms than any text that ${v.target} ` +
      'can index, so nothing can match. Search for fewer words.',
  },
  TEXT_TOO_SLOW_TO_ANALYZE: {
    ...request('DOCUMENT'),
    code: 'LEXICAL_CONTENT_TOO_LONG',
    title: 'Text analysis exceeds its limit',
    body: () =>
      'The analyzer needs too many steps for this text. Shorten the text, send fewer ' +
      'texts per request, or create the collection with a simpler analyzer: fewer ' +
      'filters, and patterns without nested repetitions.',
  },
  SHRED_BAD_BINARY_VECTOR_VALUE: {
    ...request('DOCUMENT'),
    title: 'Invalid binary vector',
    body: (v: { problem: string }) =>
      `$binary in $vector ${v.problem}. Send 4-byte big-endian floats as Base64.`,
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
    body: () =>
      '_id cannot be an empty String. Leave it out, and the server generates one.',
  },
  SHRED_BAD_DOCUMENT_TYPE: {
    ...request('DOCUMENT'),
    title: 'The document is not an object',
    body: (v: { type: string }) =>
      `A document must be a JSON Object, but ${withArticle(v.type)} was sent.`,
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
      `${v.wrapper} at "${v.path}" cannot be ${v.value}. Send ${v.expected}.`,
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
      `${v.field} cannot be an empty Array. Send numbers, or leave the field out.`,
  },
  SHRED_BAD_VECTOR_VALUE: {
    ...request('DOCUMENT'),
    title: 'Invalid vector value',
    body: (v: { field: string; problem: string }) => `${v.field} is invalid: ${v.problem}.`,
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
      `${v.what} is ${v.actual}; the maximum is ` +
      `${v.max}${v.setting === undefined ? '' : `, set by ${v.setting}`}.` +
      (v.hint === undefined ? '' : ` ${v.hint}.`),
  },

  // Warnings. Replies contain them only in status.warnings.
  DEPRECATED_COMMAND: {
    ...request('WARNING'),
    title: 'Deprecated command',
    body: (v: { command: string; replacement: string }) =>
      `${v.command} is deprecated and still works. Use ${v.replacement} instead.`,
  },
  VECTOR_SEARCH_RESULTS_TRUNCATED: {
    ...request('WARNING'),
    title: 'Vector search results truncated',
    body: (v: { max: number; noun: string }) =>
      `A vector search returns only the nearest ${counted(v.max, v.noun)}, but more ` +
      'match. To find others, narrow the filter. To omit this warning, set options.limit.',
  },
  VECTOR_SEARCH_MAY_MISS_ROWS: {
    ...request('WARNING'),
    title: 'Vector search may miss rows of a large partition',
    body: (v: { max: number }) =>
      `The filter selects a partition of more than ${counted(v.max, 'row')}, so the ` +
      'search uses the vector index of the cluster. This index misses rows whose ' +
      'vectors were set after their insert, until the node flushes its memtable. ' +
      'Filter by another indexed column as well, or raise --max-compared-rows.',
  },
  HYBRID_LIMITS_BELOW_LIMIT: {
    ...request('WARNING'),
    title: 'Limit exceeds the sum of both hybridLimits',
    body: (v: { limit: number; vector: number; lexical: number; max: number }) =>
      `options.limit is ${v.limit}, but options.hybridLimits allows ` +
      `${counted(v.vector, 'document')} from the vector search and ${v.lexical} from the ` +
      `lexical search, so at most ${v.max} can be returned. Raise or leave out ` +
      'hybridLimits, or lower limit.',
  },
  HYBRID_SEARCH_MISSING_LEXICAL: {
    ...request('WARNING'),
    title: 'Documents without $lexical were excluded from the hybrid search',
    body: (v: {
      target: string
      count: number
      limit: number
      /** Whether documents with only a vector are eligible. */
      isVectorEnough: boolean
      /** Whether `rerankOn` is $lexical. */
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
        `The search found ${counted(v.count, 'document')}, but options.limit is ` +
        `${v.limit}. Other documents of ${v.target} match, but have no $lexical. ` +
        `Insert documents with $lexical or $hybrid, or ${advice}.`
      )
    },
  },

  HYBRID_SEARCH_WITHOUT_LEXICAL: {
    ...request('WARNING'),
    title: 'Hybrid search ranked by vector only',
    body: (v: { target: string }) =>
      `No document of ${v.target} has $lexical, so only the vector search found ` +
      'documents. Insert documents with $lexical or $hybrid for a hybrid search.',
  },

  // Errors of the server itself.
  INTERNAL_SERVER_ERROR: {
    ...server(''),
    title: 'Internal error: a server invariant was violated',
    body: (v: { problem: string }) =>
      `${v.problem}. This is a bug in the server. See the server log for details.`,
  },
  UNEXPECTED_SERVER_ERROR: {
    ...server(''),
    title: 'Internal server error',
    body: (v: { kind: string; problem: string }) =>
      `${v.kind}: ${v.problem}. See the server log for details.`,
  },
  SERVER_OVERLOADED: {
    ...server(''),
    status: 503,
    title: 'Server overloaded',
    body: byReason({
      commands: (v: { max: number; seconds: number }) =>
        `Too many commands are running. The server runs at most ${v.max} at a time ` +
        `(--max-commands); the limit for one token is lower. ${againAfter(v.seconds)}`,
      bodies: (v: { max: number; seconds: number }) =>
        'The memory for request bodies is in use. All requests together may use ' +
        `${counted(v.max, 'byte')} (--max-body-memory); the limit for one token is lower. ` +
        againAfter(v.seconds),
      replies: (v: { max: number; seconds: number }) =>
        'The memory for replies that clients have not read yet is in use. All replies ' +
        `together may use ${counted(v.max, 'byte')} (--max-reply-memory); the limit for one ` +
        'token is lower. ' +
        againAfter(v.seconds),
      values: (v: { max: number; seconds: number }) =>
        'The memory for the values of long requests and documents is in use, and too many ' +
        `commands of this token wait for it. All commands together may use ${counted(v.max, 'byte')} ` +
        `(--max-value-memory). ${againAfter(v.seconds)}`,
      store: (v: { problem: string; seconds: number }) =>
        `The store is overloaded: ${v.problem}. ${againAfter(v.seconds)}`,
    }),
  },
  FAILED_CONCURRENT_OPERATIONS: {
    ...server('DATABASE'),
    title: 'Too many concurrent updates of the document',
    body: (v: { target: string; attempts: number }) =>
      `A document of ${v.target} was not changed: ${counted(v.attempts, 'attempt')} failed, ` +
      'because other commands changed it at the same time. Send the command again.',
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
      `${v.target} cannot be used: ${v.problem}. Use a server that supports this version.`,
  },
  ANALYZER_TOO_LARGE: {
    ...server('DATABASE'),
    title: 'Analyzer too large',
    body: (v: { target: string; size: number; max: number }) =>
      `The analyzer of ${v.target} needs ${v.size} bytes of memory; the maximum for ` +
      `all analyzers is ${v.max} (--max-analyzer-memory). Commands that analyze no text ` +
      'still work. Create another collection or text index with shorter lists, and copy ' +
      'the documents or rows.',
  },
  CORRUPTED_COLLECTION_SCHEMA: {
    ...server('DATABASE'),
    title: 'The collection is incomplete',
    body: (v: { target: string; problem: string }) =>
      `${v.target} cannot be used: ${v.problem}. "stela check" lists what is missing.`,
  },
  DOCUMENT_FROM_DB_UNPARSEABLE: {
    ...server('DATABASE'),
    title: 'A stored document is damaged',
    body: (v: { target: string; problem: string }) =>
      `${v.target} contains a document that cannot be read: ${v.problem}.`,
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
      `${v.command} on ${v.target} was aborted: ${v.problem}. Nothing was changed. ` +
      'Read less, with a filter on indexed fields or a smaller limit. If nodes of the ' +
      'cluster are down or busy, send the command again later.',
  },
  TIMEOUT_WRITING_DATA: {
    ...server('DATABASE'),
    title: 'Command timed out and may have been applied partially',
    body: (v: { command: string; target: string; problem: string }) =>
      `${v.command} on ${v.target} was aborted: ${v.problem}. Some of its changes may ` +
      'have been written, and they remain. Read the data, then send the command again ' +
      'for the rest.',
  },
  UNAVAILABLE_DATABASE: {
    ...server('DATABASE'),
    title: 'Not enough replicas available',
    body: (v: { target: string; problem: string }) =>
      `Too few replicas of ${v.target} answered: ${v.problem}. Send the command again later.`,
  },
  FAILED_TO_CONNECT_TO_DATABASE: {
    ...server('DATABASE'),
    title: 'No database node is reachable',
    body: (v: { target: string; problem: string }) =>
      `No node with data of ${v.target} can be reached: ${v.problem}. Send the command ` +
      'again later.',
  },
  UNSUPPORTED_DATABASE_QUERY: {
    ...server('DATABASE'),
    title: 'Operation not supported by the database',
    body: (v: { target: string; problem: string }) => `${v.target}: ${v.problem}.`,
  },

  // Errors of embedding and reranking providers.
  EMBEDDING_PROVIDER_AUTHENTICATION_KEYS_NOT_PROVIDED: {
    ...server('EMBEDDING_PROVIDER'),
    title: 'Missing key of the embedding provider',
    body: (v: { provider: string; headers: readonly string[]; note: string }) =>
      `"${v.provider}" requires a key. Send it in the ` +
      `${v.headers.length === 1 ? 'header' : 'headers'} ${v.headers.join(' and ')}.` +
      sentence(v.note),
  },
  EMBEDDING_PROVIDER_BAD_HOST_NAME: {
    ...server('EMBEDDING_PROVIDER'),
    title: 'Address of the embedding provider not allowed',
    body: (v: { provider: string; problem: string }) =>
      `"${v.provider}" cannot be called: ${v.problem}. The address is set by the ` +
      `collection's vector.service parameters, the server's --embedding-urls, or the ` +
      `provider's own address.`,
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
        `"${v.name}" is not available on this server. Available: ${list(v.offered)}.`,
      modelGone: (v: { name: string; model: string }) =>
        `"${v.name}" no longer has the model "${v.model}", with which the collection ` +
        'was created. Create a collection with another model, and copy the documents.',
      otherModel: (v: { name: string; model: string; local: string }) =>
        `"${v.name}" cannot be used: the collection was created with the model ` +
        `"${v.model}", but this server runs "${v.local}".`,
      otherCloud: (v: { name: string; local: string; isInstalled: boolean }) =>
        `"${v.name}" cannot be used: its service is available only in another cloud. ` +
        'To embed without a key, create the collection with the built-in provider ' +
        `${v.local}${v.isInstalled ? '' : " (it needs the server's optional packages)"}. ` +
        'Or set the URL of a service with the same API: --embedding-urls ' +
        `${v.name}=<url>.`,
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
      `The reply of "${v.provider}", model "${v.model}", is not valid JSON: ${v.problem}.`,
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

/** The argument of an entry's message: none, or one object. */
export type ErrorVariables<Name extends ErrorName> = Parameters<
  (typeof catalog)[Name]['body']
>
