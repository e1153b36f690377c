/** A command that is to be shown as code. */
export interface CodeRequest {
  /** Of the server, or of one of its databases; without `/v1`. */
  readonly url: string
  /** Undefined for commands that are for no keyspace. */
  readonly keyspace: string | undefined
  /** The collection or table; undefined for commands that are for none. */
  readonly target: string | undefined
  readonly kind: 'collection' | 'table'
  /** Such as `find`. */
  readonly command: string
  /** JSON text of what the command takes, with all digits of its numbers. */
  readonly body: string
}

/** Where the command is sent. */
export function commandUrl({ url, keyspace, target }: CodeRequest): string {
  const parts = [keyspace, target].filter((part) => part !== undefined)
  return [`${url.replace(/\/+$/, '')}/v1`, ...parts.map(encodeURIComponent)].join('/')
}
