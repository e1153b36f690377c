/**
 * Where a provider is called.
 *
 * Collections can have a say in it: their parameters fill the places of a URL ("{region}"),
 * and for services that people run themselves they name the whole base. Nothing of that may
 * lead to another host than meant, nor into the server's own network.
 */
import { isPrivateHost } from './public-address.ts'

export interface Endpoint {
  /** "{x}" is the place of parameter x; absent: collections have to name a baseUrl. */
  readonly url?: string
  /** Whether the operator set the URL, who is trusted with it. */
  readonly isOperators: boolean
  /** Whether what collections name may lie in the server's own network. */
  readonly mayBePrivate: boolean
}

export interface ProviderAddress {
  readonly url: URL
  /** Whether a collection had a say in the host: no key of the server's goes there. */
  readonly isChosen: boolean
  /** Whether only public addresses may be connected to. */
  readonly isGuarded: boolean
}

/** The parameter by which collections name the whole base. */
export const baseUrlName = 'baseUrl'

/** Throws a UrlProblem when the parameters lead nowhere, or where they must not. */
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
    throw new UrlProblem(
      `It has no URL of its own: name one by the parameter ${baseUrlName}`,
    )
  const isChosen = !endpoint.isOperators && /^[^/]*\/\/[^/]*\{/.test(endpoint.url)
  return {
    url: new URL(fillPlaces(endpoint.url, model, parameters)),
    isChosen,
    isGuarded: isChosen && !endpoint.mayBePrivate,
  }
}

/** The same URL with more of a path, before its query. */
export function below({ url, ...address }: ProviderAddress, path: string): ProviderAddress {
  const longer = new URL(url)
  longer.pathname = `${longer.pathname.replace(/\/$/, '')}/${path}`
  return { ...address, url: longer }
}

export class UrlProblem extends Error {}

function checkBase(text: string, isGuarded: boolean): URL {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new UrlProblem(`${baseUrlName} is "${text}", which is no http or https URL`)
  if (url.username !== '' || url.password !== '')
    throw new UrlProblem(`${baseUrlName} must not hold a user or a password`)
  if (url.search !== '' || url.hash !== '')
    throw new UrlProblem(`${baseUrlName} is "${text}", but takes neither "?" nor "#"`)
  if (isGuarded && isPrivateHost(url.hostname))
    throw new UrlProblem(
      `${baseUrlName} leads to ${url.hostname}, which is no public address. ` +
        'The operator can allow that: --private-providers on',
    )
  return url
}

/** Within a host, one label; within a path, one segment that does not climb. */
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
      throw new UrlProblem(`Its URL needs the parameter ${name}`)
    const inHost = offset < pathStart
    if (!(inHost ? hostPiece : pathPiece).test(value))
      throw new UrlProblem(
        `The parameter ${name} is "${value}", but becomes part of a ` +
          (inHost
            ? 'host name: it takes letters, digits and "-"'
            : 'path: it takes letters, digits, ".", "_" and "-"'),
      )
    return value
  })
}

function checkModelPath(model: string): string {
  if (!model.split('/').every((piece) => pathPiece.test(piece)))
    throw new UrlProblem(`The model name "${model}" cannot be part of a URL`)
  return model
}
