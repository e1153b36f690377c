/** The configuration of a server: type, defaults, and parsing from options. */
import { InvalidArgumentError } from 'commander'
import type { Account } from '../auth/tokens.ts'
import { readClusterConfig, type ClusterConfig } from './cluster-settings.ts'
import { readCertificate, type CertificateFiles } from '../http/certificate.ts'
import type { AddressLimits } from '../http/connection-gate.ts'
import type { AllowedOrigins } from '../http/cors.ts'
import type { FeatureSettings, TracingSettings } from '../http/headers.ts'
import type { MetricsAccess } from '../http/metrics-route.ts'
import type { McpSettings } from '../mcp/mcp.ts'
import { defaultAddressLimits, readAddressLimits } from './address-settings.ts'
import { readLimits } from './limit-settings.ts'
import type { LexicalOperator } from '../language/sorts/sort.ts'
import { defaultLimits, fixedLimits, type Limits } from '../limits.ts'
import { nameLocalModels } from '../providers/local/local-models.ts'
import type { VectorMemory } from '../engine/schema.ts'
import {
  defaultProviderSettings,
  type ProviderSettings,
} from '../providers/provider-settings.ts'

export interface Config {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  readonly dataDir: string
  /** The cluster that stores the data; undefined: the data folder. */
  readonly cluster: ClusterConfig | undefined
  /** Whether a write is synced to disk before it is acknowledged. */
  readonly durable: boolean
  /** Whether the server starts on a catalog that has lost changes. */
  readonly acceptsLostCatalog: boolean
  readonly adminToken: string | undefined
  readonly accounts: readonly Account[]
  /** Port of the management API; undefined: `port` + 1; 'off': the API has no separate port. */
  readonly adminPort: number | 'off' | undefined
  /** Public base URL, when it differs from the listen address. */
  readonly publicUrl: string | undefined
  /** Maximum number of databases. */
  readonly databasesMax: number
  /** Failed authentications per address before lockout; 0: lockout is disabled. */
  readonly badCredentialsMax: number
  readonly isBehindProxy: boolean
  /** Default operator for sorts by terms. */
  readonly lexicalOperator: LexicalOperator
  readonly features: FeatureSettings
  readonly tracing: TracingSettings
  readonly mcp: McpSettings
  readonly providers: ProviderSettings
  readonly localModels: LocalModelConfig
  /** Number of threads for searches and long reads; undefined: derived from the number of CPUs. */
  readonly searchThreads: number | undefined
  /** Memory of vector indexes whose collection has no option for it. */
  readonly vectorMemory: VectorMemory
  /** Maximum number of open collections and tables; closed ones are opened on use. */
  readonly openStoresMax: number
  readonly limits: Limits
  /** Milliseconds to receive a whole request; 0: no limit. */
  readonly requestTimeoutMs: number
  /** Milliseconds after which a command is aborted; 0: no limit. */
  readonly commandTimeoutMs: number
  /**
   * Milliseconds without progress in sending a reply before the connection is closed; 0: no
   * limit.
   */
  readonly replyTimeoutMs: number
  /** Maximum concurrent commands, counted until their replies are sent. */
  readonly commandsMax: number
  /** Maximum total bytes of request bodies in memory. */
  readonly bodyMemoryMax: number
  /** Maximum total bytes of replies in memory. */
  readonly replyMemoryMax: number
  /** Maximum total bytes of the parsed values of large bodies and documents. */
  readonly valueMemoryMax: number
  /** Maximum open connections; 0: no limit. */
  readonly connectionsMax: number
  readonly addressLimits: AddressLimits
  /** Commands per second and token; 0: no limit. */
  readonly rateLimit: number
  /** Undefined: plain HTTP. */
  readonly tls: CertificateFiles | undefined
  /** Origins whose pages may read replies; undefined: only the server's own origin. */
  readonly corsOrigins: AllowedOrigins | undefined
  /** Whether replies are compressed and compressed requests are accepted. */
  readonly compression: boolean
  /** Whether the web console is served. */
  readonly console: boolean
  readonly logLevel: LogLevel
  readonly logFormat: LogFormat
  readonly metrics: MetricsAccess
  /** Milliseconds for which a rendered metrics page is cached; tests use 0. */
  readonly metricsCacheMs: number
  /**
   * Minimum duration in milliseconds of a command that is logged as slow; 0: slow commands are not
   * logged.
   */
  readonly slowCommandMs: number
}

/** Models that run inside the server. */
export interface LocalModelConfig {
  readonly threads: number
  /** Folders with models that replace the built-in ones. */
  readonly embeddingFolder: string | undefined
  readonly rerankerFolder: string | undefined
}

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const

export type LogLevel = (typeof logLevels)[number]

export const logFormats = ['auto', 'json', 'text'] as const

/** auto: text on a terminal, JSON otherwise. */
export type LogFormat = (typeof logFormats)[number]

export const defaultConfig: Config = {
  host: '127.0.0.1',
  port: 8181,
  dataDir: './stela-data',
  cluster: undefined,
  durable: true,
  acceptsLostCatalog: false,
  adminToken: undefined,
  accounts: [],
  adminPort: undefined,
  publicUrl: undefined,
  databasesMax: 100,
  badCredentialsMax: 20,
  isBehindProxy: false,
  lexicalOperator: 'any',
  features: {
    lexical: undefined,
    reranking: undefined,
    vectorize: true,
    snakeCaseIndexes: false,
    hybridEligibility: 'both',
  },
  tracing: { requestTracing: undefined, requestTracingFull: undefined },
  mcp: { enabled: undefined, text: true },
  providers: defaultProviderSettings,
  localModels: { threads: 1, embeddingFolder: undefined, rerankerFolder: undefined },
  searchThreads: undefined,
  vectorMemory: 'fast',
  openStoresMax: 256,
  limits: defaultLimits,
  requestTimeoutMs: 120_000,
  commandTimeoutMs: 60_000,
  replyTimeoutMs: 60_000,
  commandsMax: 1024,
  bodyMemoryMax: 500_000_000,
  replyMemoryMax: 500_000_000,
  valueMemoryMax: 400_000_000,
  connectionsMax: 0,
  addressLimits: defaultAddressLimits,
  rateLimit: 0,
  tls: undefined,
  corsOrigins: undefined,
  compression: false,
  console: true,
  logLevel: 'info',
  logFormat: 'auto',
  metrics: 'on',
  metricsCacheMs: fixedLimits.metricsCacheMs,
  slowCommandMs: 1000,
}

/**
 * Converts parsed options to a configuration. Throws an InvalidArgumentError when two options
 * exclude each other. `isGiven` returns whether a setting was given or has its default.
 */
export function readConfig(
  values: Readonly<Record<string, unknown>>,
  isGiven: (name: string) => boolean = () => false,
): Config {
  const given = values as Readonly<{
    host: string
    port: number
    data: string
    adminToken?: string
    users?: readonly Account[]
    adminPort?: number | 'off'
    publicUrl?: string
    maxDatabases: number
    maxBadCredentials: number
    behindProxy: 'on' | 'off'
    durability: 'full' | 'relaxed'
    acceptLostCatalog: 'on' | 'off'
    lexical?: 'on' | 'off'
    reranking?: 'on' | 'off'
    vectorize: 'on' | 'off'
    snakeCaseIndexes: 'on' | 'off'
    lexicalSort: LexicalOperator
    hybridEligibility: FeatureSettings['hybridEligibility']
    requestTracing?: 'on' | 'off'
    requestTracingFull?: 'on' | 'off'
    mcp?: 'on' | 'off'
    mcpText: 'on' | 'off'
    embeddingUrls?: ReadonlyMap<string, string>
    embeddingKeys?: ReadonlyMap<string, string>
    rerankingUrls?: ReadonlyMap<string, string>
    rerankingKeys?: ReadonlyMap<string, string>
    privateProviders: 'on' | 'off'
    embeddingModel?: string
    rerankingModel?: string
    modelThreads: number
    searchThreads?: number
    vectorMemory: VectorMemory
    maxOpen: number
    logLevel: LogLevel
    logFormat: LogFormat
    slowCommand: number
    metrics: MetricsAccess
    tlsCert?: string
    tlsKey?: string
    corsOrigins?: AllowedOrigins
    compression: 'on' | 'off'
    console: 'on' | 'off'
    requestTimeout: number
    commandTimeout: number
    replyTimeout: number
    maxBodyMemory: number
    maxReplyMemory: number
    maxValueMemory: number
    maxCommands: number
    maxConnections: number
    rateLimit: number
  }>
  const limits = readLimits(values)
  checkMemory('--max-body-memory', given.maxBodyMemory, limits.bodySizeMax, 'body')
  // A string in memory takes up to two bytes per character.
  checkMemory('--max-reply-memory', given.maxReplyMemory, 2 * limits.replySizeMax, 'reply')
  return {
    host: given.host,
    port: given.port,
    dataDir: given.data,
    cluster: readClusterConfig(values, isGiven),
    durable: given.durability === 'full',
    acceptsLostCatalog: given.acceptLostCatalog === 'on',
    adminToken: given.adminToken,
    accounts: given.users ?? [],
    adminPort: checkAdminPort(given.adminPort, given.port),
    publicUrl: given.publicUrl,
    databasesMax: given.maxDatabases,
    badCredentialsMax: given.maxBadCredentials,
    isBehindProxy: given.behindProxy === 'on',
    lexicalOperator: given.lexicalSort,
    features: {
      lexical: given.lexical && given.lexical === 'on',
      reranking: given.reranking && given.reranking === 'on',
      vectorize: given.vectorize === 'on',
      snakeCaseIndexes: given.snakeCaseIndexes === 'on',
      hybridEligibility: given.hybridEligibility,
    },
    tracing: {
      requestTracing: given.requestTracing && given.requestTracing === 'on',
      requestTracingFull: given.requestTracingFull && given.requestTracingFull === 'on',
    },
    mcp: { enabled: given.mcp && given.mcp === 'on', text: given.mcpText === 'on' },
    providers: {
      embeddingUrls: given.embeddingUrls ?? defaultProviderSettings.embeddingUrls,
      embeddingKeys: given.embeddingKeys ?? defaultProviderSettings.embeddingKeys,
      rerankingUrls: given.rerankingUrls ?? defaultProviderSettings.rerankingUrls,
      rerankingKeys: given.rerankingKeys ?? defaultProviderSettings.rerankingKeys,
      privateProviders: given.privateProviders === 'on',
    },
    localModels: checkFolders({
      threads: given.modelThreads,
      embeddingFolder: given.embeddingModel,
      rerankerFolder: given.rerankingModel,
    }),
    searchThreads: given.searchThreads,
    vectorMemory: given.vectorMemory,
    openStoresMax: given.maxOpen,
    limits,
    requestTimeoutMs: given.requestTimeout * 1000,
    commandTimeoutMs: given.commandTimeout * 1000,
    replyTimeoutMs: given.replyTimeout * 1000,
    bodyMemoryMax: given.maxBodyMemory,
    replyMemoryMax: given.maxReplyMemory,
    valueMemoryMax: given.maxValueMemory,
    commandsMax: given.maxCommands,
    connectionsMax: given.maxConnections,
    addressLimits: readAddressLimits(values, given.behindProxy === 'on'),
    rateLimit: given.rateLimit,
    tls: checkCertificate(given.tlsCert, given.tlsKey),
    corsOrigins: given.corsOrigins,
    compression: given.compression === 'on',
    console: given.console === 'on',
    logLevel: given.logLevel,
    logFormat: given.logFormat,
    metrics: given.metrics,
    metricsCacheMs: defaultConfig.metricsCacheMs,
    slowCommandMs: given.slowCommand,
  }
}

function checkAdminPort(
  adminPort: number | 'off' | undefined,
  port: number,
): number | 'off' | undefined {
  if (adminPort === port && port !== 0)
    throw new InvalidArgumentError(
      `--port and --admin-port are both ${port}. They must differ.`,
    )
  if (adminPort === undefined && port === 65_535)
    throw new InvalidArgumentError(
      `--port ${port} is the last port, so the default --admin-port, --port + 1, ` +
        'does not exist. Set --admin-port.',
    )
  return adminPort
}

/** Throws if the largest allowed body or reply exceeds the whole memory for bodies or replies. */
function checkMemory(flag: string, size: number, sizeMin: number, what: string): void {
  if (size < sizeMin)
    throw new InvalidArgumentError(
      `${flag} ${size} is too small for the largest ${what}, which needs ${sizeMin} ` +
        `bytes. Raise it, or lower --max-${what}-size.`,
    )
}

/**
 * Checks the folders of models at start. Otherwise an error would appear only when the first text
 * is embedded.
 */
function checkFolders(models: LocalModelConfig): LocalModelConfig {
  try {
    nameLocalModels(models)
    return models
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message)
  }
}

/** Checks the certificate before the data folder is opened. */
function checkCertificate(
  certFile: string | undefined,
  keyFile: string | undefined,
): CertificateFiles | undefined {
  if (certFile === undefined && keyFile === undefined) return undefined
  if (certFile === undefined || keyFile === undefined)
    throw new InvalidArgumentError('--tls-cert and --tls-key require each other. Set both.')
  try {
    readCertificate({ certFile, keyFile })
    return { certFile, keyFile }
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message)
  }
}
