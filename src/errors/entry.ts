/** What an entry of the catalog is. */

export interface CatalogEntry {
  readonly family: 'REQUEST' | 'SERVER'
  readonly scope: string
  readonly title: string
  readonly code?: string
  readonly status?: number
  readonly body: (variables: never) => string
}

/** A name list as messages print it. */
export function list(names: readonly string[]): string {
  return names.length === 0 ? '[None]' : names.join(', ')
}

export function request(scope: string) {
  return { family: 'REQUEST', scope } as const
}

export function server(scope: string) {
  return { family: 'SERVER', scope } as const
}
