/** Access to a collection for commands on documents. */
import type { Engine } from '../engine/contract.ts'
import { keyspaceOf, type Collection } from '../engine/schema.ts'
import type { Limits } from '../limits.ts'
import { indexingRule } from '../language/filters/indexing.ts'
import type { LexicalOperator } from '../language/sorts/sort.ts'
import { embedderFor } from '../paging/embedder.ts'
import type { ProviderCredentials, Models } from '../providers/models.ts'
import { analyzerFor } from '../search/lexical/analyzer.ts'
import { collectionSource } from './document-source.ts'
import type { DocumentTurns } from './document-turns.ts'
import type { DocumentSource } from './search-fields.ts'

export interface DocumentStore extends DocumentSource {
  /** Locks that serialize the writers of a document. */
  readonly turns: DocumentTurns
  /** The same store for a request with its own provider keys. */
  as(request: { readonly credentials: ProviderCredentials }): DocumentStore
}

/** Services of the server that commands on documents use. */
export interface DocumentServices {
  readonly engine: Engine
  readonly limits: Limits
  readonly models: Pick<Models, 'embed'>
  readonly documentTurns: DocumentTurns
  readonly lexicalOperator: LexicalOperator
}

export function documentStoreOf(
  { engine, limits, models, documentTurns, lexicalOperator }: DocumentServices,
  collection: Collection,
): DocumentStore {
  const { lexical, indexing, vector } = collection.options
  const embedder = (credentials: ProviderCredentials) =>
    vector && embedderFor(vector, models, credentials)
  const store: DocumentStore = {
    ...collectionSource(engine, collection, limits),
    target: `${keyspaceOf(collection)}.${collection.name}`,
    indexing: indexingRule(indexing),
    lexicalOperator,
    analyzer: lexical.enabled ? analyzerFor(lexical.analyzer) : undefined,
    turns: documentTurns,
    embedder: embedder({}),
    as: (request) =>
      store.embedder === undefined
        ? store
        : { ...store, embedder: embedder(request.credentials) },
  }
  return store
}
