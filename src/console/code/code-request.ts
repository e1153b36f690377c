/** A command to be shown as code. */
export interface CodeRequest {
  /** URL of the server or of one of its databases; without `/v1`. */
  readonly url: string
  /** The keyspace; undefined for commands that take none. */
  readonly keyspace: string | undefined
  /** The collection or table; undefined for commands that take none. */
  readonly target: string | undefined
  readonly kind: 'collection' | 'table'
  /** Name of the command, such as `find`. */
  readonly command: string
  /** JSON text of the command's fields, with all digits of its numbers. */
  readonly body: string
}

/** The URL that the command is posted to. */
export function commandUrl({ url, keyspace, target }: CodeRequest): string {
  const parts = [keyspace, target].filter((part) => part !== undefined)
  return [`${url.replace(/\/+$/, '')}/v1`, ...parts.map(encodeURIComponent)].join('/')
}
