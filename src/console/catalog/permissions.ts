/** The permissions of the token. The console offers only what the token permits. */
import { manage, ManageError } from '../api/manage.ts'
import { session } from '../api/session.ts'
import type { Address } from '../api/place.ts'
import { useLoad } from '../kit/hooks.ts'
import { databaseOf } from './catalog.ts'

export type Action =
  | 'db-keyspace-alter'
  | 'db-keyspace-create'
  | 'db-keyspace-drop'
  | 'db-table-alter'
  | 'db-table-create'
  | 'db-table-describe'
  | 'db-table-drop'
  | 'db-table-modify'
  | 'db-table-select'
  | 'org-db-create'
  | 'org-db-terminate'
  | 'org-role-delete'
  | 'org-role-write'
  | 'org-token-write'

export interface May {
  (action: Action): boolean
  /** Whether the server has replied that none of these actions is allowed. */
  readonly refuses: (actions: readonly Action[]) => boolean
}

/** Replies by request path, for the token of the session. */
let answers = new Map<string, Promise<ReadonlySet<string> | undefined>>()
session.watch(() => {
  answers = new Map()
})

/**
 * The permissions of the token at an address. Before the server has answered, no action is allowed.
 * If this port does not serve the management API, the permissions are unknown. The console then
 * offers every action, and the server rejects actions that the token may not do.
 */
export function useMay(address: Address): May {
  const { database, keyspace = '', name = '' } = address
  const { value } = useLoad(
    async () => ({ actions: await allowedAt(database, keyspace, name) }),
    [database, keyspace, name],
  )
  const allowed = value?.actions
  const may = (action: Action) =>
    value !== undefined && (allowed === undefined || allowed.has(action))
  const refuses = (actions: readonly Action[]) =>
    allowed !== undefined && !actions.some((action) => allowed.has(action))
  return Object.assign(may, { refuses })
}

/**
 * Actions that the token may do at an address; undefined if this port does not serve the management
 * API.
 */
export function allowedAt(database: string, keyspace: string, name: string) {
  const parameters = new URLSearchParams({
    ...(database === '' ? {} : { database: databaseOf(database)?.managedId ?? database }),
    ...(keyspace === '' ? {} : { keyspace }),
    ...(name === '' ? {} : { name }),
  })
  const path = `permissions?${parameters.toString()}`
  const known = answers.get(path)
  if (known !== undefined) return known
  const asked = manage<{ actions: readonly string[] }>('GET', path).then(
    ({ actions }) => new Set(actions),
    (error: unknown) => {
      if (error instanceof ManageError && error.isForbidden) return undefined
      // A failed request is not cached, so that it is sent again.
      answers.delete(path)
      throw error
    },
  )
  answers.set(path, asked)
  return asked
}
