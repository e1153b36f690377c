/** Holds many connections open. Each of them sends a command from time to time. */
import { setTimeout as pause } from 'node:timers/promises'
import { Random } from '../faults/random.ts'
import { Connection } from './connection.ts'
import type { LoadedServer, Usage } from './loaded-server.ts'

export interface Held {
  /** Number of connections that stayed open, and number of all connections. */
  readonly stayed: number
  readonly connections: number
  readonly answered: number
  /** Number of wrong replies, and descriptions of the first few. */
  readonly wrong: number
  readonly problems: readonly string[]
  readonly before: Usage
  readonly during: Usage
  readonly after: Usage
}

const path = '/default_keyspace/held'
const documents = 1_000

/**
 * Number of connections that are opened concurrently. It equals the length of the queue of a
 * listening socket.
 */
const openedAtATime = 100
const askedAtATime = 32

export async function holdConnections(
  server: LoadedServer,
  count: number,
  seconds: number,
): Promise<Held> {
  await prepare(server)
  const before = await server.usage()
  const connections: Connection[] = []
  const asking = new Asking(connections)
  while (connections.length < count) {
    const from = connections.length
    const opened = Array.from({ length: Math.min(openedAtATime, count - from) }, (_, n) =>
      Connection.open(server.port, from + n),
    )
    connections.push(...(await Promise.all(opened)))
    // The first command is sent at once, because the server soon closes connections without a
    // request.
    await asking.round(0, Infinity, from)
  }
  const during = await server.usage()
  const endsAt = performance.now() + seconds * 1_000
  while (performance.now() < endsAt) await asking.round(restMs, endsAt)
  const stayed = connections.filter(({ isOpen }) => isOpen).length
  for (const connection of connections) connection.close()
  const after = await usageWhenClosed(server)
  const { answered, wrong, problems } = asking
  return { stayed, connections: count, answered, wrong, problems, before, during, after }
}

/**
 * Milliseconds between two commands of a connection. The pause is long, so that most connections
 * are idle.
 */
const restMs = 20_000

class Asking {
  answered = 0
  wrong = 0
  readonly problems: string[] = []
  readonly #connections: readonly Connection[]
  readonly #random = new Random(1)

  constructor(connections: readonly Connection[]) {
    this.#connections = connections
  }

  /** Sends one command on each connection, spread over `spreadMs`; stops at `endsAt`. */
  async round(spreadMs: number, endsAt = Infinity, from = 0): Promise<void> {
    const startedAt = performance.now()
    const count = this.#connections.length
    const ask = async (worker: number) => {
      for (let n = from + worker; n < count; n += askedAtATime) {
        const waitMs = startedAt + (spreadMs * n) / count - performance.now()
        if (performance.now() >= endsAt) return
        if (waitMs > 1) await pause(Math.min(waitMs, endsAt - performance.now()))
        await this.#ask(this.#connections[n]!)
      }
    }
    await Promise.all(Array.from({ length: askedAtATime }, (_, worker) => ask(worker)))
  }

  async #ask(connection: Connection): Promise<void> {
    const n = this.#random.below(documents)
    try {
      const answer = await connection.ask(path, { findOne: { filter: { _id: n } } })
      if (answer === `{"data":{"document":{"_id":${n},"half":${n / 2}}}}`) this.answered++
      else this.#note(answer)
    } catch (error) {
      this.#note(String(error))
    }
  }

  #note(problem: string): void {
    this.wrong++
    if (this.problems.length < 10) this.problems.push(problem)
  }
}

async function prepare(server: LoadedServer): Promise<void> {
  const connection = await Connection.open(server.port)
  await connection.command('/default_keyspace', { createCollection: { name: 'held' } })
  for (let from = 0; from < documents; from += 100)
    await connection.command(path, {
      insertMany: {
        documents: Array.from({ length: 100 }, (_, n) => ({
          _id: from + n,
          half: (from + n) / 2,
        })),
      },
    })
  connection.close()
}

/** Resource usage after the server has noticed that the connections were closed. */
async function usageWhenClosed(server: LoadedServer): Promise<Usage> {
  for (let tries = 100; ; tries--) {
    const usage = await server.usage()
    if (usage.connections < 10 || tries === 0) return usage
    await pause(100)
  }
}
