/** Embeds $vectorize texts with the embedding service of the collection. */
import type { Caller } from '../caller/caller.ts'
import { apiError } from '../errors/api-error.ts'
import { copyObject } from '../json/copy-object.ts'
import { jsonTypeOf, type JsonObject, type Value } from '../json/value.ts'
import type { Embedder } from '../paging/embedder.ts'
import { inTurns, type Steps } from '../runtime/steps.ts'
import { isTextOrNull, type SearchRules } from './search-fields.ts'

/**
 * Embeds the texts of documents without a vector. Also rejects search fields that the
 * collection does not support, in any document of the request.
 */
export function embedTexts(
  documents: readonly JsonObject[],
  rules: SearchRules,
  caller: Caller,
): readonly JsonObject[] | Promise<readonly JsonObject[]> {
  documents.forEach((document, i) => checkTogether(document, i + 1, rules))
  if (!documents.some((document) => document.has('$vectorize'))) return documents
  return embedWhereNeeded(documents, rules, caller)
}

async function embedWhereNeeded(
  documents: readonly JsonObject[],
  rules: SearchRules,
  caller: Caller,
): Promise<readonly JsonObject[]> {
  const texts = documents.map(textToEmbed).filter((text) => text !== undefined)
  const vectors =
    texts.length === 0 ? [] : await requireEmbedder(rules).embed(texts, 'index', caller)
  return inTurns(withVectors(documents, vectors), caller)
}

/**
 * Adds vectors to documents. `vectors` has one vector for each document with a text to embed, in
 * order.
 */
function* withVectors(
  documents: readonly JsonObject[],
  vectors: readonly Float32Array[],
): Steps<readonly JsonObject[]> {
  const embedded: JsonObject[] = []
  let next = 0
  for (const document of documents)
    if (!document.has('$vectorize') || document.has('$vector')) embedded.push(document)
    else {
      const vector = textToEmbed(document) === undefined ? null : [...vectors[next++]!]
      embedded.push((yield* copyObject(document)).set('$vector', vector))
      yield
    }
  return embedded
}

/**
 * The document after a change. Keeps the vector if the text is unchanged, and otherwise removes it,
 * so that the text is embedded again.
 */
export function* keepEmbedding(before: JsonObject, after: JsonObject): Steps<JsonObject> {
  const text = after.get('$vectorize')
  if (text === undefined) return after
  const vector = text === before.get('$vectorize') ? before.get('$vector') : undefined
  if (vector === after.get('$vector')) return after
  const kept = yield* copyObject(after)
  kept.delete('$vector')
  return vector === undefined ? kept : kept.set('$vector', vector)
}

/**
 * Rejects inserted or replacing documents with both $vectorize and $vector, which could
 * contradict each other.
 */
export function checkNotBoth(document: JsonObject, where: string): void {
  if (document.has('$vector') && document.has('$vectorize'))
    throw apiError('INVALID_USAGE_OF_VECTORIZE', { where })
}

/** Whether a text gets a vector; null and blank texts do not. */
export function hasMeaning(text: Value | undefined): text is string {
  return typeof text === 'string' && text.trim() !== ''
}

/** An embedder that caches vectors, so that each text is embedded once. */
export function cachingEmbedder(embedder: Embedder): Embedder {
  const vectors = new Map<string, Promise<Float32Array>>()
  return {
    embed(texts, purpose, caller) {
      const embedOne = async (text: string) =>
        (await embedder.embed([text], purpose, caller))[0]!
      return Promise.all(
        texts.map((text) => {
          const vector = vectors.get(text) ?? embedOne(text)
          vectors.set(text, vector)
          return vector
        }),
      )
    },
  }
}

export function requireEmbedder({ embedder, target, collection }: SearchRules): Embedder {
  if (embedder === undefined)
    throw apiError('EMBEDDING_SERVICE_NOT_CONFIGURED', {
      target,
      hasVectors: collection.options.vector !== undefined,
    })
  return embedder
}

function checkTogether(document: JsonObject, position: number, rules: SearchRules): void {
  const vectorize = document.get('$vectorize') ?? null
  if (!isTextOrNull(vectorize))
    throw apiError('INVALID_VECTORIZE_VALUE_TYPE', {
      type: jsonTypeOf(vectorize),
      position,
    })
  if (
    (document.get('$vector') ?? null) !== null &&
    rules.collection.options.vector === undefined
  )
    throw apiError('VECTOR_SEARCH_NOT_SUPPORTED', { target: rules.target })
}

function textToEmbed(document: JsonObject): string | undefined {
  const text = document.get('$vectorize')
  return hasMeaning(text) && !document.has('$vector') ? text : undefined
}
