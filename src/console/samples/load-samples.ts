/** Loads sample data into a keyspace, with the search features that the server offers. */
import { command, CommandError } from '../api/command.ts'
import type { Address } from '../api/place.ts'
import type { Printable } from '../json/value.ts'
import { sampleDocuments, wordDimension, wordVector } from './sample-documents.ts'

export const sampleName = 'sample_places'

/**
 * Documents per request. The number is low, so that progress is visible while a model embeds the
 * documents.
 */
const batchSize = 20

interface Providers {
  readonly local?: { readonly models: readonly { readonly name: string }[] }
}

/**
 * Creates the collection if it does not exist, and inserts all documents. A repeated call inserts
 * only missing documents.
 */
export async function loadSamples(
  address: Required<Omit<Address, 'name'>>,
  onProgress: (done: number, all: number) => void,
): Promise<void> {
  const service = await localModel(address, 'findEmbeddingProviders', 'embeddingProviders')
  const reranker = await localModel(address, 'findRerankingProviders', 'rerankingProviders')
  await command(address, 'createCollection', {
    name: sampleName,
    options: {
      vector:
        service === undefined
          ? { dimension: wordDimension, metric: 'cosine' }
          : { service, metric: 'cosine' },
      ...(reranker === undefined ? {} : { rerank: { enabled: true, service: reranker } }),
    },
  })
  const hasLexical = await isLexical(address)
  const place = { ...address, name: sampleName }
  const all = sampleDocuments.length
  onProgress(0, all)
  for (let from = 0; from < all; from += batchSize) {
    const batch = sampleDocuments.slice(from, from + batchSize)
    const documents = batch.map(({ fields, text }): Printable => ({
      ...fields,
      ...searchFields(text, service !== undefined, hasLexical),
    }))
    await insert(place, documents)
    onProgress(Math.min(all, from + batchSize), all)
  }
}

function searchFields(
  text: string,
  hasService: boolean,
  hasLexical: boolean,
): Readonly<Record<string, Printable>> {
  if (hasService) return hasLexical ? { $hybrid: text } : { $vectorize: text }
  return { $vector: wordVector(text), ...(hasLexical ? { $lexical: text } : {}) }
}

/** Inserts documents. Existing documents are not changed. */
async function insert(place: Address, documents: readonly Printable[]): Promise<void> {
  try {
    await command(place, 'insertMany', { documents })
  } catch (error) {
    const isThere =
      error instanceof CommandError &&
      error.errors.every(({ errorCode }) => errorCode === 'DOCUMENT_ALREADY_EXISTS')
    if (!isThere) throw error
  }
}

/** The server's local embedding model; undefined if the server has no local model. */
async function localModel(
  { database }: Address,
  name: string,
  member: string,
): Promise<{ provider: string; modelName: string } | undefined> {
  try {
    const { status } = await command({ database }, name)
    const [model] = (status[member] as Providers | undefined)?.local?.models ?? []
    return model && { provider: 'local', modelName: model.name }
  } catch (error) {
    // The settings of the server may disable local models.
    if (error instanceof CommandError && error.httpStatus < 400) return undefined
    throw error
  }
}

async function isLexical(address: Address): Promise<boolean> {
  const { status } = await command(address, 'findCollections', {
    options: { explain: true },
  })
  const collections = status['collections'] as readonly {
    readonly name: string
    readonly options?: { readonly lexical?: { readonly enabled: boolean } }
  }[]
  const made = collections.find(({ name }) => name === sampleName)
  return made?.options?.lexical?.enabled === true
}
