/**
 * Executes requests to the models, one batch of texts at a time. Principals take turns, and the
 * requests of a principal alternate.
 */
import { setImmediate } from 'node:timers/promises'
import { FairQueue, type Entrant } from '../../caller/fair-queue.ts'
import { fixedLimits } from '../../limits.ts'
import { builtInModel } from './built-in-model.ts'
import type { ExitGuard } from './exit-guard.ts'
import { score, toCompare, type ComparedText } from './late-interaction.ts'
import { batchesOf } from './length-batches.ts'
import { folderModel } from './model-folder.ts'
import { LruCache } from './lru-cache.ts'
import { TokenModel, type EncodedText, type Tokens } from './token-model.ts'
import { wholeVector } from './whole-vector.ts'

export interface WorkSettings {
  /** Threads per run of a model. */
  readonly threads: number
  /** Folders of models that replace the built-in one. */
  readonly embeddingFolder: string | undefined
  readonly rerankerFolder: string | undefined
}

export interface WorkEvents {
  loaded(model: string, durationMs: number): void
}

/** Maximum floats in cached token vectors for reranking: 16 Mi floats, which take 64 MiB. */
const keptNumbersMax = 16 * 2 ** 20

export class ModelWork {
  readonly #settings: WorkSettings
  readonly #guard: ExitGuard
  readonly #events: WorkEvents
  readonly #turns = new FairQueue({
    capacity: 1,
    waitingMax: fixedLimits.waitingWorkMax,
    refuse: (waitingMax) =>
      new Error(`${waitingMax} requests of this token already wait for the model`),
  })
  readonly #models = new Map<Role, Promise<TokenModel>>()
  readonly #compared = new LruCache<ComparedText>(
    keptNumbersMax,
    ({ tokens }) => tokens.length,
  )

  constructor(settings: WorkSettings, guard: ExitGuard, events: WorkEvents) {
    this.#settings = settings
    this.#guard = guard
    this.#events = events
  }

  async embed(texts: readonly string[], asker: Entrant): Promise<readonly Float32Array[]> {
    const model = await this.#load('embedding')
    const read = (text: EncodedText): Float32Array => wholeVector(text, model.pooling)
    return this.#runAll(model, { texts, read, asker })
  }

  async rerank(
    query: string,
    passages: readonly string[],
    asker: Entrant,
  ): Promise<readonly number[]> {
    const { rerankerFolder } = this.#settings
    if (rerankerFolder === undefined) return this.#compareAll(query, passages, asker)
    const model = await this.#load('reranking')
    return this.#runAll(model, { texts: passages, query, read: likelihood, asker })
  }

  async close(): Promise<void> {
    const models = await Promise.allSettled(this.#models.values())
    for (const model of models)
      if (model.status === 'fulfilled') await this.#take(() => model.value.close(), itself)
  }

  async #compareAll(
    query: string,
    passages: readonly string[],
    asker: Entrant,
  ): Promise<readonly number[]> {
    const model = await this.#load('reranking')
    const texts = [query, ...passages]
    // Encoded passages are cached, because many queries may find the same passage.
    const known = texts.map((text) => this.#compared.get(text))
    const missing = [...new Set(texts.filter((_, i) => known[i] === undefined))]
    const made = await this.#runAll(model, { texts: missing, read: toCompare, asker })
    const found = new Map(missing.map((text, i) => [text, made[i]!]))
    for (const [text, compared] of found) this.#compared.set(text, compared)
    const [first, ...others] = texts.map((text, i) => known[i] ?? found.get(text)!)
    return this.#take(() => others.map((other) => score(first!, other)), asker)
  }

  /** Applies `read` to each encoded text; results are in the order of the texts. */
  async #runAll<T>(
    model: TokenModel,
    { texts, query, read, asker }: Run<T>,
  ): Promise<readonly T[]> {
    const tokenized: Tokens[] = []
    for (const text of texts)
      tokenized.push(await this.#take(() => model.tokenize(text, query), asker))
    const batches = model.runsAlone
      ? tokenized.map((_, position) => [position])
      : batchesOf(tokenized.map(({ ids }) => ids.length))
    const results = new Array<T>(texts.length)
    for (const batch of batches) {
      const encoded = await this.#take(
        () => model.run(batch.map((position) => tokenized[position]!)),
        asker,
      )
      for (const [i, position] of batch.entries()) results[position] = read(encoded[i]!)
    }
    return results
  }

  /** Runs one slice, unless the entrant's signal was aborted meanwhile. */
  #take<T>(slice: () => T | Promise<T>, asker: Entrant): Promise<T> {
    return this.#turns.run(asker, async () => {
      // A slice blocks the thread. This pause lets the thread receive messages about other requests
      // before each slice.
      await setImmediate()
      asker.signal.throwIfAborted()
      return slice()
    })
  }

  #load(role: Role): Promise<TokenModel> {
    const known = this.#models.get(role)
    if (known !== undefined) return known
    const loading = this.#take(() => this.#open(role), itself)
    this.#models.set(role, loading)
    // A failed load is not cached, so the next request repeats it.
    loading.catch(() => this.#models.delete(role))
    return loading
  }

  async #open(role: Role): Promise<TokenModel> {
    const started = performance.now()
    const { threads, embeddingFolder, rerankerFolder } = this.#settings
    const folder = role === 'embedding' ? embeddingFolder : rerankerFolder
    const source =
      folder === undefined ? await builtInModel(precisions[role]) : folderModel(folder)
    const model = await TokenModel.open(source, threads, this.#guard)
    const durationMs = Math.round(performance.now() - started)
    this.#events.loaded(`${role}, ${folder ?? 'built in'}`, durationMs)
    return model
  }
}

type Role = 'embedding' | 'reranking'

/**
 * Precision of each model. Stored vectors must be reproducible on every machine for years; scores
 * are used only once.
 */
const precisions = { embedding: 'float', reranking: 'int8' } as const

interface Run<T> {
  readonly texts: readonly string[]
  /** If present, each text is encoded as a pair with the query. */
  readonly query?: string
  readonly read: (text: EncodedText) => T
  readonly asker: Entrant
}

/** Entrant for work for which no request waits. */
const itself: Entrant = { principalName: '', signal: new AbortController().signal }

/** Maps the logit of a cross-encoder to a score between 0 and 1. */
function likelihood({ numbers }: EncodedText): number {
  if (numbers.length !== 1)
    throw new Error(
      `a reranker must return one number per passage, but this model returns ${numbers.length}`,
    )
  return 1 / (1 + Math.exp(-numbers[0]!))
}
