/** What exists: keyspaces hold targets, and a target is a collection (later, or a table). */

import type { Metric } from '../search/vector/similarity.ts'

export type { Metric }

export type DefaultIdType = 'objectId' | 'uuid' | 'uuidv6' | 'uuidv7'

/** An embedding service, as it was configured and as explain shows it. */
export interface EmbeddingService {
  readonly provider: string
  readonly modelName: string
  readonly authentication?: Readonly<Record<string, string>>
  readonly parameters?: Readonly<Record<string, unknown>>
}

export interface VectorOptions {
  readonly dimension: number
  readonly metric: Metric
  readonly sourceModel: string
  readonly service?: EmbeddingService
}

export type IndexingOptions =
  { readonly allow: readonly string[] } | { readonly deny: readonly string[] }

export interface LexicalOptions {
  readonly enabled: boolean
  /** A built-in analyzer's name, or a recipe; absent when lexical search is off. */
  readonly analyzer?: unknown
}

export interface RerankOptions {
  readonly enabled: boolean
  readonly service?: { readonly provider: string; readonly modelName: string }
}

/**
 * A collection's options, normalised, in the shape and key order that findCollections
 * shows. Plain JSON data: engines store it as it is.
 */
export interface CollectionOptions {
  readonly defaultId?: { readonly type: DefaultIdType }
  readonly vector?: VectorOptions
  readonly indexing?: IndexingOptions
  readonly lexical: LexicalOptions
  readonly rerank: RerankOptions
}

export interface Collection {
  readonly kind: 'collection'
  readonly keyspace: string
  readonly name: string
  /** Differs between two collections that had the same name one after the other. */
  readonly uid: string
  readonly options: CollectionOptions
}

/** The collection or table that a command acts on. */
export type Target = Collection
