/** Parses the clauses that select documents, and the projection. */
import type { Caller } from '../caller/caller.ts'
import type { Value } from '../json/value.ts'
import type { Filter } from '../language/filters/filter.ts'
import { parseFilter } from '../language/filters/parse-filter.ts'
import { parseProjection, type Projection } from '../language/projection.ts'
import { checkSortIndexed, parseSort } from '../language/sorts/parse-sort.ts'
import type { LexicalOperator, Sort } from '../language/sorts/sort.ts'
import { termsWithin } from '../search/lexical/analyzer.ts'
import type { DocumentSource } from './search-fields.ts'

/** Filter, sort and projection of a command, unparsed. */
export interface Clauses {
  readonly filter?: Value | undefined
  readonly sort?: Value | undefined
  readonly projection?: Value | undefined
  /** Absent: the default of the server. */
  readonly lexicalOperator?: LexicalOperator | undefined
}

/** Parsed clauses. */
export interface Selection {
  readonly filter: Filter
  readonly sort: Sort
  readonly projection: Projection
  readonly clauses: Clauses
}

/** Parses clauses in a fixed order, because the first error is the reply. */
export function selectDocuments(
  store: DocumentSource,
  clauses: Clauses,
  caller: Caller,
): Selection {
  const { target, limits, indexing, collection, analyzer } = store
  const { vector } = collection.options
  const analyze =
    analyzer &&
    ((text: string) => {
      const bounds = { sizeMax: limits.lexicalSizeMax, budget: caller.analysis }
      return termsWithin(analyzer, text, bounds)
    })
  const vectorize = vector?.service !== undefined
  const lexicalOperator = clauses.lexicalOperator ?? store.lexicalOperator
  const sort = parseSort(clauses.sort, {
    ...{ target, limits, vector, vectorize, analyze, lexicalOperator },
  })
  const filter = parseFilter(clauses.filter, { limits, indexing, target, analyze })
  checkSortIndexed(sort, indexing)
  const projection = parseProjection(clauses.projection)
  return { filter, sort, projection, clauses }
}
