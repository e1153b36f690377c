/**
 * Sources of a provider's key: no key is needed, a header of each request contains it, or the
 * server keeps it as a secret and the collection contains the name of the secret.
 */
export type AuthenticationMethod = 'NONE' | 'HEADER' | 'SHARED_SECRET'

export interface Authentication {
  readonly enabled: boolean
  /**
   * `accepted`: the header, or the part of a secret, that contains a key. `forwarded`: the
   * provider's name for this key. Only lists of providers show it.
   */
  readonly tokens: readonly { readonly accepted: string; readonly forwarded: string }[]
}

export interface Authentications {
  readonly NONE: Authentication
  readonly HEADER?: Authentication
  readonly SHARED_SECRET?: Authentication
}

export const noKey: Authentications = { NONE: { enabled: true, tokens: [] } }

/**
 * Methods of a provider that requires a key. `forwarded` is the header in which the server sends
 * the key to the provider.
 */
export function keyByHeader(forwarded = 'Authorization'): Authentications {
  return {
    NONE: { enabled: false, tokens: [] },
    HEADER: { enabled: true, tokens: [{ accepted: 'x-embedding-api-key', forwarded }] },
    SHARED_SECRET: { enabled: false, tokens: [{ accepted: 'providerKey', forwarded }] },
  }
}

/** Like `keyByHeader`, but the key is optional, for services that often run without one. */
export const keyIfAny: Authentications = { ...keyByHeader(), ...noKey }

/**
 * Methods of a provider whose requests are signed with a pair of keys. The secret key of the pair
 * is not sent to the provider.
 */
export const keyPair: Authentications = {
  NONE: { enabled: false, tokens: [] },
  HEADER: {
    enabled: true,
    tokens: [
      { accepted: 'x-embedding-access-id', forwarded: 'aws_access_key_id' },
      { accepted: 'x-embedding-secret-id', forwarded: 'aws_secret_access_key' },
    ],
  },
  SHARED_SECRET: {
    enabled: false,
    tokens: [
      { accepted: 'accessId', forwarded: 'aws_access_key_id' },
      { accepted: 'secretKey', forwarded: 'aws_secret_access_key' },
    ],
  },
}
