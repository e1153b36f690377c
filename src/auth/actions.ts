/** Actions that policies can allow, named as in the management API. */

export const actions = [
  ...organizationActions(),
  'db-all-keyspace-create',
  'db-all-keyspace-describe',
  'db-graphql',
  'db-rest',
  'db-cql',
  'db-keyspace-grant',
  'db-keyspace-modify',
  'db-keyspace-describe',
  'db-keyspace-create',
  'db-keyspace-authorize',
  'db-keyspace-alter',
  'db-keyspace-drop',
  'db-table-select',
  'db-table-grant',
  'db-table-modify',
  'db-table-describe',
  'db-table-create',
  'db-table-authorize',
  'db-table-alter',
  'db-table-drop',
] as const

export type Action = (typeof actions)[number]

export function isAction(name: unknown): name is Action {
  return typeof name === 'string' && (actions as readonly string[]).includes(name)
}

/**
 * Actions on the organization. Policies may contain actions without effect on this server, such as
 * those of billing.
 */
function organizationActions() {
  return [
    'org-read',
    'org-write',
    'org-audits-read',
    'org-role-read',
    'org-role-write',
    'org-role-delete',
    'org-external-auth-read',
    'org-external-auth-write',
    'org-notification-write',
    'org-token-read',
    'org-token-write',
    'org-billing-read',
    'org-billing-write',
    'org-user-read',
    'org-user-write',
    'org-db-create',
    'org-db-passwordreset',
    'org-db-terminate',
    'org-db-suspend',
    'org-db-addpeering',
    'org-db-managemigratorproxy',
    'org-db-expand',
    'org-db-view',
  ] as const
}
