/** Servers on several engines that get the same writes and the same reads. */
import assert from 'node:assert/strict'
import type { CommandAnswer, TestServer } from '../harness.ts'
import type { Service } from './tables-session.ts'

/** Servers by the name of their engine. */
export type Servers = ReadonlyMap<string, TestServer>

/** Sends each write to all servers. Their answers must be equal. */
export class EnginesInStep implements Service {
  readonly servers: Servers

  constructor(servers: Servers) {
    this.servers = servers
  }

  async send(path: string, body: string): Promise<CommandAnswer> {
    const answers = await Promise.all(
      [...this.servers].map(async ([name, server]) => ({
        name,
        answer: await server.command(path, body),
      })),
    )
    const [first, ...others] = answers
    for (const { name, answer } of others) {
      const message = `${first!.name} and ${name}: ${body}`
      assert.deepEqual(answer.codes, first!.answer.codes, message)
      assert.deepEqual(statusOf(answer), statusOf(first!.answer), message)
    }
    return first!.answer
  }

  restart(): Promise<void> {
    return Promise.resolve()
  }

  /** One service for each server, by the name of its engine. */
  get each(): ReadonlyMap<string, Service> {
    return new Map(
      [...this.servers].map(([name, server]) => [
        name,
        {
          send: (path: string, body: string) => server.command(path, body),
          restart: () => Promise.resolve(),
        },
      ]),
    )
  }
}

/**
 * The status of an answer without warnings: they differ between engines, because different reads
 * are slow.
 */
function statusOf({ body }: CommandAnswer): unknown {
  const { warnings, ...status } = body.status ?? {}
  void warnings
  return status
}
