/** Whether documents match a filter, which sees only what is indexed of them. */
import type { JsonObject } from '../../../json/value.ts'
import type { Filter } from '../../../language/filters/filter.ts'
import { indexingRule } from '../../../language/filters/indexing.ts'
import { matches } from '../../../language/filters/matches.ts'
import type { Collection } from '../../contract.ts'
import { hasTermsIn } from './document-texts.ts'

/** For documents with their search fields. */
export function matcherOf(
  filter: Filter,
  collection: Collection,
): (document: JsonObject) => boolean {
  const indexing = indexingRule(collection.options.indexing)
  return (document) =>
    matches(filter, indexing.prune(document), hasTermsIn(document, collection))
}
