/**
 * Plans a findAndRerank, after checking it against the features of the server and against its
 * collection. The first failure is the reply, so the order of the checks in planRerank matters.
 */
import type { ByTerms } from '../../engine/contract.ts'
import type { Collection, RerankOptions } from '../../engine/schema.ts'
import { apiError, type ApiError } from '../../errors/api-error.ts'
import type { HybridSort } from '../../language/sorts/parse-hybrid-sort.ts'
import { parsePath, type Path } from '../../language/values/path.ts'
import { quoteJson } from '../../language/values/quote-json.ts'
import type { Sort } from '../../language/sorts/sort.ts'
import { readTerms } from '../../language/filters/terms.ts'
import { termsWithin } from '../../search/lexical/analyzer.ts'
import { checkVector } from '../../language/values/vector.ts'
import { checkModelForUse } from '../../providers/model-support.ts'
import type { ProviderCredentials, Models } from '../../providers/models.ts'
import { resolveRerankService, type GivenRerankService } from '../options/rerank-options.ts'
import type { DocumentSource } from '../search-fields.ts'

/** The parsed clauses and options; only their JSON types have been checked. */
export interface AskedRerank {
  readonly sort: HybridSort
  readonly limit: number | undefined
  readonly hybridLimits: HybridLimits | undefined
  readonly rerankOn: string | undefined
  readonly rerankQuery: string | undefined
  /** Overrides the service of the collection. */
  readonly service: GivenRerankService | undefined
  /** Whether the reply can contain warnings. */
  readonly withWarnings: boolean
}

/** Maximum number of results of each search. */
export interface HybridLimits {
  readonly vector: number
  readonly lexical: number
}

/** Fields that a document needs to be eligible: $lexical and $vector, or only $vector. */
export type HybridEligibility = 'both' | 'vector'

/** Reranking services of the server, and the keys of the request. */
export interface RerankServer {
  readonly features: {
    readonly reranking: boolean
    readonly hybridEligibility: HybridEligibility
  }
  readonly models: Pick<Models, 'rerankingProviders' | 'rerank'>
  readonly credentials: ProviderCredentials
}

export interface RerankPlan {
  readonly byVector: Extract<Sort, { kind: 'vector' | 'vectorize' }>
  /** Undefined: only the vector search runs. */
  readonly byTerms: Omit<ByTerms, 'having'> | undefined
  readonly hybridLimits: HybridLimits
  readonly limit: number
  /** Path of the passage; undefined: $lexical, or else $vectorize. */
  readonly rerankOn: Path | undefined
  /** The text that passages are compared with. */
  readonly query: string
  readonly service: RerankService
  readonly eligibility: HybridEligibility
  readonly withWarnings: boolean
  /** Warnings about questionable but valid clauses. */
  readonly warnings: readonly ApiError[]
}

type RerankService = NonNullable<RerankOptions['service']>

export function planRerank(
  store: DocumentSource,
  asked: AskedRerank,
  { features, models }: RerankServer,
): RerankPlan {
  if (!features.reranking) throw apiError('RERANKING_FEATURE_NOT_ENABLED')
  const sort = supportedSort(store, asked.sort)
  checkSearches(store, sort)
  const limit = asked.limit ?? store.limits.rerankLimitDefault
  const hybridLimits = chooseHybridLimits(store, asked.hybridLimits, limit)
  const service = chooseService(store, asked.service, models)
  checkHasVector(sort)
  const query = chooseQuery(store, asked)
  const byVector = chooseVector(store, sort)
  const rerankOn = chooseRerankOn(store, asked)
  const byTerms = chooseTerms(store, sort)
  const limits = { ...hybridLimits, lexical: byTerms ? hybridLimits.lexical : 0 }
  return {
    byVector,
    byTerms,
    hybridLimits: limits,
    limit,
    rerankOn,
    query,
    service,
    // A search by vector alone does not read $lexical, so documents do not need it.
    eligibility: byTerms === undefined ? 'vector' : features.hybridEligibility,
    withWarnings: asked.withWarnings,
    warnings: asked.withWarnings ? warningsOf(asked.limit, limits) : [],
  }
}

/**
 * The sort, without the search by terms if the collection has no lexical search and $hybrid is one
 * text. If the sort names $lexical, its absence from the collection is an error.
 */
function supportedSort({ collection }: DocumentSource, sort: HybridSort): HybridSort {
  const isSupported = collection.options.lexical.enabled || !sort.isOneText
  return isSupported ? sort : { ...sort, lexical: undefined }
}

/**
 * Warns about a limit that exceeds the number of results that both searches can return together.
 */
function warningsOf(
  limit: number | undefined,
  { vector, lexical }: HybridLimits,
): readonly ApiError[] {
  const max = vector + lexical
  if (limit === undefined || limit <= max) return []
  return [apiError('HYBRID_LIMITS_BELOW_LIMIT', { limit, vector, lexical, max })]
}

function checkSearches(
  { collection, target }: DocumentSource,
  { vectorize, vector, lexical }: HybridSort,
): void {
  const { options } = collection
  const byVector = vectorize !== undefined || vector !== undefined
  if (byVector && options.vector === undefined)
    throw apiError('UNSUPPORTED_VECTOR_SORT_FOR_COLLECTION', { target })
  if (vectorize !== undefined && options.vector?.service === undefined)
    throw apiError('UNSUPPORTED_VECTORIZE_SORT_FOR_COLLECTION', {
      target,
      hasLexical: options.lexical.enabled,
    })
  if (lexical !== undefined && !options.lexical.enabled)
    throw apiError('LEXICAL_NOT_ENABLED_FOR_COLLECTION', { target })
}

function chooseHybridLimits(
  { limits }: Pick<DocumentSource, 'limits'>,
  given: HybridLimits | undefined,
  limit: number,
): HybridLimits {
  if (given === undefined) {
    if (limit > limits.hybridLimitDefaultMax)
      throw invalidOption(
        'limit',
        String(limit),
        'without hybridLimits, limit is also the limit of each search; the maximum ' +
          `is ${limits.hybridLimitDefaultMax}`,
      )
    return { vector: limit, lexical: limit }
  }
  const max = limits.hybridLimitMax
  for (const search of ['vector', 'lexical'] as const)
    if (given[search] < 1 || given[search] > max)
      throw invalidOption(
        `hybridLimits.$${search}`,
        String(given[search]),
        `it must be from 1 to ${max}`,
      )
  return given
}

function chooseService(
  { collection, target }: DocumentSource,
  given: GivenRerankService | undefined,
  { rerankingProviders }: RerankServer['models'],
): RerankService {
  const { enabled, service } = collection.options.rerank
  if (given !== undefined)
    return resolveRerankService(
      given,
      'options.rerank',
      rerankingProviders,
      (...why): never => {
        throw apiError('INVALID_RERANK_OVERRIDE', ...why)
      },
    )
  if (!enabled || service === undefined)
    throw apiError('UNSUPPORTED_RERANKING_COMMAND', { target, command: 'findAndRerank' })
  const model = rerankingProviders
    .get(service.provider)
    ?.models.find(({ name }) => name === service.modelName)
  if (model !== undefined) checkModelForUse(model.name, model.support)
  return service
}

/** Rejects a sort that has terms, but neither a vector nor a text to embed. */
function checkHasVector({ vectorize, vector, lexical }: HybridSort): void {
  if (lexical === undefined || vectorize !== undefined || vector !== undefined) return
  throw apiError('COMMAND_FIELD_VALUE_INVALID', {
    field: 'command.sort.$hybrid',
    value: 'with $lexical alone',
    reason: 'it must have $vectorize or $vector',
  })
}

function chooseQuery(
  { collection }: DocumentSource,
  { rerankQuery, sort }: AskedRerank,
): string {
  const query = hasText(rerankQuery) ? rerankQuery : sort.vectorize
  if (query === undefined)
    throw apiError('MISSING_RERANK_QUERY_TEXT', { hasService: hasService(collection) })
  return query
}

function chooseVector(
  { collection, target }: DocumentSource,
  { vectorize, vector }: HybridSort,
): RerankPlan['byVector'] {
  if (vectorize !== undefined) return { kind: 'vectorize', text: vectorize }
  if (vector === undefined)
    throw apiError('COMMAND_FIELD_VALUE_INVALID', {
      field: 'command.sort',
      value: 'empty',
      reason: 'a hybrid search requires $hybrid with the text to search for',
    })
  checkVector(vector, { ...collection.options.vector!, target })
  return { kind: 'vector', vector }
}

function chooseRerankOn(
  { collection, target }: DocumentSource,
  { rerankOn, sort }: AskedRerank,
): Path | undefined {
  if (!hasText(rerankOn)) {
    if (sort.vectorize !== undefined) return undefined
    throw invalidOption(
      'rerankOn',
      'left out',
      'with $vector, name the field of the documents to compare with the query',
    )
  }
  const path = parsePath(rerankOn)
  if ('problem' in path) throw invalidOption('rerankOn', quoteJson(rerankOn), path.problem)
  if (rerankOn.startsWith('$') && rerankOn !== '$lexical' && rerankOn !== '$vectorize')
    throw invalidOption(
      'rerankOn',
      quoteJson(rerankOn),
      'it is not a field name, because it starts with $; only $lexical and ' +
        '$vectorize can be used',
    )
  if (rerankOn === '$lexical' && !collection.options.lexical.enabled)
    throw apiError('LEXICAL_NOT_ENABLED_FOR_COLLECTION', { target })
  return path
}

function chooseTerms(
  { analyzer, analysis, target, limits }: DocumentSource,
  { lexical }: HybridSort,
): RerankPlan['byTerms'] {
  if (lexical === undefined) return undefined
  const place = { target, field: '$lexical', clause: 'sort' } as const
  const bounds = { sizeMax: limits.lexicalSizeMax, ...(analysis && { budget: analysis }) }
  const terms = readTerms(lexical, (text) => termsWithin(analyzer!, text, bounds), place)
  return { kind: 'lexical', terms, text: lexical }
}

function hasService({ options }: Collection): boolean {
  return options.vector?.service !== undefined
}

/** Whether the text is present; a blank text counts as absent. */
export function hasText(text: string | null | undefined): text is string {
  return typeof text === 'string' && text.trim() !== ''
}

function invalidOption(name: string, value: string, reason: string) {
  const field = `command.options.${name}`
  return apiError('COMMAND_FIELD_VALUE_INVALID', { field, value, reason })
}
