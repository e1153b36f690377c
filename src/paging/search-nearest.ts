/** The single page of a search by vector, and the options of such a search. */
import type { Caller } from '../caller/caller.ts'
import type { Hit } from '../engine/contract.ts'
import { apiError, type ApiError } from '../errors/api-error.ts'
import { leastFloatShownAs } from '../json/floats.ts'
import { checkSize, searchUpToSize } from './search.ts'
import type { AnyQuery, AnySearch, Source } from './source.ts'

export interface NearestOptions {
  /** Results with a lower `$similarity` are left out. */
  readonly minSimilarity?: number | undefined
}

/** Rejects options of searches by vector with another sort. */
export function checkNearestOptions(
  { kind }: { readonly kind: string },
  { minSimilarity }: NearestOptions,
): void {
  if (kind === 'vector' || kind === 'vectorize') return
  for (const [name, value] of Object.entries({ minSimilarity }))
    if (value !== undefined)
      throw apiError('COMMAND_FIELD_VALUE_INVALID', {
        field: `command.options.${name}`,
        value: String(value),
        reason: `${name} requires a sort by a vector`,
      })
}

export interface NearestHits<Item> {
  readonly hits: Hit<Item>[]
  readonly warnings: readonly ApiError[]
}

/** The nearest records, with a warning when `limit` is absent and results were cut off. */
export async function searchNearest<Item, Q extends AnyQuery, S extends AnySearch>(
  source: Source<Item, Q, S>,
  wanted: object,
  { limit, minSimilarity }: NearestOptions & { readonly limit: number | undefined },
  caller: Caller,
): Promise<NearestHits<Item>> {
  const max = source.limits.vectorLimitMax
  const isLimited = limit !== undefined && limit <= max
  const asked = {
    ...wanted,
    // One more hit than the maximum shows whether the result was cut off.
    limit: isLimited ? limit : max + 1,
    ...(minSimilarity !== undefined && { scoreMin: leastFloatShownAs(minSimilarity) }),
  }
  const found = await searchUpToSize(source, asked as unknown as S, caller)
  const hits = found.hits.slice(0, max)
  checkSize(hits, source)
  const warnings: ApiError[] = []
  if (found.hits.length > hits.length)
    warnings.push(apiError('VECTOR_SEARCH_RESULTS_TRUNCATED', { max, noun: source.noun }))
  if (found.comparedMax !== undefined)
    warnings.push(apiError('VECTOR_SEARCH_MAY_MISS_ROWS', { max: found.comparedMax }))
  return { hits, warnings }
}
