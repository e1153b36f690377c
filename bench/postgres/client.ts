/**
 * Client of PostgreSQL for the load generator. It does as little work per request as the client for
 * HTTP (../client.ts): requests are prepared bytes, and of a reply it checks only for errors.
 */
import { connect, type Socket } from 'node:net'
import { driveAll, type Drive, type Line, type Tally } from '../drive.ts'
import {
  executeMessage,
  parseMessage,
  queryMessage,
  readReply,
  rowsIn,
  startupMessage,
  terminateMessage,
  type Reply,
} from './messages.ts'

/** The role and the database of the benchmark, which initdb creates. */
export const user = 'stela'
const database = 'postgres'

/** SQL texts by the names under which each connection prepares them. */
export type Statements = Readonly<Record<string, string>>

export class PostgresClient {
  readonly #connections: readonly Connection[]

  private constructor(connections: readonly Connection[]) {
    this.#connections = connections
  }

  /** Opens connections, and prepares the statements on each of them. */
  static async connect(
    port: number,
    connections: number,
    statements: Statements = {},
  ): Promise<PostgresClient> {
    const opened = Array.from({ length: connections }, () => Connection.open(port))
    const client = new PostgresClient(await Promise.all(opened))
    const parsing = Object.entries(statements).map((named) => parseMessage(...named))
    for (const connection of client.#connections)
      for (const message of parsing) await connection.ask(message)
    return client
  }

  /** Keeps all connections busy. Resolves after the last reply. */
  drive(drive: Drive): Promise<Tally> {
    return driveAll(this.#connections, problemOf, drive)
  }

  /** Executes a prepared statement on the first connection. */
  execute(statement: string, values: readonly string[]): Promise<Buffer> {
    return this.#connections[0]!.ask(executeMessage(statement, values))
  }

  /** Executes SQL text on the first connection, and returns the rows of its result. */
  async query(sql: string): Promise<string[][]> {
    return rowsIn(await this.#connections[0]!.ask(queryMessage(sql)))
  }

  close(): void {
    for (const connection of this.#connections) connection.close()
  }
}

function problemOf({ error }: Reply): string | undefined {
  return error
}

class Connection implements Line<Reply> {
  readonly #socket: Socket
  #arrived: Buffer | undefined
  #take: (reply: Reply) => void = () => undefined
  #fail: (reason: Error) => void = () => undefined

  private constructor(port: number) {
    const buffer = Buffer.allocUnsafeSlow(readSize)
    this.#socket = connect({
      port,
      host: '127.0.0.1',
      noDelay: true,
      // Reading into one buffer avoids the allocations and events of a stream.
      onread: {
        buffer,
        callback: (size) => {
          this.#receive(buffer.subarray(0, size))
          return true
        },
      },
    })
    this.#socket.on('error', (reason) => this.#fail(reason))
    this.#socket.on('close', () => this.#fail(new Error('the connection was closed')))
  }

  static async open(port: number): Promise<Connection> {
    const connection = new Connection(port)
    // The socket sends the message when it is connected.
    await connection.ask(startupMessage(user, database))
    return connection
  }

  send(request: Buffer, take: (reply: Reply) => void, fail: (reason: Error) => void): void {
    this.#take = take
    this.#fail = fail
    this.#socket.write(request)
  }

  /** Sends one message and returns a copy of the reply. */
  ask(message: Buffer): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const take = ({ bytes, error }: Reply) =>
        error === undefined ? resolve(Buffer.from(bytes)) : reject(new Error(error))
      this.send(message, take, reject)
    })
  }

  close(): void {
    this.#fail = () => undefined
    this.#socket.end(terminateMessage)
  }

  #receive(chunk: Buffer): void {
    const bytes =
      this.#arrived === undefined ? chunk : Buffer.concat([this.#arrived, chunk])
    const reply = readReply(bytes)
    if (reply === undefined) {
      this.#arrived = this.#arrived === undefined ? Buffer.from(chunk) : bytes
      return
    }
    this.#arrived = undefined
    this.#take(reply)
  }
}

const readSize = 256 * 1024
