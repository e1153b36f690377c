/**
 * Policies: actions that a role allows on resources.
 *
 * A resource is a path that starts at the organization:
 * `drn:astra:org:<id>:db:<id>:keyspace:<name>:table:<name>`. A shorter path covers every resource
 * below it, and `*` matches any name.
 */
import { isAction, type Action } from './actions.ts'
import { fixedLimits } from '../limits.ts'

const { policyListMax, policyTextLengthMax } = fixedLimits

export interface Policy {
  readonly description: string
  readonly effect: 'allow'
  readonly resources: readonly string[]
  readonly actions: readonly Action[]
}

/** The object of an action; the organization itself if all members are absent. */
export interface Resource {
  readonly database?: string | undefined
  readonly keyspace?: string | undefined
  /** Name of a collection or table. */
  readonly target?: string | undefined
}

/** An invalid policy; the message states why it is invalid. */
export class BadPolicy extends Error {}

/** Parses a policy of this organization; throws BadPolicy. */
export function readPolicy(value: unknown, organization: string): Policy {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new BadPolicy('policy must be an object')
  const given = value as Record<string, unknown>
  const { description = '', effect = 'allow' } = given
  if (typeof description !== 'string')
    throw new BadPolicy('policy.description must be a string')
  if (effect !== 'allow')
    throw new BadPolicy(
      'policy.effect must be "allow": actions that no policy allows are denied',
    )
  const resources = readTexts(given['resources'], 'policy.resources')
  for (const resource of resources) parseResource(resource, organization)
  const names = readTexts(given['actions'], 'policy.actions')
  const unknown = names.filter((name) => !isAction(name))
  if (unknown.length > 0)
    throw new BadPolicy(
      `policy.actions has unknown actions: ${unknown.join(', ').slice(0, 200)}`,
    )
  return { description, effect, resources, actions: names as Action[] }
}

function readTexts(value: unknown, field: string): string[] {
  if (!Array.isArray(value) || value.length === 0)
    throw new BadPolicy(`${field} must be an array that is not empty`)
  if (value.length > policyListMax)
    throw new BadPolicy(
      `${field} has ${value.length} elements; the maximum is ${policyListMax}`,
    )
  for (const element of value)
    if (
      typeof element !== 'string' ||
      element === '' ||
      element.length > policyTextLengthMax
    )
      throw new BadPolicy(
        `${field} must contain strings of 1 to ${policyTextLengthMax} characters; one is ` +
          JSON.stringify(element).slice(0, 100),
      )
  return [...new Set(value as string[])]
}

/** The levels of a resource from the top; an undefined level matches every name. */
interface ResourcePattern {
  readonly database: string | undefined
  readonly keyspace: string | undefined
  readonly target: string | undefined
}

const resourceForm =
  /^drn:astra:org:([^:]+)(?::db:([^:]+)(?::keyspace:([^:]+)(?::table:([^:]+))?)?)?$/

function parseResource(text: string, organization: string): ResourcePattern {
  const [, owner, database, keyspace, target] = resourceForm.exec(text) ?? []
  if (owner === undefined)
    throw new BadPolicy(
      `policy.resources has "${text}", which does not have the form ` +
        'drn:astra:org:<id>[:db:<id or *>[:keyspace:<name or *>[:table:<name or *>]]]',
    )
  if (owner !== organization)
    throw new BadPolicy(
      `policy.resources has "${text}", which belongs to another organization; this one ` +
        `is ${organization}`,
    )
  return { database: database?.toLowerCase(), keyspace, target }
}

export interface Permissions {
  allows(action: Action, resource: Resource): boolean
  /**
   * Whether any action for which `is` returns true is allowed on the resource, or on a resource
   * above or below it.
   */
  touches(is: (action: Action) => boolean, resource: Resource): boolean
  /** Whether these permissions include all permissions of the policy. */
  covers(policy: Policy): boolean
}

/** The permissions that at least one of the policies grants. */
export function permissionsOf(
  policies: readonly Policy[],
  organization: string,
): Permissions {
  const rules = policies.map(({ actions, resources }) => ({
    actions: new Set<Action>(actions),
    patterns: resources.map((text) => parseResource(text, organization)),
  }))
  const allows = (action: Action, resource: Resource) =>
    rules.some(
      (rule) =>
        rule.actions.has(action) &&
        rule.patterns.some((pattern) => isWithin(resource, pattern)),
    )
  return {
    allows,
    touches: (is, resource) =>
      rules.some(
        (rule) =>
          [...rule.actions].some(is) &&
          rule.patterns.some((pattern) => overlaps(resource, pattern)),
      ),
    covers: ({ actions, resources }) =>
      resources
        .map((text) => parseResource(text, organization))
        .every((resource) => actions.every((action) => allows(action, resource))),
  }
}

function isWithin(
  resource: Resource,
  { database, keyspace, target }: ResourcePattern,
): boolean {
  return (
    isLevelWithin(resource.database, database) &&
    isLevelWithin(resource.keyspace, keyspace) &&
    isLevelWithin(resource.target, target)
  )
}

/** Whether the pattern matches the resource, or can match a resource below it. */
function overlaps(
  resource: Resource,
  { database, keyspace, target }: ResourcePattern,
): boolean {
  return (
    (resource.database === undefined || isLevelWithin(resource.database, database)) &&
    (resource.keyspace === undefined || isLevelWithin(resource.keyspace, keyspace)) &&
    (resource.target === undefined || isLevelWithin(resource.target, target))
  )
}

function isLevelWithin(name: string | undefined, covered: string | undefined): boolean {
  if (covered === undefined) return true
  return name !== undefined && (covered === '*' || covered === name)
}
