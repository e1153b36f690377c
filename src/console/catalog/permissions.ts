/** What the token may do, so that nothing is offered that would be refused. */
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
  /** Whether the server has said that none of these may be done. */
  readonly refuses: (actions: readonly Action[]) => boolean
}

/** By what was asked, for the token that is signed in. */
let answers = new Map<string, Promise<ReadonlySet<string> | undefined>>()
session.watch(() => {
  answers = new Map()
})

/**
 * Until the server has answered nothing may be done. Where it has no management API nobody can
 * tell, and refusals say so instead.
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

function allowedAt(database: string, keyspace: string, name: string) {
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
      // A server that is away for a moment is asked again.
      answers.delete(path)
      throw error
    },
  )
  answers.set(path, asked)
  return asked
}
