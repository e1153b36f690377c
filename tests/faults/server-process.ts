/** `stela serve` as a separate process that tests can kill. Its output is recorded. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http'
import { parseStored } from '../../src/json/parse.ts'
import type { Value } from '../../src/json/value.ts'
import type { CommandAnswer, Envelope } from '../harness.ts'
import { program, serverEnvironment } from '../server-environment.ts'

export const processToken = 'process-token'

/** A started server process, which may fail before it is ready. */
export class ServerProcess {
  readonly child: ChildProcess
  /** The exit code; null if a signal ended the process. */
  readonly exit: Promise<number | null>
  out = ''
  err = ''
  url = ''
  readonly #agent = new Agent({ keepAlive: true })

  /**
   * Starts a server. `dataDir` is undefined if the server uses a cluster. `environment` overrides
   * the common environment variables.
   */
  constructor(
    dataDir: string | undefined,
    flags: readonly string[] = [],
    environment: Readonly<Record<string, string>> = {},
  ) {
    const data = dataDir === undefined ? [] : ['--data', dataDir]
    const words = ['serve', '--port', '0', ...data, ...flags]
    this.child = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', program, ...words],
      {
        env: {
          ...serverEnvironment,
          STELA_ADMIN_TOKEN: processToken,
          // Small memtables, so that flushes and merges happen often.
          STELA_TEST_MEMTABLE: '64',
          STELA_TEST_WAITING: '1000',
          // Disables log lines about slow commands: tests inspect the log, and on a busy machine
          // any command may be slow.
          STELA_SLOW_COMMAND: '0',
          ...environment,
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    )
    this.child.stdout!.setEncoding('utf8').on('data', (text: string) => (this.out += text))
    this.child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.err += text))
    this.exit = once(this.child, 'close').then(([code]) => {
      this.#agent.destroy()
      running.delete(this)
      return code as number | null
    })
    running.add(this)
  }

  static async start(
    dataDir: string | undefined,
    ...flags: readonly string[]
  ): Promise<ServerProcess> {
    const server = new ServerProcess(dataDir, flags)
    await server.ready()
    return server
  }

  /** Resolves when the server is ready. Throws if the process ends before. */
  async ready(): Promise<void> {
    while (!this.out.includes('\n')) {
      const ended = await Promise.race([once(this.child.stdout!, 'data'), this.exit])
      if (!Array.isArray(ended)) throw new Error(`ended before it served: ${this.err}`)
    }
    this.url = /^stela ready (\S+)\n$/.exec(this.out)![1]!
  }

  /**
   * Sends a command; strings and bytes are sent as they are. Rejects if the server does not reply.
   */
  async command(
    path: string,
    body: object | string | Buffer,
    token = processToken,
  ): Promise<ProcessAnswer> {
    const bytes =
      Buffer.isBuffer(body) || typeof body === 'string' ? body : JSON.stringify(body)
    const request = httpRequest(`${this.url}/v1${path}`, {
      agent: this.#agent,
      method: 'POST',
      headers: {
        Token: token,
        'Content-Type': 'application/json',
        'Content-Length': Buffer.byteLength(bytes),
      },
    })
    request.end(bytes)
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk as Buffer)
    return new ProcessAnswer(response.statusCode!, Buffer.concat(chunks).toString())
  }

  /** Kills the process, as a crash would. */
  async kill(): Promise<void> {
    this.child.kill('SIGKILL')
    await this.exit
  }

  /** Asks the process to stop, and resolves with its exit code. */
  stop(): Promise<number | null> {
    this.child.kill('SIGTERM')
    return this.exit
  }
}

export class ProcessAnswer implements CommandAnswer {
  readonly http: number
  readonly text: string

  constructor(http: number, text: string) {
    this.http = http
    this.text = text
  }

  /** Throws when the body is not JSON. */
  get body(): Envelope {
    return JSON.parse(this.text) as Envelope
  }

  /** The parsed body, whose numbers keep all digits. */
  get exact(): Value {
    return parseStored(this.text)
  }

  /** The codes of all errors, in order. */
  get codes(): readonly string[] {
    return (this.body.errors ?? []).map((error) => error.errorCode)
  }
}

const running = new Set<ServerProcess>()

/** Kills processes that a failed test left running. */
export async function killLeftovers(): Promise<void> {
  await Promise.all([...running].map((server) => server.kill()))
}
