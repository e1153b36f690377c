/** Proxied connections to a node, which tests can delay, cut and encrypt. */
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, type TlsOptions } from 'node:tls'

export class Line {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  /** Sockets that are connected to the node and receive its answers. */
  readonly #answers = new Set<Socket>()

  private constructor(host: string, port: number, tls: TlsOptions | undefined) {
    const carry = (socket: Socket) => {
      const there = connect(port, host)
      this.#answers.add(there)
      for (const [one, other] of [
        [socket, there],
        [there, socket],
      ] as const) {
        this.#sockets.add(one)
        one.on('error', () => other.destroy())
        one.pipe(other)
      }
    }
    this.#server = tls === undefined ? createServer(carry) : createTlsServer(tls, carry)
  }

  /** Opens a proxy. With `tls`, its clients must use TLS. */
  static async to(host: string, port: number, tls?: TlsOptions): Promise<Line> {
    const line = new Line(host, port, tls)
    await new Promise<void>((resolve) => line.#server.listen(0, '127.0.0.1', resolve))
    return line
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** Stops forwarding answers. */
  hold(): void {
    for (const socket of this.#answers) socket.pause()
  }

  resume(): void {
    for (const socket of this.#answers) socket.resume()
  }

  cut(): void {
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
  }
}
