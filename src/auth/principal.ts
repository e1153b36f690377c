import type { Action } from './actions.ts'
import type { Permissions, Resource, Policy } from './policy.ts'

/**
 * What a command does; permissions hang on it. `change` hands out what it writes to, and so
 * reads as well. `describe` to `drop` are about what there is, not about what it holds.
 */
export type Effect = 'read' | 'write' | 'change' | 'describe' | 'create' | 'alter' | 'drop'

/** Who is asking, as established from the token. */
export interface Principal {
  /** As logs show it; never the token. */
  readonly name: string
  may(effect: Effect, resource: Resource): boolean
  allows(action: Action, resource: Resource): boolean
  /** Whether nothing in the policy goes beyond what this principal may do. */
  covers(policy: Policy): boolean
}

/** A principal that may do everything. */
export function administrator(name: string): Principal {
  return { name, may: () => true, allows: () => true, covers: () => true }
}

export function principalOf(name: string, permissions: Permissions): Principal {
  return {
    name,
    may: (effect, resource) => isPermitted(effect, resource, permissions),
    allows: (action, resource) => permissions.allows(action, resource),
    covers: (policy) => permissions.covers(policy),
  }
}

function isPermitted(
  effect: Effect,
  resource: Resource,
  permissions: Permissions,
): boolean {
  const allows = (action: Action) => permissions.allows(action, resource)
  const isOnTarget = resource.target !== undefined
  switch (effect) {
    case 'read':
      return allows('db-table-select')
    case 'write':
      return allows('db-table-modify')
    case 'change':
      return allows('db-table-select') && allows('db-table-modify')
    case 'describe':
      if (isOnTarget) return allows('db-table-describe')
      // Who may see something in a keyspace may know of the keyspace, and who has
      // any business with a database may know what it offers.
      return resource.keyspace === undefined
        ? permissions.touches(isOfDatabases, resource)
        : permissions.touches(isDescribing, resource)
    case 'create':
      if (isOnTarget) return allows('db-table-create')
      return allows('db-keyspace-create') || allows('db-all-keyspace-create')
    case 'alter':
      return allows(isOnTarget ? 'db-table-alter' : 'db-keyspace-alter')
    case 'drop':
      return allows(isOnTarget ? 'db-table-drop' : 'db-keyspace-drop')
  }
}

function isOfDatabases(action: Action): boolean {
  return action.startsWith('db-')
}

function isDescribing(action: Action): boolean {
  return action.endsWith('-describe')
}
