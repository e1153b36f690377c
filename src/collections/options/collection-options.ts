/**
 * Options of createCollection: parses them into a schema, and compares the schema with an existing
 * collection.
 *
 * The form of all options is checked first (keys, JSON types, bounds); only a well-formed request
 * is then compared with the features of this server.
 */
import { isDeepStrictEqual } from 'node:util'
import type {
  CollectionOptions,
  DefaultIdType,
  IndexingOptions,
  LexicalOptions,
  RerankOptions,
  VectorOptions,
} from '../../engine/schema.ts'
import { ApiErrors } from '../../errors/api-error.ts'
import type { Value } from '../../json/value.ts'
import type { Limits } from '../../limits.ts'
import type { EmbeddingProviders } from '../../providers/embedding-providers.ts'
import type { Models } from '../../providers/models.ts'
import type { RerankingProviders } from '../../providers/reranking-providers.ts'
import { recipeOf } from '../../search/lexical/definition.ts'
import type { Steps } from '../../runtime/steps.ts'
import { isSameAnalyzer } from '../../search/lexical/recipe.ts'
import { readIndexing, resolveIndexing } from './indexing-options.ts'
import { readLexical, resolveLexical } from './lexical-options.ts'
import {
  choiceIn,
  refuseUnknownKeys,
  rootSection,
  sectionIn,
  type Section,
} from '../../options/option-section.ts'
import { readRerank, resolveRerank } from './rerank-options.ts'
import { readVector, resolveVector } from './vector-options.ts'

export interface OptionsContext {
  readonly limits: Limits
  readonly features: {
    readonly lexical: boolean
    readonly reranking: boolean
    readonly vectorize: boolean
  }
  readonly embeddingProviders: EmbeddingProviders
  readonly rerankingProviders: RerankingProviders
}

export interface RequestedOptions {
  /** Options with defaults for omitted ones. */
  readonly options: CollectionOptions
  /**
   * Whether the request contains these options. If it does not, any value of an existing collection
   * is accepted.
   */
  readonly given: { readonly lexical: boolean; readonly rerank: boolean }
}

/**
 * Parses the options of createCollection. A generator, because compiling an analyzer may need
 * pauses.
 */
export function* parseCollectionOptions(
  value: Value | undefined,
  context: OptionsContext,
): Steps<RequestedOptions> {
  const { defaultId, vector, indexing, lexical, rerank } = readShape(value)
  return {
    options: {
      ...(defaultId && { defaultId: { type: defaultId } }),
      ...(vector && { vector: resolveVector(vector, context) }),
      ...(indexing && { indexing: resolveIndexing(indexing) }),
      lexical: yield* resolveLexical(lexical, context.features.lexical, context.limits),
      rerank: resolveRerank(rerank, context),
    },
    given: { lexical: lexical !== undefined, rerank: rerank !== undefined },
  }
}

/** Names of the options that differ between an existing collection and a request. */
export function differences(
  { options: requested, given }: RequestedOptions,
  existing: CollectionOptions,
  models: Pick<Models, 'answeringReranker'>,
): string[] {
  const isSame = {
    defaultId: requested.defaultId?.type === existing.defaultId?.type,
    vector: isDeepStrictEqual(
      comparableVector(requested.vector),
      comparableVector(existing.vector, requested.vector?.memory === undefined),
    ),
    indexing: isDeepStrictEqual(
      comparableIndexing(requested.indexing),
      comparableIndexing(existing.indexing),
    ),
    lexical: !given.lexical || isSameLexical(requested.lexical, existing.lexical),
    rerank:
      !given.rerank ||
      isDeepStrictEqual(
        showRerank(requested.rerank, models),
        showRerank(existing.rerank, models),
      ),
  }
  return Object.entries(isSame).flatMap(([setting, same]) => (same ? [] : [setting]))
}

/**
 * Options as replies show them: with the reranker that the server uses, and with the definition of
 * the analyzer, which may be read from storage.
 */
export function showOptions(
  options: CollectionOptions,
  models: Pick<Models, 'answeringReranker'>,
): CollectionOptions {
  const { lexical, rerank } = options
  return {
    ...options,
    lexical: lexical.enabled
      ? { ...lexical, analyzer: recipeOf(lexical.analyzer) }
      : lexical,
    rerank: showRerank(rerank, models),
  }
}

function showRerank(
  rerank: RerankOptions,
  models: Pick<Models, 'answeringReranker'>,
): RerankOptions {
  const { service } = rerank
  return service === undefined
    ? rerank
    : { ...rerank, service: models.answeringReranker(service) }
}

function readShape(value: Value | undefined) {
  const options = rootSection(value, 'command.options')
  refuseUnknownKeys(options, 'INVALID_CREATE_COLLECTION_FIELD', [
    'defaultId',
    'vector',
    'indexing',
    'lexical',
    'rerank',
  ])
  const shape = {
    defaultId: readDefaultId(options),
    vector: readVector(options),
    indexing: readIndexing(options),
    lexical: readLexical(options),
    rerank: readRerank(options),
  }
  if (options.violations.length > 0) throw new ApiErrors(options.violations)
  return shape
}

const defaultIdTypes = [
  'objectId',
  'uuid',
  'uuidv6',
  'uuidv7',
] as const satisfies DefaultIdType[]

function readDefaultId(options: Section): DefaultIdType | undefined {
  const defaultId = sectionIn(options, 'defaultId')
  if (defaultId === undefined) return undefined
  refuseUnknownKeys(defaultId, 'INVALID_CREATE_COLLECTION_FIELD', ['type'])
  return choiceIn(defaultId, 'type', defaultIdTypes)
}

/**
 * The vector options in a form to compare: absent and empty authentication or parameters are equal.
 * A request without `memory` accepts any.
 */
function comparableVector(vector: VectorOptions | undefined, acceptsMemory = false) {
  const { authentication = {}, parameters = {}, ...model } = vector?.service ?? {}
  const { memory, ...rest } = vector ?? {}
  return {
    ...rest,
    memory: acceptsMemory ? undefined : memory,
    service: { ...model, authentication, parameters },
  }
}

function comparableIndexing(indexing: IndexingOptions | undefined) {
  if (indexing === undefined) return undefined
  return 'allow' in indexing
    ? { allow: new Set(indexing.allow) }
    : { deny: new Set(indexing.deny) }
}

function isSameLexical(one: LexicalOptions, other: LexicalOptions): boolean {
  return one.enabled === other.enabled && isSameAnalyzer(one.analyzer, other.analyzer)
}
