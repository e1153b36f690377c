import { apiError } from '../../src/errors/api-error.ts'
import type { EmbedRequest, Models } from '../../src/providers/models.ts'

/** The words that count, one for each number of a vector. */
const vocabulary = ['red', 'green', 'blue']

/** Options for a collection whose texts these models embed. */
export const wordVectors = {
  vector: {
    dimension: vocabulary.length,
    metric: 'cosine',
    sourceModel: 'other',
    service: { provider: 'words', modelName: 'colors' },
  },
} as const

/** A model that counts words, and remembers what it was asked. */
export class WordModels implements Pick<Models, 'embed'> {
  readonly requests: EmbedRequest[] = []
  /** Whether the provider is out of order. */
  broken = false
  /** What happens while a request is under way. */
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

  /** What was asked since the last time: the purpose, then the texts of each request. */
  taken(): string[][] {
    return this.requests.splice(0).map(({ purpose, texts }) => [purpose, ...texts])
  }
}
