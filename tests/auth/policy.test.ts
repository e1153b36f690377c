/** A policy covers exactly the resources that it names, and everything in them. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { Action } from '../../src/auth/actions.ts'
import {
  BadPolicy,
  permissionsOf,
  readPolicy,
  type Resource,
  type Policy,
} from '../../src/auth/policy.ts'

/** Set SEED to repeat a failed run. */
const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31)
const organization = 'org-1'
const names = ['a', 'b']
const someActions = ['db-table-select', 'db-table-modify', 'org-db-view'] as const

/** All combinations of two known names and one unknown name on each level. */
const places: readonly Resource[] = [
  {},
  ...eachName().flatMap((database) => [
    { database },
    ...eachName().flatMap((keyspace) => [
      { database, keyspace },
      ...eachName().map((target) => ({ database, keyspace, target })),
    ]),
  ]),
]

function eachName(): string[] {
  return [...names, 'unheard-of']
}

/** The path of a resource: "org/database/keyspace/target", or a shorter path for a higher level. */
function pathOf({ database, keyspace, target }: Resource): string {
  return ['org', database, keyspace, target].filter((part) => part !== undefined).join('/')
}

/** Reference implementation: a pattern for the paths of a resource and of everything in it. */
function patternOf(resource: string): RegExp {
  const parts = resource.split(':').filter((_, i) => i >= 3 && i % 2 === 1)
  const pattern = parts.slice(1).map((part) => (part === '*' ? '[^/]+' : part))
  return new RegExp(`^${['org', ...pattern].join('/')}(/|$)`)
}

function isAllowed(policies: readonly Policy[], action: Action, place: Resource): boolean {
  return policies.some(
    (policy) =>
      policy.actions.includes(action) &&
      policy.resources.some((resource) => patternOf(resource).test(pathOf(place))),
  )
}

const name = fc.constantFrom(...names, '*')
const resource = fc.oneof(
  fc.constant(''),
  name.map((database) => `:db:${database}`),
  fc
    .tuple(name, name)
    .map(([database, keyspace]) => `:db:${database}:keyspace:${keyspace}`),
  fc
    .tuple(name, name, name)
    .map(
      ([database, keyspace, table]) =>
        `:db:${database}:keyspace:${keyspace}:table:${table}`,
    ),
)

const policy: fc.Arbitrary<Policy> = fc.record({
  description: fc.constant(''),
  effect: fc.constant('allow' as const),
  resources: fc.array(
    resource.map((text) => `drn:astra:org:${organization}${text}`),
    { minLength: 1, maxLength: 3 },
  ),
  actions: fc.uniqueArray(fc.constantFrom(...someActions), { minLength: 1 }),
})

const policies = fc.array(policy, { maxLength: 3 })

describe('permissions', () => {
  test('allow an action on a resource that a policy names, and on everything in it', () => {
    fc.assert(
      fc.property(policies, (given) => {
        const permissions = permissionsOf(given, organization)
        for (const place of places)
          for (const action of someActions)
            assert.equal(
              permissions.allows(action, place),
              isAllowed(given, action, place),
              `${action} at ${pathOf(place)}`,
            )
      }),
      { seed, numRuns: 500 },
    )
  })

  test('touch a resource when they allow an action on it or on anything in it', () => {
    const is = (action: Action) => action === 'db-table-select'
    fc.assert(
      fc.property(policies, fc.constantFrom(...places), (given, place) => {
        const isInside = (other: Resource) =>
          `${pathOf(other)}/`.startsWith(`${pathOf(place)}/`)
        assert.equal(
          permissionsOf(given, organization).touches(is, place),
          places
            .filter(isInside)
            .some((other) => isAllowed(given, 'db-table-select', other)),
        )
      }),
      { seed, numRuns: 2000 },
    )
  })

  test('cover a policy that allows no more than they do', () => {
    fc.assert(
      fc.property(policies, policy, (given, other) => {
        const goesBeyond = places.some((place) =>
          someActions.some(
            (action) =>
              isAllowed([other], action, place) && !isAllowed(given, action, place),
          ),
        )
        assert.equal(permissionsOf(given, organization).covers(other), !goesBeyond)
      }),
      { seed, numRuns: 2000 },
    )
  })

  test('allow nothing when there is no policy', () => {
    const permissions = permissionsOf([], organization)
    for (const place of places) assert(!permissions.allows('org-db-view', place))
  })
})

describe('a policy', () => {
  test('is parsed without changes, except that repeated resources are omitted', () => {
    fc.assert(
      fc.property(policy, (given) => {
        const { resources, ...rest } = readPolicy(structuredClone(given), organization)
        assert.deepEqual(rest, { ...rest, effect: 'allow', actions: given.actions })
        assert.deepEqual(resources, [...new Set(given.resources)])
      }),
      { seed, numRuns: 200 },
    )
  })

  test('is either parsed or rejected with BadPolicy, whatever the input', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.jsonValue(),
          fc.record({ resources: fc.jsonValue(), actions: fc.jsonValue() }),
          fc.record({ resources: fc.array(fc.string()), actions: fc.array(fc.string()) }),
        ),
        (value) => {
          try {
            readPolicy(value, organization)
          } catch (error) {
            assert(error instanceof BadPolicy, String(error))
          }
        },
      ),
      { seed, numRuns: 1000 },
    )
  })

  test('matches ids of databases regardless of case, and names of keyspaces exactly', () => {
    const given: Policy = {
      description: '',
      effect: 'allow',
      resources: [`drn:astra:org:${organization}:db:ABC:keyspace:Case`],
      actions: ['db-table-select'],
    }
    const permissions = permissionsOf([given], organization)
    const allows = (keyspace: string) =>
      permissions.allows('db-table-select', { database: 'abc', keyspace })
    assert(allows('Case'))
    assert(!allows('case'))
  })

  for (const text of [
    'drn:astra:org:',
    'drn:astra:org:org-1:',
    'drn:astra:org:org-1:db',
    'drn:astra:org:org-1:db:',
    'drn:astra:org:org-1:keyspace:a',
    'drn:astra:org:org-1:db:a:table:b',
    'drn:astra:org:org-1:db:a:keyspace:b:table:c:column:d',
    'drn:astra:org:*',
    ' drn:astra:org:org-1',
    'drn:astra:org:org-1\n',
    '*',
  ])
    test(`rejects the resource ${JSON.stringify(text)}`, () => {
      const given = { resources: [text], actions: ['org-read'] }
      assert.throws(() => readPolicy(given, organization), BadPolicy)
    })
})
