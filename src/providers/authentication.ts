/**
 * Sources of a provider's key: none needed, a header of each request, or a secret that the server
 * keeps and the collection names.
 */
export type AuthenticationMethod = 'NONE' | 'HEADER' | 'SHARED_SECRET'

export interface Authentication {
  readonly enabled: boolean
  /** Name of the header or secret part that is read, and the name under which it is forwarded. */
  readonly tokens: readonly { readonly accepted: string; readonly forwarded: string }[]
}

export interface Authentications {
  readonly NONE: Authentication
  readonly HEADER?: Authentication
  readonly SHARED_SECRET?: Authentication
}

export const noKey: Authentications = { NONE: { enabled: true, tokens: [] } }

/** The methods of a provider to which each request sends a key in the usual header. */
export function keyByHeader(forwarded = 'Authorization'): Authentications {
  return {
    NONE: { enabled: false, tokens: [] },
    HEADER: { enabled: true, tokens: [{ accepted: 'x-embedding-api-key', forwarded }] },
    SHARED_SECRET: { enabled: false, tokens: [{ accepted: 'providerKey', forwarded }] },
  }
}

/** Like `keyByHeader`, with an optional key, for services that often run without one. */
export const keyIfAny: Authentications = { ...keyByHeader(), ...noKey }

/**
 * The methods of a provider whose requests are signed with a pair of keys; the secret key is not
 * sent.
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
