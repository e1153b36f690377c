/** A provider that answers requests only when a test tells it to. */
import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  defaultProviderSettings,
  type ProviderSettings,
} from '../../src/providers/provider-settings.ts'

/** A collection whose vectors the provider computes. */
export const lettersCollection = {
  name: 'letters',
  options: {
    vector: {
      dimension: 2,
      metric: 'cosine',
      service: { provider: 'openai', modelName: 'text-embedding-3-small' },
    },
  },
}

export class PatientProvider {
  readonly #server: Server
  readonly #waiting: ServerResponse[] = []
  #requests = 0
  #left = 0

  private constructor(server: Server) {
    this.#server = server
  }

  static async start(): Promise<PatientProvider> {
    const server = createServer()
    const provider = new PatientProvider(server)
    server.on('request', (request, response) => {
      request.resume()
      provider.#waiting.push(response)
      provider.#requests++
      response.once('close', () => {
        if (response.writableEnded) return
        provider.#waiting.splice(provider.#waiting.indexOf(response), 1)
        provider.#left++
        server.emit('left')
      })
      server.emit('asked')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return provider
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`
  }

  /** Settings for a server that uses the provider. */
  get settings(): ProviderSettings {
    return {
      ...defaultProviderSettings,
      embeddingUrls: new Map([['openai', this.url]]),
      embeddingKeys: new Map([['openai', 'any']]),
    }
  }

  /** Number of all requests so far, answered or not. */
  get requests(): number {
    return this.#requests
  }

  /** Resolves when `count` requests wait for an answer. */
  async asked(count: number): Promise<void> {
    while (this.#waiting.length < count) await once(this.#server, 'asked')
  }

  /** Resolves when `count` clients have disconnected since the start. */
  async left(count: number): Promise<void> {
    while (this.#left < count) await once(this.#server, 'left')
  }

  answerAll(): void {
    const reply = { data: [{ index: 0, embedding: [1, 1] }], usage: {} }
    for (const response of this.#waiting.splice(0)) {
      response.writeHead(200, { 'Content-Type': 'application/json' })
      response.end(JSON.stringify(reply))
    }
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
