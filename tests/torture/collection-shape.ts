/** The options of a collection, and their effect on its documents. */
import type { Metric } from '../../src/search/vector/similarity.ts'
import { indexingRule, type IndexingRule } from '../../src/language/filters/indexing.ts'
import type { Random } from '../faults/random.ts'

export interface CollectionShape {
  readonly keyspace: string
  readonly name: string
  readonly vector?: { readonly dimension: number; readonly metric: Metric }
  /**
   * Whether the server computes vectors from texts. The test provider counts the letters of a text.
   */
  readonly vectorize?: boolean
  readonly lexical: boolean
  readonly deny?: readonly string[]
  readonly defaultId?: 'uuid' | 'uuidv6' | 'uuidv7' | 'objectId'
}

export function optionsOf(shape: CollectionShape): object {
  const { vector, vectorize, lexical, deny, defaultId } = shape
  const service = { provider: 'openai', modelName: 'text-embedding-3-small' }
  return {
    ...(vector && { vector: { ...vector, ...(vectorize && { service }) } }),
    lexical: { enabled: lexical },
    rerank: { enabled: lexical && vector !== undefined },
    ...(deny && { indexing: { deny } }),
    ...(defaultId && { defaultId: { type: defaultId } }),
  }
}

export function indexingOf({ deny }: CollectionShape): IndexingRule {
  return indexingRule(deny && { deny })
}

/** A random shape for a collection that is created and dropped. */
export function randomShape(random: Random, name: string): CollectionShape {
  const metric = random.pick(['cosine', 'dot_product', 'euclidean'] as const)
  return {
    keyspace: 'default_keyspace',
    name,
    ...(random.oneIn(2) && { vector: { dimension: 3 + random.below(6), metric } }),
    lexical: random.oneIn(2),
    ...(random.oneIn(3) && { deny: ['body', 'extra'] }),
    ...(!random.oneIn(3) && {
      defaultId: random.pick(['uuid', 'uuidv6', 'uuidv7', 'objectId'] as const),
    }),
  }
}

/** Collections that all clients share. Each client reads and changes only its own documents. */
export const sharedCollections: readonly CollectionShape[] = [
  { keyspace: 'default_keyspace', name: 'plain', lexical: false, deny: ['body'] },
  {
    keyspace: 'default_keyspace',
    name: 'vectors',
    vector: { dimension: 16, metric: 'cosine' },
    lexical: true,
    deny: ['body'],
  },
  {
    keyspace: 'default_keyspace',
    name: 'letters',
    vector: { dimension: 2, metric: 'cosine' },
    vectorize: true,
    lexical: true,
    defaultId: 'uuidv7',
  },
]
