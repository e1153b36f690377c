/**
 * Determines the URL of a provider.
 *
 * Collections can influence the URL: their parameters replace placeholders such as "{region}", and
 * for self-hosted services they contain the whole base URL. Neither may lead to another host than
 * intended, or into the server's own network.
 */
import { isPrivateHost } from './public-address.ts'

export interface Endpoint {
  /** "{x}" is replaced by parameter x; absent: collections must set baseUrl. */
  readonly url?: string
  /** Whether the operator configured the URL, which makes it trusted. */
  readonly isOperators: boolean
  /** Whether URLs from collections may lead into the server's own network. */
  readonly mayBePrivate: boolean
}

export interface ProviderAddress {
  readonly url: URL
  /** Whether a collection influenced the host; the server's keys are not sent there. */
  readonly isChosen: boolean
  /** Whether connections are permitted to public addresses only. */
  readonly isGuarded: boolean
}

/** The parameter with which collections name the base URL. */
export const baseUrlName = 'baseUrl'

/**
 * The address of a model; throws a UrlProblem if the parameters result in an invalid or forbidden
 * URL.
 */
export function addressOf(
  endpoint: Endpoint,
  model: string,
  parameters: Readonly<Record<string, unknown>>,
): ProviderAddress {
  const base = parameters[baseUrlName]
  if (typeof base === 'string') {
    const isGuarded = !endpoint.mayBePrivate
    return { url: checkBase(base, isGuarded), isChosen: true, isGuarded }
  }
  if (endpoint.url === undefined)
    throw new UrlProblem(`It has no default URL. Set the parameter ${baseUrlName}`)
  const isChosen = !endpoint.isOperators && /^[^/]*\/\/[^/]*\{/.test(endpoint.url)
  return {
    url: new URL(fillPlaces(endpoint.url, model, parameters)),
    isChosen,
    isGuarded: isChosen && !endpoint.mayBePrivate,
  }
}

/** Appends `path` to the path of the URL, before the query. */
export function below({ url, ...address }: ProviderAddress, path: string): ProviderAddress {
  const longer = new URL(url)
  longer.pathname = `${longer.pathname.replace(/\/$/, '')}/${path}`
  return { ...address, url: longer }
}

export class UrlProblem extends Error {}

function checkBase(text: string, isGuarded: boolean): URL {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new UrlProblem(`${baseUrlName} is "${text}", which is not an http or https URL`)
  if (url.username !== '' || url.password !== '')
    throw new UrlProblem(`${baseUrlName} must not contain a user or a password`)
  if (url.search !== '' || url.hash !== '')
    throw new UrlProblem(`${baseUrlName} is "${text}", but must not contain "?" or "#"`)
  if (isGuarded && isPrivateHost(url.hostname))
    throw new UrlProblem(
      `${baseUrlName} leads to ${url.hostname}, which is not a public address. To ` +
        'allow private addresses, start the server with --private-providers on',
    )
  return url
}

/**
 * Texts that may replace a placeholder. In a host, the text is one label. In a path, it is one
 * segment other than "." and "..".
 */
const hostPiece = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/
const pathPiece = /^(?!\.+$)[A-Za-z0-9._-]{1,128}$/

function fillPlaces(
  template: string,
  model: string,
  parameters: Readonly<Record<string, unknown>>,
): string {
  const pathStart = /^[^/]*\/\/[^/]*/.exec(template)![0].length
  return template.replace(/\{(\w+)\}/g, (_, name: string, offset: number) => {
    if (name === 'modelId') return checkModelPath(model)
    const value = Object.hasOwn(parameters, name) ? parameters[name] : undefined
    if (typeof value !== 'string')
      throw new UrlProblem(`Its URL requires the parameter ${name}`)
    const inHost = offset < pathStart
    if (!(inHost ? hostPiece : pathPiece).test(value))
      throw new UrlProblem(
        `The parameter ${name} is "${value}", but becomes part of a ` +
          (inHost
            ? 'host name: use letters, digits and "-"'
            : 'path: use letters, digits, ".", "_" and "-"'),
      )
    return value
  })
}

function checkModelPath(model: string): string {
  if (!model.split('/').every((piece) => pathPiece.test(piece)))
    throw new UrlProblem(`The model name "${model}" cannot be part of a URL`)
  return model
}
