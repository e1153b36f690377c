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
  /** Whether it may do that to any of the things of a kind in a database. */
  mayAnywhere(effect: Effect, kind: ResourceKind, database: string): boolean
  allows(action: Action, resource: Resource): boolean
  /** Whether nothing in the policy goes beyond what this principal may do. */
  covers(policy: Policy): boolean
}

/** What an effect acts on: what a server offers, a keyspace, or a collection or table. */
export type ResourceKind = 'server' | 'keyspace' | 'target'

/** A principal that may do everything. */
export function administrator(name: string): Principal {
  const yes = () => true
  return { name, may: yes, mayAnywhere: yes, allows: yes, covers: yes }
}

export function principalOf(name: string, permissions: Permissions): Principal {
  return {
    name,
    may: (effect, resource) =>
      permitting[effect][kindOf(resource)].some((all) =>
        all.every((requirement) => isMet(requirement, resource, permissions)),
      ),
    mayAnywhere: (effect, kind, database) =>
      permitting[effect][kind].some((all) =>
        all.every((requirement) => permissions.touches(testOf(requirement), { database })),
      ),
    allows: (action, resource) => permissions.allows(action, resource),
    covers: (policy) => permissions.covers(policy),
  }
}

function kindOf({ keyspace, target }: Resource): ResourceKind {
  if (target !== undefined) return 'target'
  return keyspace === undefined ? 'server' : 'keyspace'
}

/** An action, or any of several, allowed anywhere at all. */
type Requirement = Action | ((action: Action) => boolean)

/** Permits an effect if all of its requirements are met. */
type Requirements = readonly Requirement[]

type RequirementsByKind = Readonly<Record<ResourceKind, readonly Requirements[]>>

const createKeyspace: readonly Requirements[] = [
  ['db-keyspace-create'],
  ['db-all-keyspace-create'],
]

/** The alternatives that permit an effect on a resource of each kind. */
const permitting: Readonly<Record<Effect, RequirementsByKind>> = {
  read: onAnyKind('db-table-select'),
  write: onAnyKind('db-table-modify'),
  change: onAnyKind('db-table-select', 'db-table-modify'),
  describe: {
    // Who has any business with a database may know what it offers, and who may see
    // something in a keyspace may know of the keyspace.
    server: [[isOfDatabases]],
    keyspace: [[isDescribing]],
    target: [['db-table-describe']],
  },
  create: {
    server: createKeyspace,
    keyspace: createKeyspace,
    target: [['db-table-create']],
  },
  alter: {
    server: [['db-keyspace-alter']],
    keyspace: [['db-keyspace-alter']],
    target: [['db-table-alter']],
  },
  drop: {
    server: [['db-keyspace-drop']],
    keyspace: [['db-keyspace-drop']],
    target: [['db-table-drop']],
  },
}

/** The same requirements for resources of all kinds. */
function onAnyKind(...requirements: Requirements): RequirementsByKind {
  return { server: [requirements], keyspace: [requirements], target: [requirements] }
}

function isMet(
  requirement: Requirement,
  resource: Resource,
  permissions: Permissions,
): boolean {
  return typeof requirement === 'function'
    ? permissions.touches(requirement, resource)
    : permissions.allows(requirement, resource)
}

function testOf(requirement: Requirement): (action: Action) => boolean {
  return typeof requirement === 'function'
    ? requirement
    : (action) => action === requirement
}

function isOfDatabases(action: Action): boolean {
  return action.startsWith('db-')
}

function isDescribing(action: Action): boolean {
  return action.endsWith('-describe')
}
