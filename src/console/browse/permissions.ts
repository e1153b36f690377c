/** What the token may do, so that nothing is offered that would be refused. */
import { manage } from '../api/manage.ts'
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
  | 'db-table-drop'
  | 'db-table-modify'
  | 'db-table-select'
  | 'org-db-create'
  | 'org-db-terminate'

export type May = (action: Action) => boolean

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
  return (action) => value !== undefined && (value.actions?.has(action) ?? true)
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
    () => undefined,
  )
  answers.set(path, asked)
  return asked
}
