/** Starts a complete server in this process, on a free port and with its own data folder. */
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

/** A response body as JavaScript clients parse it, so numbers may lose digits. */
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
  /** The parsed body. Reading it throws if the body is not JSON. */
  readonly body: Envelope
  /** The parsed body, in which numbers keep every digit. */
  readonly exact: Value
  /** The codes of all errors, in order. */
  readonly codes: readonly string[]
}

/** The data and the engine that a server uses. */
interface Ground {
  readonly dataDir: string
  /** Data outside the data folder. It is removed together with the folder. */
  readonly data: TestData | undefined
  /** An engine that was opened for this server. It is closed together with the server. */
  readonly opened: Engine | undefined
}

export class TestServer {
  readonly url: string
  /** Empty if the management API is off, which is the default in tests. */
  readonly adminUrl: string
  readonly createSignInLink: Listening['createSignInLink']
  readonly dataDir: string
  readonly #server: Server
  readonly #ground: Ground
  readonly #startAgain: () => Promise<TestServer>

  constructor(
    server: Server,
    { url, adminUrl = '', createSignInLink }: Listening,
    ground: Ground,
    startAgain: () => Promise<TestServer>,
  ) {
    this.#server = server
    this.url = url
    this.adminUrl = adminUrl
    this.createSignInLink = createSignInLink
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

  /** Sends any HTTP request. */
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

  /** Stops the server, but keeps its data folder, so that another server can use the folder. */
  async stop(): Promise<void> {
    await this.#server.close()
    await this.#ground.opened?.close()
  }

  /** Stops the server, and starts another one on the same data. */
  async restart(): Promise<TestServer> {
    await this.stop()
    return this.#startAgain()
  }

  /** Stops the server, and removes its data folder. */
  async close(): Promise<void> {
    await this.stop()
    await this.#ground.data?.remove()
    await rm(this.dataDir, { recursive: true, force: true })
  }
}

export interface TestConfig extends Partial<Config> {
  /** Whether every engine call asserts the contract of engines; true by default. */
  readonly checked?: boolean
}

/**
 * Starts a server. It uses the given engine, which the caller closes, or opens the engine that
 * test-engine.ts chooses. Its data is in `config.dataDir` or in a new folder. `share` creates the
 * state that the server shares with other servers.
 */
export async function startServer(
  { checked: isChecked = true, ...config }: TestConfig = {},
  engine?: Engine,
  share?: (config: Config) => SharedState,
): Promise<TestServer> {
  const dataDir = config.dataDir ?? (await temporaryFolder())
  const wanted: Config = {
    ...defaultConfig,
    // Writes are not synced. Tests of power loss run servers as separate processes instead.
    durable: false,
    // So long that no command times out on a busy machine. Tests of timeouts set a shorter time.
    commandTimeoutMs: 600_000,
    port: 0,
    adminPort: 'off',
    adminToken: testToken,
    logLevel: 'silent',
    // Metrics are not cached, because tests read them right after a command.
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
