/** Connections to a node that can be held up, and cut. */
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

export class Line {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  /** Those on which the node answers. */
  readonly #answers = new Set<Socket>()

  private constructor(host: string, port: number) {
    this.#server = createServer((socket) => {
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
    })
  }

  static async to(host: string, port: number): Promise<Line> {
    const line = new Line(host, port)
    await new Promise<void>((resolve) => line.#server.listen(0, '127.0.0.1', resolve))
    return line
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** No answer comes through any more. */
  hold(): void {
    for (const socket of this.#answers) socket.pause()
  }

  letGo(): void {
    for (const socket of this.#answers) socket.resume()
  }

  cut(): void {
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
  }
}
