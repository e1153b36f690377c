/** Terms as requests write them: a text, cut up as those that are searched. */
import { apiError } from '../errors/api-error.ts'
import type { Analyze } from './filter.ts'
import { showValue } from './show.ts'

/** The distinct terms of a text that is searched for, in `field`. */
export function readTerms(
  text: string,
  analyze: Analyze,
  { target, field = '$lexical' }: { readonly target: string; readonly field?: string },
): readonly string[] {
  const terms = [...new Set(analyze(text))]
  if (terms.length === 0)
    throw apiError('INVALID_DATABASE_QUERY', {
      target,
      problem:
        `the analyzer of ${field} makes no term of ${showValue(text)}, so there is ` +
        'nothing to look for. Search for words that it keeps',
    })
  return terms
}
