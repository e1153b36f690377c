import type { Action } from './actions.ts'
import type { Permissions, Resource, Policy } from './policy.ts'

/**
 * The kind of work that a command does, which determines the required permission. `change` writes
 * documents or rows and returns them, and therefore also requires the permission of `read`.
 * `describe`, `create`, `alter` and `drop` concern definitions; `read`, `write` and `change`
 * concern documents and rows.
 */
export type Effect = 'read' | 'write' | 'change' | 'describe' | 'create' | 'alter' | 'drop'

/** The identity that a token authenticates, with its permissions. */
export interface Principal {
  /** Name for logs; never the token itself. */
  readonly name: string
  may(effect: Effect, resource: Resource): boolean
  /**
   * Whether the principal has the permission for at least one resource of this kind in the
   * database.
   */
  mayAnywhere(effect: Effect, kind: ResourceKind, database: string): boolean
  allows(action: Action, resource: Resource): boolean
  /** Whether the principal has every permission of the policy. */
  covers(policy: Policy): boolean
}

/** Level of a resource: the server itself, a keyspace, or a collection or table. */
export type ResourceKind = 'server' | 'keyspace' | 'target'

/** A principal with all permissions. */
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

/**
 * An action that must be allowed on the resource, or a predicate. A predicate is met if any action
 * that it accepts is allowed on the resource, or on a resource above or below it.
 */
type Requirement = Action | ((action: Action) => boolean)

/** Requirements that must all be met to permit an effect. */
type Requirements = readonly Requirement[]

type RequirementsByKind = Readonly<Record<ResourceKind, readonly Requirements[]>>

const createKeyspace: readonly Requirements[] = [
  ['db-keyspace-create'],
  ['db-all-keyspace-create'],
]

/**
 * The alternative lists of requirements for an effect, by kind of resource. One list must be met.
 */
const permitting: Readonly<Record<Effect, RequirementsByKind>> = {
  read: onAnyKind('db-table-select'),
  write: onAnyKind('db-table-modify'),
  change: onAnyKind('db-table-select', 'db-table-modify'),
  describe: {
    // Any permission in a database includes the permission to describe the database. A permission
    // to describe anything in a keyspace includes the permission to describe the keyspace.
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

/** Requirements that are the same for resources of all kinds. */
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
