/** One kept connection, and commands on it one after the other. */
import { processToken } from '../faults/server-process.ts'
import { Wire } from '../fuzz/wire.ts'
import type { Envelope } from '../harness.ts'

export class Connection {
  readonly #wire: Wire

  private constructor(wire: Wire) {
    this.#wire = wire
  }

  /** Connections of one address are bounded by its ports: `number` spreads them. */
  static async open(port: number, number = 0): Promise<Connection> {
    const address = `127.0.0.${1 + Math.floor(number / 20_000)}`
    return new Connection(await Wire.open(port, address))
  }

  get isOpen(): boolean {
    return this.#wire.isOpen
  }

  /** The text of the answer; rejects when none comes, or one that is not 200. */
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

  /** The same, for commands that have to succeed. */
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
