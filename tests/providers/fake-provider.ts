/** A local provider that records its requests and returns configured answers. */
import { ownCaller } from '../../src/caller/caller.ts'
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'
import type {
  ProviderCredentials,
  EmbedRequest,
  Models,
  RerankRequest,
} from '../../src/providers/models.ts'
import { openModels, type ModelSettings } from '../../src/providers/open-models.ts'
import {
  defaultProviderSettings,
  type ProviderSettings,
} from '../../src/providers/provider-settings.ts'

export interface Asked {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: unknown
}

export type Answer =
  | {
      readonly status?: number
      readonly contentType?: string
      /** Sent as JSON, or unchanged if it is a string. */
      readonly body: unknown
      readonly afterMs?: number
      readonly headers?: Readonly<Record<string, string>>
    }
  /** Never answers. */
  | 'silence'
  /** Closes the connection before the answer. */
  | 'hang up'
  /** Closes the connection within the answer. */
  | 'half an answer'

export class FakeProvider {
  readonly asked: Asked[] = []
  /** The number of concurrent requests now, and the maximum so far. */
  running = 0
  runningMost = 0
  answer: (asked: Asked) => Answer = () => ({ body: {} })
  readonly #server: Server

  private constructor() {
    this.#server = createServer((request, response) => {
      void this.#respond(request, response)
    })
  }

  /**
   * Starts a provider, which runs until all tests of the file, or of the enclosing `describe`, have
   * ended.
   */
  static async start(): Promise<FakeProvider> {
    const provider = new FakeProvider()
    await new Promise<void>((resolve) => {
      provider.#server.listen(0, '127.0.0.1', resolve)
    })
    after(() => provider.stop())
    return provider
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Clears the recorded requests and sets the next answers. */
  answers(answer: Answer | ((asked: Asked) => Answer)): void {
    this.asked.length = 0
    this.runningMost = 0
    this.answer = typeof answer === 'function' ? answer : () => answer
  }

  /** Closes idle connections. */
  dropIdleConnections(): void {
    this.#server.closeIdleConnections()
  }

  stop(): Promise<void> {
    this.#server.closeAllConnections()
    return new Promise((resolve) => {
      this.#server.close(() => resolve())
    })
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.running++
    this.runningMost = Math.max(this.runningMost, this.running)
    response.on('close', () => this.running--)
    let text = ''
    for await (const chunk of request) text += String(chunk)
    const asked = {
      path: request.url!,
      headers: request.headers,
      body: JSON.parse(text) as unknown,
    }
    this.asked.push(asked)
    const answer = this.answer(asked)
    if (answer === 'silence') return
    if (answer === 'hang up') {
      request.socket.destroy()
      return
    }
    if (answer === 'half an answer') {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 99 })
      response.write('{"data":', () => request.socket.destroy())
      return
    }
    const {
      status = 200,
      contentType = 'application/json',
      body,
      afterMs,
      headers,
    } = answer
    if (afterMs !== undefined) await new Promise((resolve) => setTimeout(resolve, afterMs))
    response.writeHead(status, { 'content-type': contentType, ...headers })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }
}

/** A vector of two dimensions for each text: its length and its first code point. */
export function vectorOf(text: string): number[] {
  return [text.length, text.codePointAt(0) ?? 0]
}

/** Models for one test, which are closed when the test ends. */
export function modelsWith(
  providers: Partial<ProviderSettings> = {},
  more: Partial<ModelSettings> = {},
): Models {
  const models = openModels({
    log: () => undefined,
    providers: { ...defaultProviderSettings, ...providers },
    ...more,
  })
  after(() => models.close())
  return models
}

export function embedRequest(
  service: EmbedRequest['service'],
  more: Partial<EmbedRequest> = {},
): EmbedRequest {
  return {
    service,
    dimension: 2,
    texts: ['one'],
    purpose: 'index',
    credentials: { embeddingKey: 'the-key' } satisfies ProviderCredentials,
    caller: ownCaller(),
    ...more,
  }
}

export function rerankRequest(
  service: RerankRequest['service'],
  more: Partial<RerankRequest> = {},
): RerankRequest {
  return {
    service,
    query: 'question',
    passages: ['one', 'three'],
    credentials: { rerankingKey: 'the-key' },
    caller: ownCaller(),
    ...more,
  }
}
