/** Sorts that are searches, as an engine is asked for them. */
import type { Caller } from '../caller.ts'
import type { SearchBy } from '../engine/contract.ts'
import type { Sort } from '../language/sorts/sort.ts'
import { checkVector } from '../language/values/vector.ts'
import { embeddedField, type SearchRules } from './search-fields.ts'
import { requireEmbedder } from './vectorize.ts'

/** The sorts that are searches. */
export type SearchSort = Exclude<Sort, { readonly kind: 'values' }>

/** What a sort searches by; a text is embedded first. */
export async function searchedBy(
  sort: SearchSort,
  rules: SearchRules,
  caller: Caller,
): Promise<SearchBy> {
  switch (sort.kind) {
    case 'vector':
      return { kind: 'vector', path: '$vector', numbers: sort.vector }
    case 'vectorize': {
      const [numbers] = await requireEmbedder(rules).embed(
        [sort.text],
        'search',
        caller.signal,
      )
      const { target, collection } = rules
      checkVector(numbers!, { ...collection.options.vector!, target, field: embeddedField })
      return { kind: 'vector', path: '$vector', numbers: numbers! }
    }
    case 'lexical':
      return { kind: 'lexical', path: '$lexical', terms: sort.terms, text: sort.text }
  }
}
