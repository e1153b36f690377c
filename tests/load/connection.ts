/** A persistent connection that sends commands one after the other. */
import { processToken } from '../faults/server-process.ts'
import { Wire } from '../fuzz/wire.ts'
import type { Envelope } from '../harness.ts'

export class Connection {
  readonly #wire: Wire

  private constructor(wire: Wire) {
    this.#wire = wire
  }

  /**
   * Opens a connection. One address has too few ports for all connections, so `number` selects
   * one of several client addresses.
   */
  static async open(port: number, number = 0): Promise<Connection> {
    const address = `127.0.0.${1 + Math.floor(number / 20_000)}`
    return new Connection(await Wire.open(port, address))
  }

  get isOpen(): boolean {
    return this.#wire.isOpen
  }

  /** Returns the body of the reply; rejects on a failure or a status other than 200. */
  async ask(path: string, command: object): Promise<string> {
    const body = Buffer.from(JSON.stringify(command))
    const head =
      `POST /v1${path} HTTP/1.1\r\nHost: x\r\nToken: ${processToken}\r\n` +
      `Content-Length: ${body.length}\r\n\r\n`
    const response = await this.#wire.ask(Buffer.concat([Buffer.from(head), body]))
    const text = response.body.toString()
    if (response.status !== 200) throw new Error(`status ${response.status}: ${text}`)
    return text
  }

  /** Like `ask`, but also rejects when the reply has errors. */
  async command(path: string, command: object): Promise<Envelope> {
    const text = await this.ask(path, command)
    const envelope = JSON.parse(text) as Envelope
    if (envelope.errors !== undefined)
      throw new Error(`${JSON.stringify(command).slice(0, 500)} => ${text.slice(0, 500)}`)
    return envelope
  }

  close(): void {
    this.#wire.close()
  }
}
