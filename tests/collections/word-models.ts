import { apiError } from '../../src/errors/api-error.ts'
import type { EmbedRequest, Models } from '../../src/providers/models.ts'

/** The counted words, one for each dimension of a vector. */
const vocabulary = ['red', 'green', 'blue']

/** Options of a collection whose texts these models embed. */
export const wordVectors = {
  vector: {
    dimension: vocabulary.length,
    metric: 'cosine',
    sourceModel: 'other',
    service: { provider: 'words', modelName: 'colors' },
  },
} as const

/** A model that counts words and records its requests. */
export class WordModels implements Pick<Models, 'embed'> {
  readonly requests: EmbedRequest[] = []
  /** When true, requests to the provider fail. */
  broken = false
  /** Runs during each request, to simulate changes by other requests. */
  meanwhile: () => Promise<void> = () => Promise.resolve()

  async embed(request: EmbedRequest): Promise<readonly Float32Array[]> {
    this.requests.push(request)
    await this.meanwhile()
    if (this.broken)
      throw apiError('INVALID_DATABASE_QUERY', {
        target: 'words',
        problem: 'no words left',
      })
    return request.texts.map((text) => {
      const words = text.split(' ')
      return Float32Array.from(
        vocabulary,
        (color) => words.filter((word) => word === color).length,
      )
    })
  }

  /** Removes the recorded requests, and returns the purpose and the texts of each. */
  taken(): string[][] {
    return this.requests.splice(0).map(({ purpose, texts }) => [purpose, ...texts])
  }
}
