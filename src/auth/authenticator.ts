/**
 * Token in, principal out.
 *
 * Tokens are found by their digest. How long that takes tells something about digests, and
 * so nothing about tokens, which makes it as safe as comparing in constant time. Whole tokens
 * are compared only with one that the same connection has shown before.
 */
import type { Engine } from '../engine/engine.ts'
import { administrator, type Principal } from './principal.ts'
import { accountToken, createToken, digestOf, type Account } from './tokens.ts'

/** The setting that holds the tokens made by the service. */
const tokensSetting = 'tokens'

interface StoredToken {
  readonly id: string
  readonly digest: string
}

export interface Credentials {
  readonly adminToken: string | undefined
  readonly accounts: readonly Account[]
}

export class Authenticator {
  readonly #engine: Engine
  readonly #principals = new Map<string, Principal>()
  /** What connections have shown already, so that it is not worked out for each request. */
  readonly #shown = new WeakMap<object, { token: string; principal: Principal }>()
  #hasAdministrator: boolean

  private constructor(engine: Engine, hasAdministrator: boolean) {
    this.#engine = engine
    this.#hasAdministrator = hasAdministrator
  }

  /**
   * Knows the tokens kept by the engine and the credentials that the operator gave. The
   * latter are not stored: whoever is taken out of the configuration is out.
   */
  static async open(engine: Engine, credentials: Credentials): Promise<Authenticator> {
    const { adminToken, accounts } = credentials
    const stored = await readTokens(engine)
    const hasAdministrator = stored.length > 0 || adminToken !== undefined
    const authenticator = new Authenticator(engine, hasAdministrator)
    for (const { id, digest } of stored)
      authenticator.#principals.set(digest, administrator(`token ${id}`))
    for (const account of accounts)
      authenticator.#admit(accountToken(account), `account ${account.name}`)
    if (adminToken !== undefined) authenticator.#admit(adminToken, 'administrator')
    return authenticator
  }

  identify(token: string, connection: object): Principal | undefined {
    const shown = this.#shown.get(connection)
    if (shown?.token === token) return shown.principal
    const principal = this.#principals.get(digestOf(token))
    if (principal !== undefined) this.#shown.set(connection, { token, principal })
    return principal
  }

  /** Creates an administrator token where there is none; nobody can see it again later. */
  async createFirstToken(): Promise<string | undefined> {
    if (this.#hasAdministrator) return undefined
    const { id, token } = createToken()
    const stored: StoredToken[] = [{ id, digest: digestOf(token) }]
    await this.#engine.writeSetting(tokensSetting, JSON.stringify(stored))
    this.#admit(token, `token ${id}`)
    this.#hasAdministrator = true
    return token
  }

  #admit(token: string, name: string): void {
    const principal = administrator(name)
    this.#principals.set(digestOf(token), principal)
    // Headers are read as Latin-1, while many clients send tokens in UTF-8.
    const sentAsUtf8 = Buffer.from(token, 'utf8').toString('latin1')
    this.#principals.set(digestOf(sentAsUtf8), principal)
  }
}

async function readTokens(engine: Engine): Promise<readonly StoredToken[]> {
  const text = await engine.readSetting(tokensSetting)
  return text === undefined ? [] : (JSON.parse(text) as StoredToken[])
}
