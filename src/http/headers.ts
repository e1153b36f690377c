/** Parses request headers. Node passes their names in lower case. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Features } from '../commands/dispatch/define.ts'
import type { ProviderCredentials } from '../providers/models.ts'

/**
 * The token from any of the accepted headers; undefined when the client sent none. An empty header
 * counts as an invalid token.
 */
export function tokenOf(headers: IncomingHttpHeaders): string | undefined {
  return (
    headerOf(headers, 'token') ??
    headerOf(headers, 'x-cassandra-token') ??
    bearerOf(headers.authorization)
  )
}

function bearerOf(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined
  return /^bearer +(.*)$/i.exec(authorization)?.[1]
}

function headerOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value[0] : value
}

/** Provider keys in the headers. They are sent with calls to providers. */
export function credentialsOf(
  headers: IncomingHttpHeaders,
  token: string,
): ProviderCredentials {
  return {
    embeddingKey: headerOf(headers, 'x-embedding-api-key'),
    embeddingAccessId: headerOf(headers, 'x-embedding-access-id'),
    embeddingSecretId: headerOf(headers, 'x-embedding-secret-id'),
    // Clients use either of two names for this header.
    rerankingKey:
      headerOf(headers, 'reranking-api-key') ?? headerOf(headers, 'x-rerank-api-key'),
    token,
  }
}

/**
 * Whether bodies with this content type are accepted; parameters such as charset are ignored.
 */
export function isJson(contentType: string): boolean {
  return (
    contentType === 'application/json' ||
    /^\s*application\/json\s*(?:;|$)/i.test(contentType)
  )
}

/** Features that the operator has set; undefined: each request decides. */
export interface FeatureSettings {
  readonly lexical: boolean | undefined
  readonly reranking: boolean | undefined
  readonly vectorize: boolean
  readonly snakeCaseIndexes: boolean
  readonly hybridEligibility: Features['hybridEligibility']
}

/** Tracing that the operator has set; undefined: each request decides. */
export interface TracingSettings {
  readonly requestTracing: boolean | undefined
  readonly requestTracingFull: boolean | undefined
}

/** Whether the reply contains a trace, and whether it is a full trace. */
export function tracingOf(
  { requestTracing, requestTracingFull }: TracingSettings,
  headers: IncomingHttpHeaders,
): 'off' | 'on' | 'full' {
  if (requestTracing === false) return 'off'
  if (requestTracingFull ?? headers['feature-flag-request-tracing-full'] === 'true')
    return 'full'
  const isOn = requestTracing ?? headers['feature-flag-request-tracing'] === 'true'
  return isOn ? 'on' : 'off'
}

/**
 * Features of one request: its Feature-Flag headers decide about features that the operator has
 * not set.
 */
export function featuresOf(
  settings: FeatureSettings,
  headers: IncomingHttpHeaders,
): Features {
  return {
    lexical: settings.lexical ?? headers['feature-flag-lexical'] !== 'false',
    reranking: settings.reranking ?? headers['feature-flag-reranking'] !== 'false',
    vectorize: settings.vectorize,
    snakeCaseIndexes: settings.snakeCaseIndexes,
    hybridEligibility: settings.hybridEligibility,
  }
}
