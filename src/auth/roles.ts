/** Default roles and custom roles. */
import { hash } from 'node:crypto'
import { actions, type Action } from './actions.ts'
import type { Policy } from './policy.ts'

export interface Role {
  readonly id: string
  readonly name: string
  /** Default roles always exist and cannot be changed. */
  readonly isDefault: boolean
  readonly policy: Policy
  readonly updatedAt: string
  /** Name of the principal that last changed the role. */
  readonly updatedBy: string
}

const organizationAdministrator = 'Organization Administrator'

/**
 * Derives the id of a default role from its name, so that all servers have the same ids and scripts
 * can contain them.
 */
export function defaultRoleId(name: string): string {
  const digits = hash('sha256', `role ${name}`, 'hex')
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    // UUID version 8 permits arbitrary bits except version and variant.
    `8${digits.slice(13, 16)}`,
    `8${digits.slice(17, 20)}`,
    digits.slice(20, 32),
  ].join('-')
}

export const organizationAdministratorId = defaultRoleId(organizationAdministrator)

const databaseAdministrator = 'Database Administrator'

export const databaseAdministratorId = defaultRoleId(databaseAdministrator)

export function defaultRoles(organization: string): Role[] {
  return Object.entries(policies).map(([name, [description, allowed]]) => ({
    id: defaultRoleId(name),
    name,
    isDefault: true,
    policy: {
      description,
      effect: 'allow',
      resources: [`drn:astra:org:${organization}`],
      actions: allowed,
    },
    updatedAt: '1970-01-01T00:00:00.000Z',
    updatedBy: 'stela',
  }))
}

const view: readonly Action[] = ['org-db-view']

const readOnly: readonly Action[] = [
  'db-all-keyspace-describe',
  'db-keyspace-describe',
  'db-table-describe',
  'db-table-select',
  'db-graphql',
  'db-rest',
  'db-cql',
]

const readWrite: readonly Action[] = [...readOnly, 'db-keyspace-modify', 'db-table-modify']

const inDatabases = actions.filter((action) => action.startsWith('db-'))

const readsAll = 'reads all data of all databases'
const writesAll = 'reads and writes all data of all databases'
const changesAll = 'reads and writes all data and changes all schemas'

const policies: Readonly<Record<string, readonly [string, readonly Action[]]>> = {
  [organizationAdministrator]: ['Has all permissions', actions],
  [databaseAdministrator]: [`For administrators: ${changesAll}`, [...view, ...inDatabases]],
  'Billing Admin': ['Views billing', ['org-read', 'org-billing-read', 'org-billing-write']],
  'Admin Svc Acct': [`For services: ${changesAll}`, [...view, ...inDatabases]],
  'API Admin User': [
    `For people who use the API: ${changesAll}`,
    [...view, ...inDatabases],
  ],
  'API Admin Svc Acct': [
    `For services that use the API: ${changesAll}`,
    [...view, ...inDatabases],
  ],
  'RO User': [`For people: ${readsAll}`, [...view, ...readOnly]],
  'R/W User': [`For people: ${writesAll}`, [...view, ...readWrite]],
  'RO Svc Acct': [`For services: ${readsAll}`, [...view, ...readOnly]],
  'R/W Svc Acct': [`For services: ${writesAll}`, [...view, ...readWrite]],
  'API RO User': [`For people who use the API: ${readsAll}`, [...view, ...readOnly]],
  'API RO Svc Acct': [`For services that use the API: ${readsAll}`, [...view, ...readOnly]],
  'API R/W User': [`For people who use the API: ${writesAll}`, [...view, ...readWrite]],
  'API R/W Svc Acct': [
    `For services that use the API: ${writesAll}`,
    [...view, ...readWrite],
  ],
  'UI View Only': ['Lists databases, and reads no data', view],
}
