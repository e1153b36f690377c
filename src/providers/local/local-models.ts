/**
 * Models that run in the server: one for embedding and one for reranking. Both built-in models use
 * all-MiniLM-L6-v2. Operators can configure folders with other models. Models run in a separate
 * thread, which starts with the first request. docs/internals/local-models.md describes the limits.
 */
import { apiError } from '../../errors/api-error.ts'
import type { Entrant } from '../../caller/fair-queue.ts'
import type { LocalModels } from './local-model-types.ts'
import { folderModelDimension, folderModelName } from './model-folder.ts'
import type { Answers, Question } from './model-thread.ts'
import { packagesAreInstalled } from './packages.ts'
import { LruCache } from './lru-cache.ts'
import { ModelThread } from './thread.ts'

export interface LocalModelSettings {
  /** Threads per run of a model. */
  readonly threads: number
  readonly log: (level: 'info' | 'warn' | 'error', message: string) => void
  /** Folder of a model that replaces the built-in one for embedding. */
  readonly embeddingFolder?: string | undefined
  /** Folder of a cross-encoder that replaces the built-in reranker. */
  readonly rerankerFolder?: string | undefined
}

export const localEmbedding = { model: 'all-MiniLM-L6-v2', dimension: 384 } as const

export const localReranker = { model: 'all-MiniLM-L6-v2-late-interaction' } as const

/**
 * The local models; undefined if the optional packages are missing, or do not support this
 * platform.
 */
export function findLocalModels(settings: LocalModelSettings): LocalModels | undefined {
  return packagesAreInstalled() ? new ThreadedModels(settings) : undefined
}

export interface LocalModelNames {
  readonly embedding: { readonly model: string; readonly dimension: number }
  readonly reranker: { readonly model: string }
}

/** Names of the models. Throws if a folder contains no model. */
export function nameLocalModels({
  embeddingFolder,
  rerankerFolder,
}: Pick<LocalModelSettings, 'embeddingFolder' | 'rerankerFolder'>): LocalModelNames {
  return {
    embedding:
      embeddingFolder === undefined
        ? localEmbedding
        : {
            model: folderModelName(embeddingFolder),
            dimension: folderModelDimension(embeddingFolder),
          },
    reranker:
      rerankerFolder === undefined
        ? localReranker
        : { model: folderModelName(rerankerFolder) },
  }
}

/**
 * Maximum texts whose vectors are cached. Queries are often repeated; texts of documents are not.
 */
const rememberedMax = 1_000

/**
 * Maximum characters of a cached text. Longer texts are probably texts of documents, not queries.
 */
const rememberedLengthMax = 1_000

class ThreadedModels implements LocalModels {
  readonly #settings: LocalModelSettings
  readonly #remembered = new LruCache<Float32Array>(rememberedMax)
  #thread: ModelThread | undefined
  #closed = false

  constructor(settings: LocalModelSettings) {
    this.#settings = settings
  }

  async embed(texts: readonly string[], asker: Entrant): Promise<readonly Float32Array[]> {
    const [text] = texts
    if (text === undefined) return []
    if (texts.length > 1 || text.length > rememberedLengthMax)
      return this.#ask({ kind: 'embed', texts }, asker)
    const known = this.#remembered.get(text)
    if (known !== undefined) return [known.slice()]
    const vectors = await this.#ask({ kind: 'embed', texts }, asker)
    this.#remembered.set(text, vectors[0]!.slice())
    return vectors
  }

  async rerank(
    query: string,
    passages: readonly string[],
    asker: Entrant,
  ): Promise<readonly number[]> {
    if (passages.length === 0) return []
    return this.#ask({ kind: 'rerank', query, passages }, asker)
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#thread?.close()
  }

  async #ask<Asked extends Question>(
    question: Asked,
    asker: Entrant,
  ): Promise<Answers[Asked['kind']]> {
    try {
      return await this.#running().ask(question, asker)
    } catch (error) {
      asker.signal.throwIfAborted()
      throw apiError(failures[question.kind], {
        provider: 'local',
        status: 'none',
        text: (error as Error).message,
      })
    }
  }

  #running(): ModelThread {
    if (this.#closed) throw new Error('the server is shutting down')
    const { threads, log, embeddingFolder, rerankerFolder } = this.#settings
    this.#thread ??= new ModelThread(
      { threads, embeddingFolder, rerankerFolder },
      {
        loaded: (model, durationMs) =>
          log('info', `Loaded the local model in ${durationMs} ms: ${model}`),
        ended: (reason) => {
          this.#thread = undefined
          if (reason !== undefined) log('error', `The local model failed: ${reason}`)
        },
      },
    )
    return this.#thread
  }
}

const failures = {
  embed: 'EMBEDDING_PROVIDER_SERVER_ERROR',
  rerank: 'RERANKING_PROVIDER_SERVER_ERROR',
} as const
