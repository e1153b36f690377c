/** The single page of a search by vector, and the options of such a search. */
import type { Caller } from '../caller/caller.ts'
import type { Hit } from '../engine/contract.ts'
import { apiError, type ApiError } from '../errors/api-error.ts'
import { leastFloatShownAs } from '../json/floats.ts'
import type { Limits } from '../limits.ts'
import { inTurns, mapInTurns } from '../runtime/steps.ts'
import { diversify } from '../search/vector/diversify.ts'
import { checkSize, searchUpToSize } from './search.ts'
import type { AnyQuery, AnySearch, Source } from './source.ts'

export interface NearestOptions {
  /** Results with a lower `$similarity` are left out. */
  readonly minSimilarity?: number | undefined
  /** Weight of the difference from better results, from 0 to 1; by default 0. */
  readonly diversity?: number | undefined
}

/** Rejects options of searches by vector with another sort. */
export function checkNearestOptions(
  { kind }: { readonly kind: string },
  { minSimilarity, diversity }: NearestOptions,
): void {
  if (kind === 'vector' || kind === 'vectorize') return
  for (const [name, value] of Object.entries({ minSimilarity, diversity }))
    if (value !== undefined)
      throw apiError('COMMAND_FIELD_VALUE_INVALID', {
        field: `command.options.${name}`,
        value: String(value),
        reason: `${name} requires a sort by a vector`,
      })
}

interface NearestRange extends NearestOptions {
  /** Maximum number of results; absent: the maximum of the server. */
  readonly limit?: number | undefined
}

/**
 * Whether results are chosen by their differences, which requires their vectors. A single result is
 * always the nearest one.
 */
export function isDiverse({ diversity = 0, limit }: NearestRange): boolean {
  return diversity > 0 && limit !== 1
}

export interface NearestHits<Item> {
  readonly hits: Hit<Item>[]
  readonly warnings: readonly ApiError[]
}

/**
 * The nearest records, with a warning when `limit` is absent and results were cut off. With
 * `diversity`, the records must include their vectors.
 */
export async function searchNearest<Item, Q extends AnyQuery, S extends AnySearch>(
  source: Source<Item, Q, S>,
  wanted: Pick<S, 'by'>,
  range: NearestRange,
  caller: Caller,
): Promise<NearestHits<Item>> {
  const { minSimilarity } = range
  const max = source.limits.vectorLimitMax
  const asked = {
    ...wanted,
    limit: candidateCount(range, source.limits),
    ...(minSimilarity !== undefined && { scoreMin: leastFloatShownAs(minSimilarity) }),
  }
  const found = await searchUpToSize(source, asked as unknown as S, caller)
  const nearest = found.hits.slice(0, max)
  const hits = isDiverse(range)
    ? await chooseDiverse(source, wanted.by, { ...range, nearest }, caller)
    : nearest
  checkSize(hits, source)
  const warnings: ApiError[] = []
  if (found.hits.length > nearest.length)
    warnings.push(apiError('VECTOR_SEARCH_RESULTS_TRUNCATED', { max, noun: source.noun }))
  if (found.comparedMax !== undefined)
    warnings.push(apiError('VECTOR_SEARCH_MAY_MISS_ROWS', { max: found.comparedMax }))
  return { hits, warnings }
}

function candidateCount(range: NearestRange, limits: Limits): number {
  const { vectorLimitMax: max, diverseCandidatesMin, diverseCandidatesPerResult } = limits
  const { limit } = range
  // One more hit than the maximum shows whether the result was cut off.
  if (limit === undefined || limit > max) return max + 1
  if (!isDiverse(range)) return limit
  return Math.min(max, Math.max(diverseCandidatesMin, limit * diverseCandidatesPerResult))
}

async function chooseDiverse<Item, Q extends AnyQuery, S extends AnySearch>(
  source: Source<Item, Q, S>,
  by: S['by'],
  {
    nearest,
    diversity = 0,
    limit: count = Infinity,
  }: NearestRange & { readonly nearest: readonly Hit<Item>[] },
  caller: Caller,
): Promise<Hit<Item>[]> {
  const toSimilar = ({ record, score }: Hit<Item>) => {
    const numbers = source.vectorOf(record, by)!
    const isNarrow = numbers instanceof Float32Array
    return { similarity: score, vector: isNarrow ? numbers : new Float32Array(numbers) }
  }
  const candidates = await mapInTurns(nearest, toSimilar, caller)
  const metric = source.metricOf(by)
  const chosen = await inTurns(diversify(candidates, { metric, diversity, count }), caller)
  return chosen.map((position) => nearest[position]!)
}
