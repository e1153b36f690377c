/** Access page: tokens and roles. */
import { listDatabases } from '../api/databases.ts'
import { manage } from '../api/manage.ts'
import { useLoad } from '../kit/hooks.ts'
import { ErrorNotice, Loading } from '../kit/notice.tsx'
import { ifAllowed, listRoles, listTokens, type Token } from '../catalog/access-lists.ts'
import type { DatabaseName, Role } from '../catalog/policies.ts'
import { RolesSection } from './roles-section.tsx'
import { TokensSection } from './tokens-section.tsx'

interface AccessView {
  readonly organization: string
  /** The tokens; undefined when the token of the session may not list tokens. */
  readonly tokens: readonly Token[] | undefined
  readonly roles: readonly Role[] | undefined
  readonly databases: readonly DatabaseName[]
}

async function load(): Promise<AccessView> {
  const [{ id }, tokens, roles, databases = []] = await Promise.all([
    manage<{ id: string }>('GET', 'currentOrg'),
    listTokens(),
    listRoles(),
    ifAllowed(listDatabases),
  ])
  const names = databases.map(({ managedId, name }) => ({ id: managedId, name }))
  return { organization: id, tokens, roles, databases: names }
}

export function AccessPage() {
  const { value, error, reload } = useLoad(load, [])
  return (
    <div class="page">
      <div class="page-head">
        <h1>Access</h1>
      </div>
      <ErrorNotice error={error} />
      {value === undefined && error === undefined && <Loading />}
      {value?.tokens !== undefined && (
        <TokensSection tokens={value.tokens} roles={value.roles} onChange={reload} />
      )}
      {value?.roles !== undefined && (
        <RolesSection
          roles={value.roles}
          organization={value.organization}
          databases={value.databases}
          onChange={reload}
        />
      )}
    </div>
  )
}
