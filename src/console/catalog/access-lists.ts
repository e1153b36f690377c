/**
 * Lists tokens and roles if the token of the session may list them. This is a separate module,
 * because the frame of every page needs it and should load little code.
 */
import { manage, ManageError } from '../api/manage.ts'
import { allowedAt } from './permissions.ts'
import type { Role } from './policies.ts'

export interface Token {
  readonly clientId: string
  readonly roles: readonly string[]
  readonly generatedOn: string
  readonly description?: string
  readonly tokenExpiry?: string
}

/** Whether the token may list tokens or roles. */
export async function mayManageAccess(): Promise<boolean> {
  const actions = await allowedAt('', '', '')
  return actions?.has('org-token-read') === true || actions?.has('org-role-read') === true
}

export function listTokens(): Promise<readonly Token[] | undefined> {
  return ifAllowed(async () => {
    const { clients } = await manage<{ clients: readonly Token[] }>(
      'GET',
      'clientIdSecrets',
    )
    return clients
  })
}

export function listRoles(): Promise<readonly Role[] | undefined> {
  return ifAllowed(() => manage<readonly Role[]>('GET', 'organizations/roles'))
}

export async function ifAllowed<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof ManageError && error.isForbidden) return undefined
    throw error
  }
}
