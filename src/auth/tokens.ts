/**
 * Formats of tokens.
 *
 * Clients send a token as a whole, so the server stores only its digest. One round of SHA-256 is
 * enough: a generated secret has 256 random bits and cannot be guessed, and tokens of accounts are
 * never stored.
 */
import { hash, randomBytes } from 'node:crypto'
import type { EngineCredentials } from '../engine/contract.ts'

export interface Account {
  readonly name: string
  readonly password: string
}

export interface NewToken {
  /** The public part, which names the token in lists and logs. */
  readonly id: string
  readonly secret: string
  /** Id and secret combined, as clients send them. Shown once and never stored. */
  readonly token: string
}

export function createToken(): NewToken {
  const id = randomBytes(12).toString('hex')
  const secret = randomBytes(32).toString('hex')
  return { id, secret, token: `Stela:${id}:${secret}` }
}

/**
 * Whether brute force could find the token. The secrets of generated tokens are too long for brute
 * force.
 */
export function isGuessable(token: string): boolean {
  return !/^Stela:[\w-]+:[0-9a-f]{64}$/.test(token)
}

/** The token that clients derive from a user name and a password. */
export function accountToken({ name, password }: Account): string {
  return `Cassandra:${base64(name)}:${base64(password)}`
}

/** The user name and password in a token; undefined if the token has another format. */
export function accountOf(token: string): Account | undefined {
  const [, name, password] = /^Cassandra:([\w+/]*={0,2}):([\w+/]*={0,2})$/.exec(token) ?? []
  if (name === undefined || password === undefined) return undefined
  const account = { name: fromBase64(name), password: fromBase64(password) }
  return accountToken(account) === token ? account : undefined
}

/**
 * Passes the token to the engine, and parses the account lazily: only few engines need the account.
 */
export class TokenCredentials implements EngineCredentials {
  readonly token: string

  constructor(token: string) {
    this.token = token
  }

  get account(): Account | undefined {
    return accountOf(this.token)
  }
}

export function digestOf(token: string): string {
  return hash('sha256', token, 'base64')
}

function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64')
}

function fromBase64(text: string): string {
  return Buffer.from(text, 'base64').toString('utf8')
}
