/** The client address of a request. */
import type { IncomingMessage } from 'node:http'
import type { Origin } from '../auth/authenticator.ts'
import { connectionOf } from './connection.ts'

export interface ProxySettings {
  /** Whether a trusted proxy is in front of the server and sets the client address. */
  readonly isBehindProxy: boolean
}

/** The last address of the forwarding header. The nearest proxy has appended it. */
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

/**
 * Removes the port that some proxies append to an address, as in 1.2.3.4:5 or [::1]:5. The port
 * differs per connection.
 */
function withoutPort(address: string): string {
  const found = /^\[([^\]]*)\](?::\d+)?$/.exec(address) ?? /^([^:]*):\d+$/.exec(address)
  return found === null ? address : found[1]!
}

/**
 * The origin of an HTTP request. It computes the address lazily: most requests are identified by
 * their connection.
 */
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
