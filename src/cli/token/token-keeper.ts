/** Storage of tokens: the management API, or the data folder of a stopped server. */
export interface TokenStore {
  roles(): Promise<readonly NamedRole[]>
  list(): Promise<readonly KnownToken[]>
  create(wanted: WantedToken): Promise<KnownToken & { readonly token: string }>
  revoke(id: string): Promise<void>
  close(): Promise<void>
}

export interface NamedRole {
  readonly id: string
  readonly name: string
}

/** A token without its secret. */
export interface KnownToken {
  readonly id: string
  /** Role ids. */
  readonly roles: readonly string[]
  readonly createdAt: string
  readonly expiresAt?: string | undefined
  readonly description?: string | undefined
}

export interface WantedToken {
  readonly roles: readonly string[]
  readonly description: string | undefined
  readonly expiresAt: string | undefined
}
