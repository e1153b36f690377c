/** Servers on several engines that get the same writes, and that are asked the same. */
import assert from 'node:assert/strict'
import type { CommandAnswer, TestServer } from '../harness.ts'
import type { Service } from './tables-session.ts'

/** Servers by the names of their engines. */
export type Servers = ReadonlyMap<string, TestServer>

/** Sends every write to all servers, which must answer alike. */
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

  /** Services that ask one server each. */
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

/** Without warnings: what is slow on one engine need not be on another. */
function statusOf({ body }: CommandAnswer): unknown {
  const { warnings, ...status } = body.status ?? {}
  void warnings
  return status
}
