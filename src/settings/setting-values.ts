/** What the texts of settings mean. Each throws an InvalidArgumentError where it means none. */
import { InvalidArgumentError } from 'commander'
import type { Account } from '../auth/tokens.ts'
import type { AllowedOrigins } from '../http/cors.ts'

export function wholeNumber(min: number, max: number) {
  return (text: string): number => {
    const number = Number(text)
    if (!/^\d+$/.test(text) || number < min || number > max)
      throw new InvalidArgumentError(
        max === Number.MAX_SAFE_INTEGER
          ? `It takes a whole number of at least ${min}.`
          : `It takes a whole number from ${min} to ${max}.`,
      )
    return number
  }
}

/** Trimmed, since no header could carry spaces around a token. */
export function notEmpty(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('It cannot be empty.')
  return text.trim()
}

export function readList(text: string): readonly string[] {
  return text.split(',').map(notEmpty)
}

/** "dc1=3,dc2=2". */
export function namedCounts(text: string): ReadonlyMap<string, number> {
  return new Map(
    namedValues(text).map(([name, count]) => [name, wholeNumber(1, 1_000)(count)]),
  )
}

export function readAdminPort(text: string): number | 'off' {
  return text === 'off' ? 'off' : wholeNumber(0, 65_535)(text)
}

/** Without the slash at the end: paths are put behind it. */
export function readPublicUrl(text: string): string {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol) || url.search + url.hash !== '')
    throw new InvalidArgumentError('It takes a URL such as https://data.example.com.')
  return url.href.replace(/\/+$/, '')
}

/** A comma ends an account, so passwords cannot hold one; colons are theirs. */
export function readAccounts(text: string): readonly Account[] {
  return text.split(',').map((entry) => {
    const colon = entry.indexOf(':')
    const account = { name: entry.slice(0, colon), password: entry.slice(colon + 1) }
    if (colon < 1 || account.password === '')
      throw new InvalidArgumentError('It takes name:password,name:password and so on.')
    return account
  })
}

/** An origin is what a browser sends as such: a scheme, a host, and a port if it is unusual. */
export function readOrigins(text: string): AllowedOrigins {
  if (text.trim() === '*') return '*'
  return text.split(',').map((entry) => {
    const origin = entry.trim().toLowerCase()
    if (URL.parse(origin)?.origin !== origin)
      throw new InvalidArgumentError(
        `"${origin}" is no origin. It takes * or https://a.example,https://b.example:8443.`,
      )
    return origin
  })
}

/** Parts of a "{place}" stand where a collection's parameters go, so they come off first. */
export function readUrls(providers: readonly string[]) {
  return (text: string): ReadonlyMap<string, string> =>
    new Map(
      namedValues(text).map(([name, value]) => {
        checkProvider(name, providers)
        const url = URL.parse(value.replace(/\{\w+\}/g, 'x'))
        if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '')
          throw new InvalidArgumentError(
            `"${value}" is no http or https URL, or holds a user.`,
          )
        return [name, value]
      }),
    )
}

/** "openai=key" is the provider's, "openai.team=key" one that collections name. */
export function readKeys(providers: readonly string[]) {
  return (text: string): ReadonlyMap<string, string> =>
    new Map(
      namedValues(text).map(([name, key]) => {
        const provider = name.split('.', 1)[0]!
        checkProvider(provider, providers)
        if (!/^[\x21-\x7e]+$/.test(key))
          throw new InvalidArgumentError(`The key for ${name} cannot be sent in a header.`)
        if (provider === 'bedrock' && !/^[^:]+:./.test(key))
          throw new InvalidArgumentError('The key for bedrock is <access id>:<secret>.')
        return [name, key]
      }),
    )
}

function checkProvider(name: string, known: readonly string[]): void {
  if (!known.includes(name))
    throw new InvalidArgumentError(
      `"${name}" is no provider. Known are ${known.toSorted().join(', ')}.`,
    )
}

/** A comma ends an entry, so values cannot hold one; further equals signs are theirs. */
function namedValues(text: string): [string, string][] {
  return text.split(',').map((entry) => {
    const equals = entry.indexOf('=')
    const name = entry.slice(0, equals).trim()
    const value = entry.slice(equals + 1).trim()
    if (equals < 1 || value === '')
      throw new InvalidArgumentError('It takes name=value,name=value and so on.')
    return [name, value]
  })
}
