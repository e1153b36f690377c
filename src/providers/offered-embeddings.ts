/** The embedding services of a server: the table, modified by the operator's settings. */
import type { Authentications } from './authentication.ts'
import type { EmbeddingProvider } from './embedding-providers.ts'
import {
  embeddingTable,
  type EmbeddingProviderName,
  type EmbeddingRow,
} from './embedding-table.ts'
import { embeddingWires, type EmbeddingWire } from './embedding-wires.ts'
import type { RetryPolicy } from './provider-call.ts'
import type { ProviderSettings } from './provider-settings.ts'
import { baseUrlName, type Endpoint } from './provider-url.ts'

/** A service that is called over HTTP. */
export interface RemoteEmbeddingProvider extends EmbeddingProvider {
  readonly wire: EmbeddingWire
  readonly batchSize: number
  readonly retryPolicy: RetryPolicy
}

export function offerEmbeddings(
  settings: ProviderSettings,
): Map<string, RemoteEmbeddingProvider> {
  const rows = Object.entries(embeddingTable) as [EmbeddingProviderName, EmbeddingRow][]
  return new Map(rows.map(([name, row]) => [name, offer(name, row, settings)]))
}

function offer(
  name: EmbeddingProviderName,
  row: EmbeddingRow,
  settings: ProviderSettings,
): RemoteEmbeddingProvider {
  const { displayName, url, models, defaultModel, batchSize, retryPolicy } = row
  const endpoint = endpointOf(name, row, settings)
  const credentials = credentialsOf(name, settings)
  return {
    displayName,
    enabled: true,
    ...(url !== undefined && { url }),
    ...(endpoint && { endpoint }),
    supportedAuthentication: withSecrets(row.authentication, credentials),
    credentials,
    // The parameter for the URL is required only if no default URL is configured.
    parameters: row.parameters.map((parameter) =>
      parameter.name === baseUrlName
        ? { ...parameter, required: endpoint?.url === undefined }
        : parameter,
    ),
    models,
    ...(defaultModel !== undefined && { defaultModel }),
    wire: embeddingWires[name],
    batchSize,
    retryPolicy,
  }
}

function endpointOf(
  name: string,
  { url, calls, parameters }: EmbeddingRow,
  { embeddingUrls, privateProviders }: ProviderSettings,
): Endpoint | undefined {
  const set = embeddingUrls.get(name)
  const called = set ?? (calls === undefined ? url : (calls ?? undefined))
  const takesBaseUrl = parameters.some((parameter) => parameter.name === baseUrlName)
  if (called === undefined && !takesBaseUrl) return undefined
  return {
    ...(called !== undefined && { url: called }),
    isOperators: set !== undefined,
    mayBePrivate: privateProviders,
  }
}

function credentialsOf(name: string, { embeddingKeys }: ProviderSettings): Set<string> {
  const prefix = `${name}.`
  return new Set(
    [...embeddingKeys.keys()]
      .filter((key) => key.startsWith(prefix))
      .map((key) => key.slice(prefix.length)),
  )
}

/** Enables the method SHARED_SECRET if the server keeps secrets for collections. */
function withSecrets(
  methods: Authentications,
  credentials: ReadonlySet<string>,
): Authentications {
  const secret = methods.SHARED_SECRET
  if (secret === undefined || credentials.size === 0) return methods
  return { ...methods, SHARED_SECRET: { ...secret, enabled: true } }
}
