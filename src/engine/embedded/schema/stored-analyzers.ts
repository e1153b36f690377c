/** Keeps long analyzer definitions out of memory: they are read when they are needed. */
import { storeIfLong } from '../../../search/lexical/definition.ts'
import type { CollectionOptions } from '../../schema.ts'
import type { StoredDefinition, StoredIndex, StoredTarget } from './stored-schema.ts'

/** Reads the options of a collection, or the definition of a table, as stored. */
type Read = () => object

export function withStoredAnalyzers(target: StoredTarget, read: Read): StoredTarget {
  if (target.kind === 'collection') {
    const { options } = target
    const { lexical } = options
    const analyzer = storeIfLong(lexical.analyzer, () => readOptions(read))
    if (analyzer === lexical.analyzer) return target
    return { ...target, options: { ...options, lexical: { ...lexical, analyzer } } }
  }
  const { definition } = target
  const indexes = definition.indexes.map((index): StoredIndex => {
    if (index.kind !== 'text') return index
    const analyzer = storeIfLong(index.analyzer, () => readIndex(read, index.id))
    return analyzer === index.analyzer ? index : { ...index, analyzer }
  })
  const isChanged = indexes.some((index, at) => index !== definition.indexes[at])
  return isChanged ? { ...target, definition: { ...definition, indexes } } : target
}

// These are separate functions, so that the returned closures do not keep the definitions in
// memory.

function readOptions(read: Read): () => unknown {
  return () => (read() as CollectionOptions).lexical.analyzer
}

function readIndex(read: Read, id: number): () => unknown {
  return () => {
    const { indexes } = read() as StoredDefinition
    const index = indexes.find((one) => one.id === id)
    return index?.kind === 'text' ? index.analyzer : undefined
  }
}
