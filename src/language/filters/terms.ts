/** Analyzes search texts of requests into terms. */
import { apiError } from '../../errors/api-error.ts'
import type { Analyze } from './filter.ts'
import { quoteJson } from '../values/quote-json.ts'

/** Location of a search text, for messages: the collection or table, the field and the clause. */
export interface TermsPlace {
  readonly target: string
  readonly field: string
  readonly clause: 'filter' | 'sort'
}

/** The distinct terms of a search text. */
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
