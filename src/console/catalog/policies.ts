/**
 * Describes the permissions of roles in words, and creates the policies that grant these
 * permissions.
 */
export interface Policy {
  readonly description: string
  readonly effect: string
  readonly resources: readonly string[]
  readonly actions: readonly string[]
}

export interface Role {
  readonly ID: string
  readonly Name: string
  readonly Type: string
  readonly Policy: Policy
}

export interface DatabaseName {
  readonly id: string
  readonly name: string
}

/** Actions that are usually granted together. */
export interface Ability {
  readonly label: string
  readonly hint: string
  readonly actions: readonly string[]
}

export const abilities: readonly Ability[] = [
  {
    label: 'List databases, keyspaces, collections and tables',
    hint: 'names and definitions',
    actions: [
      ...['org-db-view', 'db-all-keyspace-describe', 'db-keyspace-describe'],
      'db-table-describe',
    ],
  },
  { label: 'Read data', hint: 'find and count', actions: ['db-table-select'] },
  {
    label: 'Write data',
    hint: 'insert, update and delete',
    actions: ['db-table-modify'],
  },
  {
    label: 'Create and drop collections and tables',
    hint: 'including indexes of tables',
    actions: ['db-table-create', 'db-table-alter', 'db-table-drop'],
  },
  {
    label: 'Create and drop keyspaces',
    hint: 'including user-defined types',
    actions: [
      ...['db-keyspace-create', 'db-all-keyspace-create', 'db-keyspace-alter'],
      'db-keyspace-drop',
    ],
  },
  {
    label: 'Create and terminate databases',
    hint: 'terminating deletes all their data',
    actions: ['org-db-create', 'org-db-terminate'],
  },
  {
    label: 'Manage tokens, roles and users',
    hint: 'new ones cannot exceed the permissions of their creator',
    actions: [
      ...['org-token-read', 'org-token-write', 'org-role-read', 'org-role-write'],
      ...['org-role-delete', 'org-user-read', 'org-user-write'],
    ],
  },
  {
    label: 'Monitor the server',
    hint: 'metrics and slow commands',
    actions: ['org-read', 'org-audits-read'],
  },
]

/** The labels of the allowed actions, and the number of actions that no label covers. */
export function abilitiesOf(actions: readonly string[]): {
  readonly labels: readonly string[]
  readonly others: number
} {
  const allowed = new Set(actions)
  const whole = abilities.filter((ability) =>
    ability.actions.every((action) => allowed.has(action)),
  )
  const covered = new Set(whole.flatMap((ability) => ability.actions))
  const labels = whole.map(({ label }) => label)
  return { labels, others: actions.filter((action) => !covered.has(action)).length }
}

/** A part of the organization. An empty level covers all objects of the level. */
export interface Scope {
  readonly database: string
  readonly keyspace: string
  readonly target: string
}

export const everywhere: Scope = { database: '', keyspace: '', target: '' }

export function resourceOf(organization: string, scope: Scope): string {
  const { database, keyspace, target } = scope
  const parts = [
    ['db', database],
    ['keyspace', keyspace],
    ['table', target],
  ] as const
  // Omits the levels below the last named one, because a policy covers them completely.
  const last = parts.findLastIndex(([, name]) => name !== '')
  const path = parts.slice(0, last + 1).map(([kind, name]) => `:${kind}:${name || '*'}`)
  return `drn:astra:org:${organization}${path.join('')}`
}

/** The scope of a resource; undefined when the form cannot show it. */
export function scopeOf(resource: string): Scope | undefined {
  const [, rest] = /^drn:astra:org:[^:]+((?::\w+:[^:]+)*)$/.exec(resource) ?? []
  if (rest === undefined) return undefined
  const named = new Map(
    [...rest.matchAll(/:(\w+):([^:]+)/g)].map(([, kind, name]) => [kind!, name!]),
  )
  const nameOf = (kind: string) => (named.get(kind) ?? '').replace(/^\*$/, '')
  return {
    database: nameOf('db'),
    keyspace: nameOf('keyspace'),
    target: nameOf('table'),
  }
}

/**
 * A scope in words, such as `database shop, keyspace main`. Databases without a known name
 * are shown by id.
 */
export function scopeWords(
  resource: string,
  nameOf: (database: string) => string = (database) => database,
): string {
  const scope = scopeOf(resource)
  if (scope === undefined) return resource
  const { database, keyspace, target } = scope
  const words = [
    ...(database === '' ? [] : [`database ${nameOf(database)}`]),
    ...(keyspace === '' ? [] : [`keyspace ${keyspace}`]),
    ...(target === '' ? [] : [target]),
  ]
  return words.length === 0 ? 'everywhere' : words.join(', ')
}
