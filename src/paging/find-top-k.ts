/** Reads pages of a find whose sort is a search by vector or by terms, best results first. */
import type { Caller } from '../caller/caller.ts'
import type { ByTerms, ByVector, Hit } from '../engine/contract.ts'
import type { ApiError } from '../errors/api-error.ts'
import type { LexicalSort } from '../language/sorts/sort.ts'
import type { LongText } from '../json/long-text.ts'
import type { Embedder } from './embedder.ts'
import { searchPage, type WantedHits } from './search-page.ts'
import { showAll, type Shown } from './show-all.ts'
import { addSimilarity } from './similarity.ts'
import type { AnyQuery, AnySearch, Source } from './source.ts'

export type SearchSort =
  | { readonly kind: 'vector'; readonly vector: Float32Array }
  | { readonly kind: 'vectorize'; readonly text: string }
  | ({ readonly kind: 'lexical' } & LexicalSort)

/** Embeds the text of a vector search, and checks the resulting vector. */
export interface SearchEmbedder {
  readonly embedder: Embedder
  /** Throws when the index cannot search for the vector. */
  readonly check: (vector: Float32Array) => void
}

/**
 * Converts a sort to the vector or terms of a search. If the sort has a text to embed, embeds it.
 */
export async function searchedBy(
  sort: SearchSort,
  embedding: () => SearchEmbedder,
  caller: Caller,
): Promise<ByVector | ByTerms> {
  switch (sort.kind) {
    case 'vector':
      return { kind: 'vector', numbers: sort.vector }
    case 'vectorize': {
      const { embedder, check } = embedding()
      const [numbers] = await embedder.embed([sort.text], 'search', caller)
      check(numbers!)
      return { kind: 'vector', numbers: numbers! }
    }
    case 'lexical':
      return { kind: 'lexical', terms: sort.terms, text: sort.text, having: 'all' }
  }
}

export interface TopKPage {
  /** JSON texts, separated by commas. */
  readonly documents: LongText
  readonly nextPageState: string | null
  readonly warnings: readonly ApiError[]
  /** The query vector. */
  readonly sortVector?: Float32Array
}

export async function findTopK<Item, Q extends AnyQuery, S extends AnySearch>(
  source: Source<Item, Q, S>,
  wanted: WantedHits<S>,
  show: (record: Item) => Shown,
  { includeSimilarity = false }: { readonly includeSimilarity?: boolean },
  caller: Caller,
): Promise<TopKPage> {
  const { by } = wanted
  const { hits, ...page } = await searchPage(source, wanted, caller)
  const showHit = ({ record, score }: Hit<Item>) => {
    const shown = show(record)
    return by.kind === 'vector' && includeSimilarity ? addSimilarity(shown, score) : shown
  }
  return {
    ...page,
    documents: await showAll(hits, showHit, caller),
    ...(by.kind === 'vector' && { sortVector: by.numbers }),
  }
}
