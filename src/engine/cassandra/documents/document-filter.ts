/** Checks filters on documents; a filter applies to the indexed fields only. */
import type { Caller } from '../../../caller/caller.ts'
import type { JsonObject } from '../../../json/value.ts'
import type { Filter } from '../../../language/filters/filter.ts'
import { indexingRule } from '../../../language/filters/indexing.ts'
import { hasTermsIn, matchesInSteps } from '../../../language/filters/matches.ts'
import { inTurns, type Steps } from '../../../runtime/steps.ts'
import type { Collection } from '../../contract.ts'
import { termsIn } from './document-texts.ts'

/**
 * Returns a function that checks the filter on documents that include their search fields. It
 * checks a large document in steps.
 */
export function matcherOf(
  filter: Filter,
  collection: Collection,
  caller: Caller,
): (document: JsonObject) => boolean | Promise<boolean> {
  const indexing = indexingRule(collection.options.indexing)
  return (document) => inTurns(isMatch(document), caller)

  function* isMatch(document: JsonObject): Steps<boolean> {
    const hasTerms = hasTermsIn(() => termsIn(document, collection))
    const indexed = yield* indexing.pruneInSteps(document)
    const answer = matchesInSteps(filter, indexed, hasTerms)
    return typeof answer === 'boolean' ? answer : yield* answer
  }
}
