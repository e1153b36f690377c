/** Terms as requests write them: a text, cut up as those that are searched. */
import { apiError, type ApiError } from '../errors/api-error.ts'
import type { Analyze } from './filter.ts'
import { showValue } from './show.ts'

/** The distinct terms of a text that is searched for in $lexical. */
export function readTerms(
  text: string,
  analyze: Analyze,
  { target }: { readonly target: string },
): readonly string[] {
  return readTermsOf('$lexical', text, analyze, (problem) =>
    apiError('INVALID_DATABASE_QUERY', { target, problem }),
  )
}

/** The same of any field; `refuse` makes the error for a text without terms. */
export function readTermsOf(
  field: string,
  text: string,
  analyze: Analyze,
  refuse: (problem: string) => ApiError,
): readonly string[] {
  const terms = [...new Set(analyze(text))]
  if (terms.length === 0)
    throw refuse(
      `the analyzer of ${field} makes no term of ${showValue(text)}, so there is ` +
        'nothing to look for. Search for words that it keeps',
    )
  return terms
}
