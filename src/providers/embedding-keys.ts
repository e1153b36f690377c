/**
 * Selects the keys for an embedding service: from the request, else the secret that the
 * collection names, else the server's own key. The server's keys are never sent to a host that a
 * collection can influence, because the owner of the collection could then steal them.
 */
import { apiError } from '../errors/api-error.ts'
import type { Authentication } from './authentication.ts'
import type { ProviderCredentials, EmbedRequest } from './models.ts'
import type { RemoteEmbeddingProvider } from './offered-embeddings.ts'
import type { ProviderAddress } from './provider-url.ts'

/** The keys in the order of the provider's tokens; empty when none are required or available. */
export function keysFor(
  provider: RemoteEmbeddingProvider,
  { service, credentials }: EmbedRequest,
  address: ProviderAddress,
  ownKeys: ReadonlyMap<string, string>,
): readonly string[] {
  const { NONE, HEADER = keyHeader } = provider.supportedAuthentication
  const sent = HEADER.tokens.map(({ accepted }) => headerIn(credentials, accepted))
  if (sent.every((key) => key !== undefined)) return sent
  const own = ownKey(service, ownKeys)
  const isKept = address.isChosen && provider.wire.keepsKeys !== true
  if (own !== undefined && !isKept) return HEADER.tokens.length === 1 ? [own] : pair(own)
  if (NONE.enabled) return []
  throw apiError('EMBEDDING_PROVIDER_AUTHENTICATION_KEYS_NOT_PROVIDED', {
    provider: service.provider,
    headers: HEADER.tokens.map(({ accepted }) => accepted),
    note:
      own === undefined
        ? ''
        : ' The server does not send its own key to a host that the parameters of the ' +
          'collection set. Send a key, or set the URL with --embedding-urls.',
  })
}

/**
 * Header of an optional key: if the client sends a key, it is forwarded even to services that
 * require none.
 */
const keyHeader: Authentication = {
  enabled: true,
  tokens: [{ accepted: 'x-embedding-api-key', forwarded: 'Authorization' }],
}

/** A key in a header of the request. An empty header counts as absent. */
function headerIn(credentials: ProviderCredentials, name: string): string | undefined {
  const key = valueIn(credentials, name)
  return key === '' ? undefined : key
}

function valueIn(credentials: ProviderCredentials, name: string): string | undefined {
  switch (name) {
    case 'x-embedding-access-id':
      return credentials.embeddingAccessId
    case 'x-embedding-secret-id':
      return credentials.embeddingSecretId
    default:
      return credentials.embeddingKey
  }
}

function ownKey(
  { provider, authentication }: EmbedRequest['service'],
  ownKeys: ReadonlyMap<string, string>,
): string | undefined {
  const [named] = Object.entries(authentication ?? {})
  if (named === undefined) return ownKeys.get(provider)
  const [part, stored] = named
  const key = ownKeys.get(`${provider}.${credentialIn(stored, part)}`)
  if (key === undefined)
    throw apiError('VECTORIZE_CREDENTIAL_INVALID', { provider, key: stored })
  return key
}

/** The name of the credential in a stored text of the form "credential.part". */
export function credentialIn(stored: string, part: string): string {
  return stored.endsWith(`.${part}`) ? stored.slice(0, -part.length - 1) : stored
}

/** Splits a pair of keys, which is configured as "id:secret". */
function pair(key: string): readonly string[] {
  const colon = key.indexOf(':')
  return [key.slice(0, colon), key.slice(colon + 1)]
}
