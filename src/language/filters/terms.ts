/** Terms as requests write them: a text, cut up as those that are searched. */
import { apiError } from '../../errors/api-error.ts'
import type { Analyze } from './filter.ts'
import { quoteJson } from '../values/quote-json.ts'

/** Where a text to search for stands: what is searched, its field, and the clause. */
export interface TermsPlace {
  readonly target: string
  readonly field: string
  readonly clause: 'filter' | 'sort'
}

/** The distinct terms of a text that is searched for. */
export function readTerms(
  text: string,
  analyze: Analyze,
  { target, field, clause }: TermsPlace,
): readonly string[] {
  const analyzed = analyze(text)
  if (analyzed === undefined) throw apiError('LEXICAL_QUERY_TOO_LONG', { target, field })
  const terms = [...new Set(analyzed)]
  if (terms.length > 0) return terms
  const shown = quoteJson(text)
  throw clause === 'filter'
    ? apiError('FILTER_INVALID_EXPRESSION', {
        reason: 'matchWithoutTerms',
        path: field,
        text: shown,
      })
    : apiError('SORT_CLAUSE_VALUE_INVALID', {
        reason: 'withoutTerms',
        path: field,
        text: shown,
      })
}
