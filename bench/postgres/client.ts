/**
 * Client of PostgreSQL for the load generator. It does as little work per request as the client for
 * HTTP (../client.ts): requests are prepared bytes, and of a reply it checks only for errors.
 */
import { Connection } from '../connection.ts'
import { driveAll, type Drive, type Tally } from '../drive.ts'
import {
  executeMessage,
  parseMessage,
  queryMessage,
  readReply,
  rowsIn,
  startupMessage,
  type Reply,
} from './messages.ts'

/** The role and the database of the benchmark, which initdb creates. */
export const user = 'stela'
const database = 'postgres'

/** SQL texts by the names under which each connection prepares them. */
export type Statements = Readonly<Record<string, string>>

export class PostgresClient {
  readonly #connections: readonly Connection<Reply>[]

  private constructor(connections: readonly Connection<Reply>[]) {
    this.#connections = connections
  }

  /** Opens connections, and prepares the statements on each of them. */
  static async connect(
    port: number,
    connections: number,
    statements: Statements = {},
  ): Promise<PostgresClient> {
    const opened = Array.from({ length: connections }, () => open(port))
    const client = new PostgresClient(await Promise.all(opened))
    const parsing = Object.entries(statements).map((named) => parseMessage(...named))
    for (const connection of client.#connections)
      for (const message of parsing) await ask(connection, message)
    return client
  }

  /** Keeps all connections busy. Resolves after the last reply. */
  drive(drive: Drive): Promise<Tally> {
    return driveAll(this.#connections, problemOf, drive)
  }

  /** Executes a prepared statement on the first connection. */
  execute(statement: string, values: readonly string[]): Promise<Buffer> {
    return ask(this.#connections[0]!, executeMessage(statement, values))
  }

  /** Executes SQL text on the first connection, and returns the rows of its result. */
  async query(sql: string): Promise<string[][]> {
    return rowsIn(await ask(this.#connections[0]!, queryMessage(sql)))
  }

  close(): void {
    for (const connection of this.#connections) connection.close()
  }
}

function problemOf({ error }: Reply): string | undefined {
  return error
}

async function open(port: number): Promise<Connection<Reply>> {
  const connection = await Connection.open(port, readReply)
  await ask(connection, startupMessage(user, database))
  return connection
}

/** Sends one message and returns a copy of the reply. */
function ask(connection: Connection<Reply>, message: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const take = ({ bytes, error }: Reply) =>
      error === undefined ? resolve(Buffer.from(bytes)) : reject(new Error(error))
    connection.send(message, take, reject)
  })
}
