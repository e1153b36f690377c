/**
 * The options of `stela serve`. Each setting is a flag and an environment variable of the same name:
 * --page-size is also STELA_PAGE_SIZE. The flag wins.
 */
import type { Option } from 'commander'
import { lexicalOperators } from '../language/sorts/sort.ts'
import { embeddingTable } from '../providers/embedding-table.ts'
import { vectorMemories } from '../engine/schema.ts'
import { rerankingProviders } from '../providers/reranking-providers.ts'
import { addressOptions } from './address-settings.ts'
import { clusterOptions } from './cluster-settings.ts'
import { defaultConfig, logFormats, logLevels } from './config.ts'
import { limitOptions } from './limit-settings.ts'
import { onOff, setting } from './setting-option.ts'
import {
  notEmpty,
  readAccounts,
  readAdminPort,
  readKeys,
  readOrigins,
  readPublicUrl,
  readUrls,
  wholeNumber,
} from './setting-values.ts'

/** Settings with secret values. */
export const secretSettings = [
  ...['admin-token', 'users', 'embedding-keys', 'reranking-keys', 'cassandra-password'],
]

/** The options of `stela serve`, in the order of --help. */
export function serveOptions(): Option[] {
  const { host, port, features, localModels, requestTimeoutMs } = defaultConfig
  const { logLevel, logFormat, slowCommandMs, metrics } = defaultConfig
  const { badCredentialsMax, databasesMax, openStoresMax, vectorMemory } = defaultConfig
  const { commandTimeoutMs, commandsMax, connectionsMax, rateLimit } = defaultConfig
  const { replyTimeoutMs, bodyMemoryMax, replyMemoryMax, valueMemoryMax } = defaultConfig
  return [
    setting('host', '<address>', 'listen address; 0.0.0.0 for all interfaces').default(
      host,
    ),
    setting('port', '<number>', 'listen port; 0 picks a free port')
      .argParser(wholeNumber(0, 65_535))
      .default(port),
    setting(
      'admin-port',
      '<number|off>',
      'port of the management API (default: --port + 1)',
    ).argParser(readAdminPort),
    setting(
      'public-url',
      '<url>',
      'public base URL, when it differs from the listen address',
    ).argParser(readPublicUrl),
    engineOption(),
    dataOption('data folder; created when absent'),
    setting(
      'admin-token',
      '<token>',
      'administrator token (default: generated at the first start)',
    ).argParser(notEmpty),
    setting('users', '<list>', 'user accounts, as name:password,name:password').argParser(
      readAccounts,
    ),
    setting(
      'max-bad-credentials',
      '<number>',
      'invalid tokens before a client address is locked out for 1 to 60 s; 0: never',
    )
      .argParser(wholeNumber(0, 1_000_000))
      .default(badCredentialsMax),
    onOff(
      'behind-proxy',
      'trust the last address in X-Forwarded-For as the client address',
    ).default('off'),
    setting('max-databases', '<number>', 'maximum number of databases')
      .argParser(wholeNumber(1, 100_000))
      .default(databasesMax),
    setting(
      'durability',
      '<level>',
      'full: acknowledged writes survive power loss; relaxed: faster, survive a process crash only',
    )
      .choices(['full', 'relaxed'])
      .default('full'),
    setting(
      'accept-lost-catalog',
      '[on|off]',
      'start although the catalog lost changes; move stores it does not list to quarantine',
    )
      .choices(['on', 'off'])
      .preset('on')
      .default('off'),
    setting('log-level', '<level>', 'log level; logs go to standard error')
      .choices(logLevels)
      .default(logLevel),
    setting(
      'log-format',
      '<format>',
      'form of the log; auto: text on a terminal, JSON otherwise',
    )
      .choices(logFormats)
      .default(logFormat),
    setting('slow-command', '<ms>', 'log commands slower than this; 0: off')
      .argParser(wholeNumber(0, 86_400_000))
      .default(slowCommandMs),
    setting(
      'metrics',
      '<access>',
      'access to /metrics; on: everyone; token: administrators',
    )
      .choices(['on', 'token', 'off'])
      .default(metrics),
    onOff('console', 'serve the web console at /console').default('on'),
    setting('tls-cert', '<file>', 'TLS certificate chain (PEM); enables HTTPS').argParser(
      notEmpty,
    ),
    setting('tls-key', '<file>', 'private key of the certificate (PEM)').argParser(
      notEmpty,
    ),
    setting(
      'cors-origins',
      '<list>',
      'origins allowed by CORS: https://a,https://b; or *',
    ).argParser(readOrigins),
    onOff('compression', 'compress responses and accept compressed requests').default(
      'off',
    ),
    setting(
      'request-timeout',
      '<seconds>',
      'maximum time to receive a request; 0: no limit',
    )
      .argParser(wholeNumber(0, 86_400))
      .default(requestTimeoutMs / 1000),
    setting('command-timeout', '<seconds>', 'abort commands after this time; 0: no limit')
      .argParser(wholeNumber(0, 86_400))
      .default(commandTimeoutMs / 1000),
    setting(
      'reply-timeout',
      '<seconds>',
      'close connections that read nothing of a reply for this time; 0: never',
    )
      .argParser(wholeNumber(0, 86_400))
      .default(replyTimeoutMs / 1000),
    setting('max-body-memory', '<bytes>', 'memory for all request bodies')
      .argParser(wholeNumber(1, Number.MAX_SAFE_INTEGER))
      .default(bodyMemoryMax),
    setting(
      'max-reply-memory',
      '<bytes>',
      'memory for replies that clients have not read yet',
    )
      .argParser(wholeNumber(1, Number.MAX_SAFE_INTEGER))
      .default(replyMemoryMax),
    setting(
      'max-value-memory',
      '<bytes>',
      'memory for parsed values of large bodies and documents',
    )
      .argParser(wholeNumber(1, Number.MAX_SAFE_INTEGER))
      .default(valueMemoryMax),
    setting('max-commands', '<number>', 'concurrent commands; more are rejected with 503')
      .argParser(wholeNumber(1, 1_000_000))
      .default(commandsMax),
    setting('max-connections', '<number>', 'open connections; 0: no limit')
      .argParser(wholeNumber(0, 1_000_000))
      .default(connectionsMax),
    ...addressOptions(),
    setting(
      'rate-limit',
      '<number>',
      'commands per second and token; more are rejected with 429; 0: no limit',
    )
      .argParser(wholeNumber(0, 1_000_000))
      .default(rateLimit),
    setting(
      'search-threads',
      '<number>',
      'threads for searches and long reads (default: cores - 1, at least 2)',
    ).argParser(wholeNumber(1, 64)),
    setting(
      'vector-memory',
      '<level>',
      'memory of vector indexes: low, balanced, or fast, which takes the most',
    )
      .choices(vectorMemories)
      .default(vectorMemory),
    setting(
      'max-open',
      '<number>',
      'collections and tables kept open; others open on demand',
    )
      .argParser(wholeNumber(1, 1_000_000))
      .default(openStoresMax),
    feature('lexical', 'lexical search (default: on; a header can turn it off)'),
    feature('reranking', 'reranking (default: on; a header can turn it off)'),
    feature('vectorize', 'embedding of texts ($vectorize)').default('on'),
    feature(
      'snake-case-indexes',
      'reject indexes on columns whose names are not in snake case',
    ).default('off'),
    setting(
      'lexical-sort',
      '<operator>',
      'results of a sort by $lexical or a text column: records with any of the ' +
        'terms, those with all first; or only records with all terms',
    )
      .choices(lexicalOperators)
      .default(defaultConfig.lexicalOperator)
      .helpGroup('Features:'),
    setting(
      'hybrid-eligibility',
      '<fields>',
      'fields that findAndRerank requires: both $vector and $lexical, or only $vector',
    )
      .choices(['both', 'vector'])
      .default(features.hybridEligibility)
      .helpGroup('Features:'),
    feature(
      'request-tracing',
      'add traces to replies (default: off, unless a request has the header ' +
        'Feature-Flag-request-tracing: true)',
    ),
    feature(
      'request-tracing-full',
      'include commands in traces (default: off, unless a request has the header ' +
        'Feature-Flag-request-tracing-full: true)',
    ),
    feature('mcp', 'Model Context Protocol at /v1/mcp (default: on)'),
    feature('mcp-text', 'repeat MCP tool results as text').default('on'),
    provider(
      'embedding-urls',
      'base URLs of providers: openai=http://…,ollama=http://…',
    ).argParser(readUrls(embeddingNames)),
    provider(
      'embedding-keys',
      'API keys for requests without one: openai=sk-…,cohere=…',
    ).argParser(readKeys(embeddingNames)),
    provider('reranking-urls', 'base URLs of providers: nvidia=http://…').argParser(
      readUrls(rerankingNames),
    ),
    provider('reranking-keys', 'API keys for requests without one: cohere=…').argParser(
      readKeys(rerankingNames),
    ),
    provider(
      'embedding-model',
      'folder of an embedding model for the provider local',
      '<folder>',
    ).argParser(notEmpty),
    provider(
      'reranking-model',
      'folder of a reranking model for the provider local',
      '<folder>',
    ).argParser(notEmpty),
    provider('model-threads', 'threads of the built-in models', '<number>')
      .argParser(wholeNumber(1, 64))
      .default(localModels.threads),
    onOff('private-providers', 'let collections use provider URLs inside your network')
      .default('off')
      .helpGroup('Providers:'),
    ...limitOptions(),
    ...clusterOptions(),
  ]
}

export function engineOption(): Option {
  return setting(
    'engine',
    '<name>',
    'storage engine: a data folder (embedded) or a cluster (cassandra)',
  )
    .choices(['embedded', 'cassandra'])
    .default('embedded')
}

export function dataOption(says = 'data folder'): Option {
  return setting('data', '<folder>', says)
    .argParser(notEmpty)
    .default(defaultConfig.dataDir)
}

function feature(name: string, says: string): Option {
  return onOff(name, says).helpGroup('Features:')
}

function provider(name: string, says: string, value = '<list>'): Option {
  return setting(name, value, says).helpGroup('Providers:')
}

const embeddingNames = Object.keys(embeddingTable)
const rerankingNames = [...rerankingProviders.keys()]
