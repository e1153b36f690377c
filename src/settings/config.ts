/** The configuration of a server, its defaults, and how it is read from parsed options. */
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
import { defaultLimits, fixedLimits, type Limits } from '../limits.ts'
import { nameLocalModels } from '../providers/local/local-models.ts'
import {
  defaultProviderSettings,
  type ProviderSettings,
} from '../providers/provider-settings.ts'

export interface Config {
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
  readonly dataDir: string
  /** The cluster that keeps the data; undefined: the data folder does. */
  readonly cluster: ClusterConfig | undefined
  /** Whether an answered write is on disk for sure, or only soon. */
  readonly durable: boolean
  /** Whether a data folder is served whose catalog has lost changes. */
  readonly acceptsLostCatalog: boolean
  readonly adminToken: string | undefined
  readonly accounts: readonly Account[]
  /** Where the management API listens: undefined: on the port after `port`; off: nowhere. */
  readonly adminPort: number | 'off' | undefined
  /** What the server is reached by from outside; undefined: where it listens. */
  readonly publicUrl: string | undefined
  /** Databases that there may be at a time. */
  readonly databasesMax: number
  /** Bad credentials from one address before it has to wait; 0: it never has to. */
  readonly badCredentialsMax: number
  readonly isBehindProxy: boolean
  readonly features: FeatureSettings
  readonly tracing: TracingSettings
  readonly mcp: McpSettings
  readonly providers: ProviderSettings
  readonly localModels: LocalModelConfig
  /** Threads for searches and long reads; undefined: by the machine. */
  readonly searchThreads: number | undefined
  /** Collections and tables that are kept open; others are opened when they are used. */
  readonly openStoresMax: number
  readonly limits: Limits
  /** A request that has not arrived whole by then is dropped; 0 means never. */
  readonly requestTimeoutMs: number
  /** What a command waits for is given up then; 0: never. */
  readonly commandTimeoutMs: number
  /** A client that reads nothing of a reply for so long loses its connection; 0: never. */
  readonly replyTimeoutMs: number
  /** Commands at work at a time, until their replies are out. */
  readonly commandsMax: number
  /** Bytes that the bodies of all requests may take together. */
  readonly bodyMemoryMax: number
  /** Bytes that all replies may take together. */
  readonly replyMemoryMax: number
  /** Bytes that the values of large bodies and documents may take together. */
  readonly valueMemoryMax: number
  /** Open connections; 0: any number. */
  readonly connectionsMax: number
  readonly addressLimits: AddressLimits
  /** Commands that a token may send in a second; 0: any number. */
  readonly rateLimit: number
  /** Undefined: plain HTTP. */
  readonly tls: CertificateFiles | undefined
  /** Pages that may read what is answered; undefined: none of other origins. */
  readonly corsOrigins: AllowedOrigins | undefined
  /** Whether bodies may be packed, of replies and of requests. */
  readonly compression: boolean
  /** Whether the web console is served. */
  readonly console: boolean
  readonly logLevel: LogLevel
  readonly metrics: MetricsAccess
  /** For how long a text of the metrics answers all who ask; tests ask for each. */
  readonly metricsCacheMs: number
  /** Commands that take as long or longer are logged; 0: none are. */
  readonly slowCommandMs: number
  /** Whether the engine's promises are asserted with every call: for tests. */
  readonly checked: boolean
}

/** The models that run in the server itself. */
export interface LocalModelConfig {
  readonly threads: number
  /** Folders with models to run instead of the built-in ones. */
  readonly embeddingFolder: string | undefined
  readonly rerankerFolder: string | undefined
}

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const

export type LogLevel = (typeof logLevels)[number]

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
  metrics: 'on',
  metricsCacheMs: fixedLimits.metricsCacheMs,
  slowCommandMs: 1000,
  checked: false,
}

/**
 * Turns what the options were read into, by their names, into a configuration. Throws an
 * InvalidArgumentError when two of them exclude each other. `isGiven` tells settings from
 * their defaults.
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
    maxOpen: number
    logLevel: LogLevel
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
  // A text takes up to two bytes for each character.
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
    metrics: given.metrics,
    metricsCacheMs: defaultConfig.metricsCacheMs,
    slowCommandMs: given.slowCommand,
    checked: defaultConfig.checked,
  }
}

function checkAdminPort(
  adminPort: number | 'off' | undefined,
  port: number,
): number | 'off' | undefined {
  if (adminPort === port && port !== 0)
    throw new InvalidArgumentError(`--port and --admin-port are both ${port}.`)
  if (adminPort === undefined && port === 65_535)
    throw new InvalidArgumentError(
      `There is no port after --port ${port} for the management API. Choose --admin-port.`,
    )
  return adminPort
}

/** The largest must find room when nothing else takes any. */
function checkMemory(flag: string, size: number, sizeMin: number, what: string): void {
  if (size < sizeMin)
    throw new InvalidArgumentError(
      `${flag} ${size} leaves no room for the largest ${what}, which takes ${sizeMin} ` +
        `bytes. Raise it, or lower --max-${what}-size.`,
    )
}

/** Now, rather than when the first text is to be embedded. */
function checkFolders(models: LocalModelConfig): LocalModelConfig {
  try {
    nameLocalModels(models)
    return models
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message)
  }
}

/** Now, rather than when the data folder is open already. */
function checkCertificate(
  certFile: string | undefined,
  keyFile: string | undefined,
): CertificateFiles | undefined {
  if (certFile === undefined && keyFile === undefined) return undefined
  if (certFile === undefined || keyFile === undefined)
    throw new InvalidArgumentError('--tls-cert and --tls-key belong together.')
  try {
    readCertificate({ certFile, keyFile })
    return { certFile, keyFile }
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message)
  }
}
