/** Starts a complete server in this process, on a free port and with its own folder. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseStored } from '../src/json/parse.ts'
import type { Value } from '../src/json/value.ts'
import { defaultConfig, type Config } from '../src/settings/config.ts'
import type { Engine } from '../src/engine/contract.ts'
import { build, type Listening, type Server } from '../src/server.ts'
import type { SharedState } from '../src/shared-state.ts'
import { checked } from './engine/contract/checked.ts'
import { makeTestData, type TestData } from './test-engine.ts'

export const testToken = 'test-token'

/** An error of a reply. */
export interface WireError {
  readonly id: string
  readonly family: string
  readonly scope: string
  readonly errorCode: string
  readonly title: string
  readonly message: string
  readonly documentIds?: readonly unknown[]
}

/** A response body, parsed as JavaScript clients parse it. */
export interface Envelope {
  readonly data?: {
    readonly document?: Record<string, unknown> | null
    readonly documents?: readonly Record<string, unknown>[]
    readonly nextPageState?: string | null
  }
  readonly status?: Record<string, unknown> & { readonly warnings?: readonly WireError[] }
  readonly errors?: readonly WireError[]
}

export interface Answer extends CommandAnswer {
  readonly headers: Headers
}

/** Reply of a server, for HTTP and other transports. */
export interface CommandAnswer {
  readonly http: number
  readonly text: string
  /** The parsed body; reading it throws when it is not JSON. */
  readonly body: Envelope
  /** The body with every digit of its numbers. */
  readonly exact: Value
  /** The codes of all errors, in order. */
  readonly codes: readonly string[]
}

/** The data and the engine of a server. */
interface Ground {
  readonly dataDir: string
  /** Data outside of the folder, removed together with it. */
  readonly data: TestData | undefined
  /** An engine opened for this server, closed together with it. */
  readonly opened: Engine | undefined
}

export class TestServer {
  readonly url: string
  /** Empty when the management API is off, which is the default of tests. */
  readonly adminUrl: string
  readonly dataDir: string
  readonly #server: Server
  readonly #ground: Ground
  readonly #startAgain: () => Promise<TestServer>

  constructor(
    server: Server,
    { url, adminUrl = '' }: Listening,
    ground: Ground,
    startAgain: () => Promise<TestServer>,
  ) {
    this.#server = server
    this.url = url
    this.adminUrl = adminUrl
    this.dataDir = ground.dataDir
    this.#ground = ground
    this.#startAgain = startAgain
  }

  /** Sends a command: `command('/library/books', { find: {} })`. A string is sent unchanged. */
  command(
    path: string,
    body: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    return this.send('/v1' + path, {
      method: 'POST',
      headers: { Token: testToken, 'Content-Type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  }

  /** Sends an arbitrary request. */
  async send(path: string, request: RequestInit): Promise<Answer> {
    const response = await fetch(this.url + path, request)
    const text = await response.text()
    return {
      http: response.status,
      headers: response.headers,
      text,
      get body() {
        return JSON.parse(text) as Envelope
      },
      get exact() {
        return parseStored(text)
      },
      get codes() {
        return ((JSON.parse(text) as Envelope).errors ?? []).map((error) => error.errorCode)
      },
    }
  }

  /** Stops the server and keeps its folder, so that another server can use it. */
  async stop(): Promise<void> {
    await this.#server.close()
    await this.#ground.opened?.close()
  }

  /** Stops the server and starts another on the same data. */
  async restart(): Promise<TestServer> {
    await this.stop()
    return this.#startAgain()
  }

  /** Stops the server and removes its folder. */
  async close(): Promise<void> {
    await this.stop()
    await this.#ground.data?.remove()
    await rm(this.dataDir, { recursive: true, force: true })
  }
}

export interface TestConfig extends Partial<Config> {
  /** Whether every engine call asserts the engine's contract; true by default. */
  readonly checked?: boolean
}

/**
 * Starts a server. It uses the given engine, which the caller closes, or the engine that
 * test-engine.ts chooses, on `config.dataDir` or on a new folder. `share` creates the state that
 * the server shares with others.
 */
export async function startServer(
  { checked: isChecked = true, ...config }: TestConfig = {},
  engine?: Engine,
  share?: (config: Config) => SharedState,
): Promise<TestServer> {
  const dataDir = config.dataDir ?? (await temporaryFolder())
  const wanted: Config = {
    ...defaultConfig,
    // Nothing is synced: tests of power loss start servers as separate processes instead.
    durable: false,
    // No command times out on a busy machine. Tests of timeouts set a shorter time.
    commandTimeoutMs: 600_000,
    port: 0,
    adminPort: 'off',
    adminToken: testToken,
    logLevel: 'silent',
    // Metrics are not cached: tests read them right after a command.
    metricsCacheMs: 0,
    ...config,
    dataDir,
  }
  const data = engine === undefined ? await makeTestData() : undefined
  const start = async (): Promise<TestServer> => {
    const opened = await data?.open()
    const wrap = isChecked && opened === undefined ? checked : undefined
    const server = await build(wanted, engine ?? opened, share?.(wanted), wrap)
    return new TestServer(server, await server.listen(), { dataDir, data, opened }, start)
  }
  return start()
}

export function temporaryFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'stela-'))
}
