/** Parsers of setting values. Each throws an InvalidArgumentError for an invalid value. */
import { InvalidArgumentError } from 'commander'
import type { Account } from '../auth/tokens.ts'
import type { AllowedOrigins } from '../http/cors.ts'

export function wholeNumber(min: number, max: number) {
  return (text: string): number => {
    const number = Number(text)
    if (!/^\d+$/.test(text) || number < min || number > max)
      throw new InvalidArgumentError(
        max === Number.MAX_SAFE_INTEGER
          ? `It must be a whole number of at least ${min}.`
          : `It must be a whole number from ${min} to ${max}.`,
      )
    return number
  }
}

/** Reads a non-empty text. Trims it, because an HTTP header cannot carry spaces around a token. */
export function notEmpty(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('It cannot be empty.')
  return text.trim()
}

export function readList(text: string): readonly string[] {
  return text.split(',').map(notEmpty)
}

/** Parses a list of names with counts, such as "dc1=3,dc2=2". */
export function namedCounts(text: string): ReadonlyMap<string, number> {
  return new Map(
    namedValues(text).map(([name, count]) => [name, wholeNumber(1, 1_000)(count)]),
  )
}

export function readAdminPort(text: string): number | 'off' {
  return text === 'off' ? 'off' : wholeNumber(0, 65_535)(text)
}

/** Reads a base URL. Removes a trailing slash, so that paths can be appended. */
export function readPublicUrl(text: string): string {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol) || url.search + url.hash !== '')
    throw new InvalidArgumentError('It must be a URL such as https://data.example.com.')
  return url.href.replace(/\/+$/, '')
}

/** Reads accounts, separated by commas. A password may contain colons but no commas. */
export function readAccounts(text: string): readonly Account[] {
  return text.split(',').map((entry) => {
    const colon = entry.indexOf(':')
    const account = { name: entry.slice(0, colon), password: entry.slice(colon + 1) }
    if (colon < 1 || account.password === '')
      throw new InvalidArgumentError('It must have the form name:password,name:password.')
    return account
  })
}

/**
 * Reads "*" or a list of origins, as in the Origin header: scheme, host, and port if it is not the
 * default.
 */
export function readOrigins(text: string): AllowedOrigins {
  if (text.trim() === '*') return '*'
  return text.split(',').map((entry) => {
    const origin = entry.trim().toLowerCase()
    if (URL.parse(origin)?.origin !== origin)
      throw new InvalidArgumentError(
        `"${origin}" is not an origin. Use * or a list such as ` +
          'https://a.example,https://b.example:8443.',
      )
    return origin
  })
}

/**
 * Reads URLs by provider. A placeholder such as "{place}" is replaced by a parameter of the
 * collection later, so it is removed before validation.
 */
export function readUrls(providers: readonly string[]) {
  return (text: string): ReadonlyMap<string, string> =>
    new Map(
      namedValues(text).map(([name, value]) => {
        checkProvider(name, providers)
        const url = URL.parse(value.replace(/\{\w+\}/g, 'x'))
        if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '')
          throw new InvalidArgumentError(
            `"${value}" is not an http or https URL, or contains a user name.`,
          )
        return [name, value]
      }),
    )
}

/**
 * Reads keys by provider. "openai=key" sets the provider's default key; "openai.team=key" sets a
 * key that collections refer to by name.
 */
export function readKeys(providers: readonly string[]) {
  return (text: string): ReadonlyMap<string, string> =>
    new Map(
      namedValues(text).map(([name, key]) => {
        const provider = name.split('.', 1)[0]!
        checkProvider(provider, providers)
        if (!/^[\x21-\x7e]+$/.test(key))
          throw new InvalidArgumentError(
            `The key for ${name} contains characters that an HTTP header cannot contain.`,
          )
        if (provider === 'bedrock' && !/^[^:]+:./.test(key))
          throw new InvalidArgumentError(
            'The key for bedrock must have the form <access id>:<secret>.',
          )
        return [name, key]
      }),
    )
}

function checkProvider(name: string, known: readonly string[]): void {
  if (!known.includes(name))
    throw new InvalidArgumentError(
      `"${name}" is not a provider. Providers: ${known.toSorted().join(', ')}.`,
    )
}

/**
 * Splits "name=value" entries, separated by commas. A value may contain equals signs but no commas.
 */
function namedValues(text: string): [string, string][] {
  return text.split(',').map((entry) => {
    const equals = entry.indexOf('=')
    const name = entry.slice(0, equals).trim()
    const value = entry.slice(equals + 1).trim()
    if (equals < 1 || value === '')
      throw new InvalidArgumentError('It must have the form name=value,name=value.')
    return [name, value]
  })
}
