/** The server on which episodes run, its data, and the connections of hostile clients. */
import { connect as connectHttp2, type ClientHttp2Session } from 'node:http2'
import type { Socket } from 'node:net'
import { HostileServer, unknownToken, type ServerOptions } from '../hostile-server.ts'
import type { Sender } from './load.ts'
import { makeTargets } from './targets.ts'

export class Arena {
  readonly server: HostileServer
  readonly tokens: Readonly<Record<Sender, string>>
  #connections = 0

  private constructor(server: HostileServer, tokens: Arena['tokens']) {
    this.server = server
    this.tokens = tokens
  }

  static async open(options: ServerOptions, scale: number): Promise<Arena> {
    const server = await HostileServer.start(options)
    try {
      await makeTargets(server, scale)
      return new Arena(server, {
        writer: await server.createToken('Database Administrator'),
        reader: await server.createToken('RO User'),
        nobody: unknownToken,
      })
    } catch (error) {
      await server.stop()
      throw error
    }
  }

  get isTls(): boolean {
    return this.server.ca !== undefined
  }

  /**
   * The address for the next connection. Hostile clients share a few addresses. Bystanders use
   * none of them.
   */
  nextAddress(): string {
    return `127.0.1.${1 + (this.#connections++ % addresses)}`
  }

  connect(): Promise<Socket> {
    return this.server.connect(this.nextAddress())
  }

  connectHttp2(): ClientHttp2Session {
    const { url, ca } = this.server
    const options = { ...(ca !== undefined && { ca }), localAddress: this.nextAddress() }
    const session = connectHttp2(url, options)
    session.on('error', () => undefined)
    return session
  }
}

const addresses = 4
