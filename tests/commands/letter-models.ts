/**
 * Embedding and reranking services on a local port, with results that can be computed by hand. The
 * vector of a text is [number of a's + 1, number of b's + 1]. The score of a passage is the number
 * of occurrences of the query, minus one.
 */
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import {
  defaultProviderSettings,
  type ProviderSettings,
} from '../../src/providers/provider-settings.ts'

/** A request that the reranker received. */
export interface Reranking {
  readonly model: string
  readonly query: string
  readonly passages: readonly string[]
  readonly key: string | undefined
}

/** Options of a collection whose vectors these models create. */
export const lettersCollection = {
  vector: {
    dimension: 2,
    metric: 'cosine',
    service: { provider: 'openai', modelName: 'text-embedding-3-small' },
  },
} as const

export class LetterModels {
  readonly rerankings: Reranking[] = []
  readonly texts: string[] = []
  /** When set, the reranker answers with this HTTP status. */
  failure: number | undefined
  readonly #server: Server

  private constructor(server: Server) {
    this.#server = server
  }

  static async start(): Promise<LetterModels> {
    const server = createServer()
    const models = new LetterModels(server)
    server.on('request', (request, response) => {
      void models.#answer(request).then(({ status, reply }) => {
        response.writeHead(status, { 'Content-Type': 'application/json' })
        response.end(JSON.stringify(reply))
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return models
  }

  /** Provider settings of a server that uses these models. */
  get settings(): ProviderSettings {
    const { port } = this.#server.address() as AddressInfo
    const url = `http://127.0.0.1:${port}`
    return {
      ...defaultProviderSettings,
      embeddingUrls: new Map([['openai', `${url}/`]]),
      embeddingKeys: new Map([['openai', 'any']]),
      rerankingUrls: new Map([['nvidia', `${url}/ranking`]]),
    }
  }

  forget(): void {
    this.rerankings.length = 0
    this.texts.length = 0
    this.failure = undefined
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #answer(request: IncomingMessage): Promise<{ status: number; reply: unknown }> {
    const body: unknown = await json(request)
    if (request.url === '/embeddings') return { status: 200, reply: this.#embed(body) }
    assert.equal(request.url, '/ranking')
    const reply = this.#rerank(body, request.headers.authorization)
    if (this.failure === undefined) return { status: 200, reply }
    return { status: this.failure, reply: { message: 'out of order' } }
  }

  #embed(body: unknown): unknown {
    const { input } = body as { input: string[] }
    this.texts.push(...input)
    const data = input.map((text, index) => ({ index, embedding: letterVector(text) }))
    return { data, usage: { prompt_tokens: 1, total_tokens: 1 } }
  }

  #rerank(body: unknown, key: string | undefined): unknown {
    const asked = body as {
      model: string
      query: { text: string }
      passages: { text: string }[]
    }
    const query = asked.query.text
    const passages = asked.passages.map(({ text }) => text)
    this.rerankings.push({ model: asked.model, query, passages, key })
    const rankings = passages.map((passage, index) => ({
      index,
      logit: passage.split(query).length - 2,
    }))
    return { rankings: rankings.toReversed() }
  }
}

/** The vector of a text: [number of a's + 1, number of b's + 1], so that no vector is zero. */
export function letterVector(text: string): number[] {
  return ['a', 'b'].map((letter) => text.split(letter).length)
}
