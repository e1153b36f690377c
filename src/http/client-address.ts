/** Where a request comes from. */
import type { IncomingMessage } from 'node:http'
import type { Origin } from '../auth/authenticator.ts'
import { connectionOf } from './connection.ts'

export interface ProxySettings {
  /** Whether a proxy stands in front, whose word on who asks is to be taken. */
  readonly isBehindProxy: boolean
}

/** As far as it can be known: a proxy appends whom it got the request from. */
export function addressOfClient(
  request: IncomingMessage,
  { isBehindProxy }: ProxySettings,
): string {
  const forwarded = isBehindProxy ? request.headers['x-forwarded-for'] : undefined
  const last = [forwarded].flat().at(-1)?.split(',').at(-1)?.trim()
  return last === undefined || last === ''
    ? (request.socket.remoteAddress ?? '')
    : withoutPort(last)
}

/** Some proxies append the port, which is another for each connection: 1.2.3.4:5, [::1]:5. */
function withoutPort(address: string): string {
  const found = /^\[([^\]]*)\](?::\d+)?$/.exec(address) ?? /^([^:]*):\d+$/.exec(address)
  return found === null ? address : found[1]!
}

/** Worked out when it is asked for: most requests are identified by their connection. */
export class RequestOrigin implements Origin {
  readonly connection: object
  readonly #request: IncomingMessage
  readonly #settings: ProxySettings

  constructor(request: IncomingMessage, settings: ProxySettings) {
    this.connection = connectionOf(request)
    this.#request = request
    this.#settings = settings
  }

  get address(): string {
    return addressOfClient(this.#request, this.#settings)
  }
}
