/**
 * Reads and writes the options of a collection, which the comment of its table stores. The format
 * is that of other servers of the Data API, including its older versions.
 */
import { packIfLong } from '../../../search/lexical/definition.ts'
import { EngineError } from '../../errors.ts'
import type {
  CollectionOptions,
  DefaultIdType,
  EmbeddingService,
  IndexingOptions,
  LexicalOptions,
  Metric,
  RerankOptions,
  VectorOptions,
} from '../../schema.ts'

/** Version of the format that this server writes. */
const currentVersion = 2

interface Comment {
  readonly collection?: {
    readonly schema_version?: unknown
    readonly options?: CommentOptions
  }
  /** The only field of the oldest format. */
  readonly indexing?: IndexingOptions
}

interface CommentOptions {
  readonly indexing?: IndexingOptions
  readonly vector?: CommentVector
  readonly defaultId?: { readonly type?: string }
  readonly lexical?: LexicalOptions
  readonly rerank?: {
    readonly enabled: boolean
    readonly service?: { readonly provider: string; readonly modelName: string } | null
  }
}

interface CommentVector {
  readonly dimension: number
  readonly metric?: string
  readonly sourceModel?: string
  readonly service?: {
    readonly provider: string
    readonly modelName: string
    readonly authentication?: Readonly<Record<string, string>> | null
    readonly parameters?: Readonly<Record<string, unknown>> | null
  } | null
}

/** Properties of the vectors according to the table's column and index. */
export interface SeenVector {
  readonly dimension: number
  readonly metric?: string | undefined
  readonly sourceModel?: string | undefined
}

/** Values of options for collections whose comment does not contain these options. */
export type Defaults = Pick<CollectionOptions, 'lexical' | 'rerank'>

export function writeComment(name: string, options: CollectionOptions): string {
  const { indexing, vector, defaultId, lexical, rerank } = options
  const { service } = rerank
  return JSON.stringify({
    collection: {
      name,
      schema_version: currentVersion,
      options: {
        ...(indexing && { indexing }),
        ...(vector && { vector: writtenVector(vector) }),
        defaultId: { type: defaultId?.type ?? '' },
        lexical,
        rerank: {
          enabled: rerank.enabled,
          ...(service && {
            service: { ...service, authentication: null, parameters: null },
          }),
        },
      },
    },
  })
}

function writtenVector({ dimension, metric, sourceModel, service }: VectorOptions) {
  return { dimension, metric, sourceModel, ...(service && { service }) }
}

/**
 * Reads the options of a collection from the comment of its table. `name` is used in the error for
 * an unreadable comment.
 */
export function readComment(
  name: string,
  comment: string,
  seen: SeenVector | undefined,
  defaults: Defaults,
): CollectionOptions {
  const { collection, indexing } = parse(name, comment)
  if (!collection)
    return {
      ...(seen && { vector: readVector(seen) }),
      ...(indexing && { indexing }),
      ...withoutSearch,
    }
  const options = collection.options ?? {}
  if (!isSound(options)) throw unreadable(name)
  return {
    ...readDefaultId(options.defaultId?.type),
    ...(options.vector && { vector: readVector(options.vector) }),
    ...(options.indexing && { indexing: options.indexing }),
    ...readSearch(name, collection.schema_version, options, defaults),
  }
}

const withoutSearch: Defaults = { lexical: { enabled: false }, rerank: { enabled: false } }

function parse(name: string, comment: string): Comment {
  if (comment.trim() === '') return {}
  try {
    const parsed = JSON.parse(comment) as Comment | null
    if (typeof parsed === 'object' && parsed !== null && isIndexing(parsed.indexing))
      return parsed
  } catch {
    // Invalid JSON is reported below, like other unreadable comments.
  }
  throw unreadable(name)
}

function unreadable(name: string): EngineError {
  return new EngineError(
    'schema',
    `the table comment of ${name} does not contain its options`,
  )
}

/** Whether the options have the right types. Other software may have written other types. */
function isSound({ indexing, vector }: CommentOptions): boolean {
  if (!isIndexing(indexing)) return false
  if (!vector) return true
  const { dimension, metric, sourceModel } = vector
  const isText = (value: unknown) => value === undefined || typeof value === 'string'
  return Number.isSafeInteger(dimension) && isText(metric) && isText(sourceModel)
}

function isIndexing(indexing: IndexingOptions | undefined): boolean {
  if (!indexing) return true
  if (typeof indexing !== 'object') return false
  return Array.isArray('allow' in indexing ? indexing.allow : indexing.deny)
}

/**
 * Reads the options `lexical` and `rerank`. The first releases with version 1 of the format had
 * neither option; later releases added both without changing the version.
 */
function readSearch(
  name: string,
  version: unknown,
  { lexical, rerank }: CommentOptions,
  defaults: Defaults,
): Defaults {
  if (version !== 1 && version !== currentVersion)
    throw new EngineError(
      'schemaVersion',
      `the options of ${name} have version ${version === undefined ? 'none' : JSON.stringify(version)}, but only 1 and 2 are supported`,
    )
  if (version === 1 && lexical === undefined && rerank === undefined) return withoutSearch
  if (version === 1 && (lexical === undefined || rerank === undefined))
    throw new EngineError(
      'schema',
      `the options of ${name} have only one of lexical and rerank`,
    )
  return {
    lexical: lexical ? withPackedAnalyzer(lexical) : defaults.lexical,
    rerank: rerank ? readRerank(rerank) : defaults.rerank,
  }
}

function withPackedAnalyzer(lexical: LexicalOptions): LexicalOptions {
  const { analyzer } = lexical
  return analyzer === undefined ? lexical : { ...lexical, analyzer: packIfLong(analyzer) }
}

function readRerank({
  enabled,
  service,
}: NonNullable<CommentOptions['rerank']>): RerankOptions {
  if (!service) return { enabled }
  const { provider, modelName } = service
  return { enabled, service: { provider, modelName } }
}

function readDefaultId(type: string | undefined): Pick<CollectionOptions, 'defaultId'> {
  return type ? { defaultId: { type: type as DefaultIdType } } : {}
}

function readVector({
  dimension,
  metric,
  sourceModel,
  service,
}: CommentVector | SeenVectorWithService): VectorOptions {
  return {
    dimension,
    metric: readMetric(metric),
    sourceModel: readSourceModel(sourceModel),
    ...(service && { service: readService(service) }),
  }
}

type SeenVectorWithService = SeenVector & { readonly service?: undefined }

export function readMetric(text: string | undefined): Metric {
  return (text ?? 'cosine').toLowerCase().replace('-', '_') as Metric
}

export function readSourceModel(text: string | undefined): string {
  return (text ?? 'other').toLowerCase().replaceAll('_', '-')
}

function readService({
  provider,
  modelName,
  authentication,
  parameters,
}: NonNullable<NonNullable<CommentVector['service']>>): EmbeddingService {
  return {
    provider,
    modelName,
    ...(authentication && { authentication }),
    ...(parameters && { parameters }),
  }
}
