/**
 * The forms that tokens have.
 *
 * A token is a secret that its holder sends whole, so the service keeps only a digest of
 * it. One round of SHA-256 is enough: secrets made here are 256 random bits, which nobody
 * guesses, and accounts are never stored.
 */
import { hash, randomBytes } from 'node:crypto'

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

/** Whether trying many could find it. Nobody finds a secret that was made here. */
export function isGuessable(token: string): boolean {
  return !/^Stela:[\w-]+:[0-9a-f]{64}$/.test(token)
}

/** The token that clients make of a user name and a password. */
export function accountToken({ name, password }: Account): string {
  return `Cassandra:${base64(name)}:${base64(password)}`
}

export function digestOf(token: string): string {
  return hash('sha256', token, 'base64')
}

function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64')
}
