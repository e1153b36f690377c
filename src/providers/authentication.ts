/**
 * How a provider's key gets here: not needed, with each request, or kept by the server and
 * named by the collection.
 */
export type AuthenticationMethod = 'NONE' | 'HEADER' | 'SHARED_SECRET'

export interface Authentication {
  readonly enabled: boolean
  /** The header or the secret's part that is read, and the name it is passed on by. */
  readonly tokens: readonly { readonly accepted: string; readonly forwarded: string }[]
}

export interface Authentications {
  readonly NONE: Authentication
  readonly HEADER?: Authentication
  readonly SHARED_SECRET?: Authentication
}

export const noKey: Authentications = { NONE: { enabled: true, tokens: [] } }

/** A key that each request brings along in the usual header. */
export function keyByHeader(forwarded = 'Authorization'): Authentications {
  return {
    NONE: { enabled: false, tokens: [] },
    HEADER: { enabled: true, tokens: [{ accepted: 'x-embedding-api-key', forwarded }] },
    SHARED_SECRET: { enabled: false, tokens: [{ accepted: 'providerKey', forwarded }] },
  }
}

/** The same for services that many run without any key. */
export const keyIfAny: Authentications = { ...keyByHeader(), ...noKey }

/** Requests that are signed with a pair of keys, neither of which is sent. */
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
