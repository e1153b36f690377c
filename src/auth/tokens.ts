/**
 * The forms that tokens have.
 *
 * A token is a secret that its holder sends whole, so the service keeps only a digest of
 * it. One round of SHA-256 is enough: generated secrets are 256 random bits, which cannot be
 * guessed, and accounts are never stored.
 */
import { hash, randomBytes } from 'node:crypto'
import type { EngineCredentials } from '../engine/contract.ts'

export interface Account {
  readonly name: string
  readonly password: string
}

export interface NewToken {
  /** Public: names the token in lists and logs. */
  readonly id: string
  readonly secret: string
  /** Both in one, as it is sent. To be shown once and then forgotten. */
  readonly token: string
}

export function createToken(): NewToken {
  const id = randomBytes(12).toString('hex')
  const secret = randomBytes(32).toString('hex')
  return { id, secret, token: `Stela:${id}:${secret}` }
}

/** Whether brute force could find the token. Generated secrets are too long for that. */
export function isGuessable(token: string): boolean {
  return !/^Stela:[\w-]+:[0-9a-f]{64}$/.test(token)
}

/** The token that clients make of a user name and a password. */
export function accountToken({ name, password }: Account): string {
  return `Cassandra:${base64(name)}:${base64(password)}`
}

/** The user name and password that a token is made of, if it is. */
export function accountOf(token: string): Account | undefined {
  const [, name, password] = /^Cassandra:([\w+/]*={0,2}):([\w+/]*={0,2})$/.exec(token) ?? []
  if (name === undefined || password === undefined) return undefined
  const account = { name: fromBase64(name), password: fromBase64(password) }
  return accountToken(account) === token ? account : undefined
}

/** What engines learn of a request: few look at it, so it is not taken apart before. */
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
