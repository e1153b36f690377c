/**
 * Access control: roles, tokens, and the users that the operator configured.
 *
 * Roles, tokens and the roles of users are stored as settings of the engine and cached in memory. A
 * change is durable before it takes effect. It then applies to the next request of every
 * connection, because connections keep a reference to a `Holder`, which is updated in place. A
 * change by another server takes effect when the engine reports it.
 *
 * A change writes one of the three settings, after reading the current state of all three. Two
 * servers can make changes at the same time without seeing each other's change: a token can get a
 * role that is being deleted. A role that no longer exists grants nothing.
 */
import { randomUUID } from 'node:crypto'
import type { Engine } from '../engine/contract.ts'
import { SharedSetting, type SettingChange } from '../engine/shared-setting.ts'
import { permissionsOf, readPolicy, BadPolicy, type Policy } from './policy.ts'
import { administrator, principalOf, type Principal } from './principal.ts'
import {
  databaseAdministratorId,
  defaultRoles,
  organizationAdministratorId,
  type Role,
} from './roles.ts'
import { accountToken, createToken, digestOf, type Account } from './tokens.ts'
import { fixedLimits } from '../limits.ts'

export interface ConfiguredCredentials {
  readonly adminToken: string | undefined
  readonly accounts: readonly Account[]
}

/** A token without its secret, for lists and replies. */
export interface TokenInfo {
  readonly id: string
  readonly roles: readonly string[]
  readonly createdAt: string
  readonly description?: string | undefined
  readonly expiresAt?: string | undefined
}

export interface CreatedToken extends TokenInfo {
  readonly secret: string
  readonly token: string
}

/** A configured account, or a name with stored roles that no configured account has yet. */
export interface User {
  readonly id: string
  readonly name: string
  readonly isAccount: boolean
  readonly roles: readonly string[]
}

/**
 * The principal of a valid token. Connections keep a reference to this object, so a change of roles
 * or tokens updates it in place.
 */
export interface Holder {
  readonly principal: Principal
  /** Expiry in milliseconds since 1970; Infinity: the token never expires. */
  readonly expiresAtMs: number
  readonly isRevoked: boolean
}

/** The error for a change of roles, tokens or users that is not allowed. */
export class AccessRefusal extends Error {
  readonly kind: 'bad' | 'forbidden' | 'unknown' | 'taken' | 'state'

  constructor(kind: AccessRefusal['kind'], message: string) {
    super(message)
    this.kind = kind
  }
}

interface StoredToken {
  readonly id: string
  readonly digest: string
  /** Absent in tokens of version 0.1, which had all permissions. */
  readonly roles?: readonly string[]
  readonly createdAt?: string
  readonly description?: string
  readonly expiresAt?: string
}

/** Roles of users, by user name. */
type StoredUsers = Readonly<Record<string, { id: string; roles: readonly string[] }>>

/** The settings of the engine in which roles, tokens and users are stored. */
interface Kept {
  readonly roles: SharedSetting<readonly Role[]>
  readonly tokens: SharedSetting<readonly StoredToken[]>
  readonly users: SharedSetting<StoredUsers>
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

export class Access {
  readonly organization: string
  readonly #credentials: ConfiguredCredentials
  readonly #roles: SharedSetting<readonly Role[]>
  readonly #tokens: SharedSetting<readonly StoredToken[]>
  readonly #users: SharedSetting<StoredUsers>
  /** Holders by the digest of their tokens. */
  readonly #holders = new Map<string, Mutable<Holder>>()

  private constructor(
    organization: string,
    credentials: ConfiguredCredentials,
    kept: Kept,
  ) {
    this.organization = organization
    this.#credentials = credentials
    this.#roles = kept.roles
    this.#tokens = kept.tokens
    this.#users = kept.users
    for (const setting of this.#settings) setting.whenChanged(() => this.#apply())
    this.#apply()
  }

  /**
   * Loads the stored settings and adds the configured credentials. Configured credentials are never
   * stored, so an account loses its access when the operator removes it from the configuration.
   */
  static async open(
    engine: Engine,
    organization: string,
    credentials: ConfiguredCredentials,
  ): Promise<Access> {
    const roles = await SharedSetting.open<readonly Role[]>(engine, 'roles', [])
    const tokens = await SharedSetting.open<readonly StoredToken[]>(engine, 'tokens', [])
    const users = await SharedSetting.open<StoredUsers>(engine, 'users', {})
    return new Access(organization, credentials, { roles, tokens, users })
  }

  /** Stops watching changes by other servers. */
  close(): void {
    for (const setting of this.#settings) setting.close()
  }

  get #settings() {
    return [this.#roles, this.#tokens, this.#users] as const
  }

  find(digest: string): Holder | undefined {
    return this.#holders.get(digest)
  }

  /**
   * The principal of an account of the cluster. It has all permissions on this server, because the
   * cluster checks the permissions of each statement.
   */
  principalOfStore(name: string): Principal {
    return this.#principal(`account ${name}`, [databaseAdministratorId])
  }

  /** Whether a configured or stored token can create other tokens. */
  get hasAdministrator(): boolean {
    return this.#credentials.adminToken !== undefined || this.#administrators().length > 0
  }

  get roles(): readonly Role[] {
    return [...defaultRoles(this.organization), ...this.#roles.value]
  }

  role(id: string): Role {
    const role = this.roles.find((candidate) => candidate.id === id)
    if (role === undefined) throw new AccessRefusal('unknown', `There is no role ${id}`)
    return role
  }

  createRole(name: unknown, policy: unknown, by: Principal): Promise<Role> {
    return this.#change(this.#roles, (roles) => {
      const role = this.#readRole(randomUUID(), name, policy, by)
      checkRoom(roles.length, 'roles')
      return { value: [...roles, role], result: role }
    })
  }

  updateRole(id: string, name: unknown, policy: unknown, by: Principal): Promise<Role> {
    return this.#change(this.#roles, (roles) => {
      const before = this.#changeableRole(id, by)
      // Keeps members of the stored role that a later version of the server added.
      const role = { ...before, ...this.#readRole(id, name, policy, by) }
      return { value: roles.map((old) => (old === before ? role : old)), result: role }
    })
  }

  /** Deletes a role. Tokens and users keep the id of a deleted role, which grants nothing. */
  deleteRole(id: string, by: Principal): Promise<Role> {
    return this.#change(this.#roles, (roles) => {
      const role = this.#changeableRole(id, by)
      return { value: roles.filter((old) => old !== role), result: role }
    })
  }

  get tokens(): readonly TokenInfo[] {
    return this.#tokens.value.map(infoOf)
  }

  /** Creates a token. `by` is undefined for the operator, who has access to the data folder. */
  createToken(
    wanted: { roles: unknown; description?: unknown; expiresAt?: unknown },
    by: Principal | undefined,
  ): Promise<CreatedToken> {
    return this.#change(this.#tokens, (tokens) => {
      const description = readDescription(wanted.description)
      const expiresAt = readExpiry(wanted.expiresAt)
      const roles = this.#readRoles(wanted.roles, by)
      return withToken(tokens, {
        roles,
        createdAt: new Date().toISOString(),
        ...(description !== undefined && { description }),
        ...(expiresAt !== undefined && { expiresAt }),
      })
    })
  }

  /**
   * Creates an administrator token when no stored or configured token can create other tokens. If
   * several servers start at once, only one server creates the token, and the other servers get
   * undefined. The secret is not stored.
   */
  createFirstToken(): Promise<CreatedToken | undefined> {
    return this.#change<readonly StoredToken[], CreatedToken | undefined>(
      this.#tokens,
      (tokens) => {
        if (this.hasAdministrator) return { value: tokens, result: undefined }
        return withToken(tokens, {
          roles: [organizationAdministratorId],
          createdAt: new Date().toISOString(),
          description: 'made at the first start',
        })
      },
    )
  }

  revokeToken(id: string, by: Principal | undefined): Promise<TokenInfo> {
    return this.#change(this.#tokens, (tokens) => {
      const found = tokens.find((token) => token.id === id)
      if (found === undefined) throw new AccessRefusal('unknown', `There is no token ${id}`)
      if (by !== undefined) this.#checkCovered(rolesOf(found), by)
      const rest = tokens.filter((token) => token !== found)
      if (this.#administrators().includes(found) && !this.#hasAdministratorIn(rest))
        throw new AccessRefusal(
          'state',
          `The token ${id} is the last administrator token. Create another one first`,
        )
      return { value: rest, result: infoOf(found) }
    })
  }

  get users(): readonly User[] {
    const accounts = new Set(this.#credentials.accounts.map(({ name }) => name))
    const stored = this.#users.value
    return [...accounts.union(new Set(Object.keys(stored)))].map((name) => ({
      id: stored[name]?.id ?? name,
      name,
      isAccount: accounts.has(name),
      roles: this.#rolesOfUser(name),
    }))
  }

  /** Replaces the roles of a user. */
  setUser(name: unknown, roles: unknown, by: Principal): Promise<User> {
    return this.#change(this.#users, (users) => {
      if (typeof name !== 'string' || name === '' || name.length > 200)
        throw new AccessRefusal('bad', 'email must be a string of 1 to 200 characters')
      this.#checkCovered(this.#rolesOfUser(name), by)
      const id = users[name]?.id ?? name
      const given = this.#readRoles(roles, by)
      if (!Object.hasOwn(users, name)) checkRoom(Object.keys(users).length, 'users')
      const isAccount = this.#isAccount(name)
      return {
        value: { ...users, [name]: { ...users[name], id, roles: given } },
        result: { id, name, isAccount, roles: given },
      }
    })
  }

  /** Finds a user by id, which is the user's name by default. */
  user(id: string): User {
    const user = this.users.find((candidate) => candidate.id === id)
    if (user === undefined) throw new AccessRefusal('unknown', `There is no user ${id}`)
    return user
  }

  removeUser(id: string, by: Principal): Promise<User> {
    return this.#change(this.#users, (users) => {
      const user = this.user(id)
      if (user.isAccount)
        throw new AccessRefusal(
          'state',
          `${user.name} is an account of the server settings. Remove it from STELA_USERS`,
        )
      this.#checkCovered(user.roles, by)
      const rest = Object.entries(users).filter(([name]) => name !== user.name)
      return { value: Object.fromEntries(rest), result: user }
    })
  }

  #readRole(id: string, name: unknown, policy: unknown, by: Principal): Role {
    if (typeof name !== 'string' || name.trim() === '' || name.length > 200)
      throw new AccessRefusal('bad', 'name must be a string of 1 to 200 characters')
    if (this.roles.some((role) => role.name === name && role.id !== id))
      throw new AccessRefusal('taken', `The role "${name}" already exists`)
    const read = this.#readPolicy(policy)
    if (!by.covers(read))
      throw new AccessRefusal(
        'forbidden',
        'A role cannot allow more than the token of its creator',
      )
    const updatedAt = new Date().toISOString()
    return { id, name, isDefault: false, policy: read, updatedAt, updatedBy: by.name }
  }

  #readPolicy(policy: unknown): Policy {
    try {
      return readPolicy(policy, this.organization)
    } catch (error) {
      throw error instanceof BadPolicy ? new AccessRefusal('bad', error.message) : error
    }
  }

  #changeableRole(id: string, by: Principal): Role {
    const role = this.role(id)
    if (role.isDefault)
      throw new AccessRefusal(
        'forbidden',
        `"${role.name}" is a default role and cannot be changed. Create another role`,
      )
    this.#checkCovered([id], by)
    return role
  }

  #readRoles(ids: unknown, by: Principal | undefined): string[] {
    if (!Array.isArray(ids) || ids.length === 0 || ids.length > 100)
      throw new AccessRefusal('bad', 'roles must be an array of 1 to 100 role ids')
    const known = this.roles
    const unknown = ids.filter((id) => !known.some((role) => role.id === id))
    if (unknown.length > 0)
      throw new AccessRefusal('bad', describeUnknownRoles(unknown, known))
    const roles = [...new Set(ids as string[])]
    if (by !== undefined) this.#checkCovered(roles, by)
    return roles
  }

  /**
   * Throws if a role has permissions that the principal lacks: a principal can grant or revoke only
   * its own permissions.
   */
  #checkCovered(roles: readonly string[], by: Principal): void {
    for (const role of this.roles)
      if (roles.includes(role.id) && !by.covers(role.policy))
        throw new AccessRefusal(
          'forbidden',
          `The role "${role.name}" allows more than the token of this request`,
        )
  }

  #administrators(): readonly StoredToken[] {
    return this.#tokens.value.filter(isAdministrator)
  }

  #hasAdministratorIn(tokens: readonly StoredToken[]): boolean {
    return this.#credentials.adminToken !== undefined || tokens.some(isAdministrator)
  }

  #rolesOfUser(name: string): readonly string[] {
    const stored = this.#users.value[name]?.roles
    if (stored !== undefined) return stored
    // A configured account without stored roles is an administrator.
    return this.#isAccount(name) ? [organizationAdministratorId] : []
  }

  #isAccount(name: string): boolean {
    return this.#credentials.accounts.some((account) => account.name === name)
  }

  async #change<T, R>(
    setting: SharedSetting<T>,
    decide: (value: T) => SettingChange<T, R>,
  ): Promise<R> {
    for (const other of this.#settings) if (other !== setting) await other.refresh()
    return setting.change(decide)
  }

  /**
   * Updates the holders from tokens, accounts and roles. Marks a holder as revoked when its token
   * or account no longer exists.
   */
  #apply(): void {
    const now = new Map<string, Omit<Holder, 'isRevoked'>>()
    for (const token of this.#tokens.value)
      now.set(token.digest, {
        principal: this.#principal(`token ${token.id}`, rolesOf(token)),
        expiresAtMs: expiryMsOf(token),
      })
    for (const account of this.#credentials.accounts) {
      const roles = this.#rolesOfUser(account.name)
      const principal = this.#principal(`account ${account.name}`, roles)
      for (const digest of digestsOf(accountToken(account)))
        now.set(digest, { principal, expiresAtMs: Infinity })
    }
    const { adminToken } = this.#credentials
    if (adminToken !== undefined)
      for (const digest of digestsOf(adminToken))
        now.set(digest, {
          principal: administrator('administrator'),
          expiresAtMs: Infinity,
        })

    for (const [digest, holder] of this.#holders)
      if (!now.has(digest)) {
        holder.isRevoked = true
        this.#holders.delete(digest)
      }
    for (const [digest, current] of now) {
      const known = this.#holders.get(digest)
      if (known === undefined) this.#holders.set(digest, { ...current, isRevoked: false })
      else Object.assign(known, current)
    }
  }

  #principal(name: string, ids: readonly string[]): Principal {
    if (ids.includes(organizationAdministratorId)) return administrator(name)
    const policies = this.roles
      .filter((role) => ids.includes(role.id))
      .map((role) => role.policy)
    return principalOf(name, permissionsOf(policies, this.organization))
  }
}

/** Adds a new token with these properties to the stored tokens. */
function withToken(
  tokens: readonly StoredToken[],
  given: Omit<StoredToken, 'id' | 'digest'>,
): SettingChange<readonly StoredToken[], CreatedToken> {
  checkRoom(tokens.length, 'tokens')
  const { id, secret, token } = createToken()
  const stored: StoredToken = { id, digest: digestOf(token), ...given }
  return { value: [...tokens, stored], result: { ...infoOf(stored), secret, token } }
}

function checkRoom(count: number, what: string): void {
  if (count >= fixedLimits.accessEntriesMax)
    throw new AccessRefusal(
      'state',
      `There are already ${count} ${what}, the maximum. Remove some first`,
    )
}

function rolesOf({
  roles = [organizationAdministratorId],
}: StoredToken): readonly string[] {
  return roles
}

function expiryMsOf({ expiresAt }: StoredToken): number {
  return expiresAt === undefined ? Infinity : Date.parse(expiresAt)
}

function isAdministrator(token: StoredToken): boolean {
  return (
    rolesOf(token).includes(organizationAdministratorId) && expiryMsOf(token) > Date.now()
  )
}

function infoOf(token: StoredToken): TokenInfo {
  const { id, createdAt = '1970-01-01T00:00:00.000Z', description, expiresAt } = token
  return { id, roles: rolesOf(token), createdAt, description, expiresAt }
}

/**
 * Digests of a token in two encodings: Node decodes headers as Latin-1, while many clients send
 * tokens in UTF-8.
 */
function digestsOf(token: string): string[] {
  const sentAsUtf8 = Buffer.from(token, 'utf8').toString('latin1')
  return [digestOf(token), digestOf(sentAsUtf8)]
}

function readDescription(value: unknown): string | undefined {
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value !== 'string' || value.length > 500)
    throw new AccessRefusal('bad', 'description must be a string of at most 500 characters')
  return value
}

/** Converts the expiry of a token to ISO 8601 in UTC; rejects a time in the past. */
function readExpiry(value: unknown): string | undefined {
  if (value === undefined || value === null || value === '') return undefined
  const ms = typeof value === 'string' && isDate.test(value) ? Date.parse(value) : NaN
  if (Number.isNaN(ms))
    throw new AccessRefusal(
      'bad',
      'tokenExpiry must be a time such as 2030-01-31T12:00:00Z',
    )
  if (ms <= Date.now()) throw new AccessRefusal('bad', 'tokenExpiry must be in the future')
  return new Date(ms).toISOString()
}

const isDate = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/

/**
 * The message about unknown roles: their names, the default roles, and the path that lists all
 * roles.
 */
function describeUnknownRoles(unknown: readonly unknown[], known: readonly Role[]): string {
  const shown = JSON.stringify(unknown).slice(0, 200)
  const named = known.find(({ name }) => unknown.includes(name))
  const hint =
    named === undefined
      ? ''
      : `. Send ids instead of names; the id of "${named.name}" is ${named.id}`
  const names = known
    .filter(({ isDefault }) => isDefault)
    .map(({ name, id }) => `"${name}" (${id})`)
  return (
    `roles contains unknown role ids: ${shown}${hint}. Default roles: ` +
    `${names.join(', ')}. GET /organizations/roles lists all roles`
  )
}
