import type { Caller } from '../caller/caller.ts'
import type { SearchBy } from '../engine/contract.ts'
import { checkVector } from '../language/values/vector.ts'
import { searchedBy, type SearchSort } from '../paging/find-top-k.ts'
import { embeddedField, type SearchRules } from './search-fields.ts'
import { requireEmbedder } from './vectorize.ts'

/** The vector or terms that a sort of documents searches for. */
export async function documentsSearchedBy(
  sort: SearchSort,
  rules: SearchRules,
  caller: Caller,
): Promise<SearchBy> {
  const { target, collection } = rules
  const check = (vector: Float32Array) =>
    checkVector(vector, { ...collection.options.vector!, target, field: embeddedField })
  const embedding = () => ({ embedder: requireEmbedder(rules), check })
  const by = await searchedBy(sort, embedding, caller)
  return { ...by, path: by.kind === 'vector' ? '$vector' : '$lexical' }
}
