/** The search modes of a collection or table, and their commands. */
import type { Place } from '../api/place.ts'
import type { Printable, Value } from '../json/value.ts'

export type SearchModeName = 'meaning' | 'vector' | 'words' | 'hybrid'

export const searchModeLabels: Readonly<Record<SearchModeName, string>> = {
  meaning: 'By meaning',
  vector: 'By vector',
  words: 'By words',
  hybrid: 'Hybrid',
}

/** A search mode, and whether it is available. */
export interface SearchMode {
  readonly name: SearchModeName
  /** Why the mode is unavailable; undefined when it is available. */
  readonly lacks: string | undefined
  /** The field or column that is searched. */
  readonly field: string
}

/** An index of a table, from listIndexes with explain. */
export interface TableIndex {
  readonly indexType: string
  readonly definition: { readonly column: unknown }
}

export function searchModesOf(
  place: Place,
  indexes: readonly TableIndex[],
): readonly SearchMode[] {
  return place.kind === 'table' ? waysOfTable(place, indexes) : waysOfCollection(place)
}

function waysOfCollection({ options }: Place): readonly SearchMode[] {
  const { vector, lexical, rerank } = options
  const noVector = vector === undefined ? 'the collection has no vectors' : undefined
  const noService =
    vector?.service === undefined ? 'the collection has no embedding service' : undefined
  const noWords =
    lexical?.enabled === true ? undefined : 'the collection has no lexical search'
  const noRerank = rerank?.enabled === true ? undefined : 'the collection has no reranker'
  return [
    { name: 'meaning', field: '$vectorize', lacks: noVector ?? noService },
    { name: 'vector', field: '$vector', lacks: noVector },
    { name: 'words', field: '$lexical', lacks: noWords },
    { name: 'hybrid', field: '$hybrid', lacks: noVector ?? noWords ?? noRerank },
  ]
}

function waysOfTable(
  { table }: Place,
  indexes: readonly TableIndex[],
): readonly SearchMode[] {
  const indexed = (type: string): readonly string[] =>
    indexes
      .filter(({ indexType }) => indexType === type)
      .map(({ definition }) => definition.column)
      .filter((column) => typeof column === 'string')
  const vectors = indexed('vector')
  const served = vectors.find((column) => table.columns.get(column)?.service !== undefined)
  const [texts] = indexed('text')
  return [
    {
      name: 'meaning',
      field: served ?? '',
      lacks: served === undefined ? 'no vector column has an embedding service' : undefined,
    },
    {
      name: 'vector',
      field: vectors[0] ?? '',
      lacks: vectors.length === 0 ? 'no vector column has an index' : undefined,
    },
    {
      name: 'words',
      field: texts ?? '',
      lacks: texts === undefined ? 'no column has a text index' : undefined,
    },
    { name: 'hybrid', field: '', lacks: 'tables have no hybrid search' },
  ]
}

export interface SearchInput {
  readonly text: string
  readonly vector: Value | undefined
  readonly filter: Value | undefined
  readonly limit: number
}

export interface SearchCommand {
  readonly name: 'find' | 'findAndRerank'
  readonly fields: Readonly<Record<string, Printable>>
}

/** The command of a search mode; undefined when the input is incomplete for this mode. */
export function searchCommand(
  place: Place,
  way: SearchMode,
  { text, vector, filter, limit }: SearchInput,
): SearchCommand | undefined {
  const hasText = text.trim() !== ''
  const shown = {
    ...(filter === undefined ? {} : { filter }),
    ...(place.kind === 'collection' ? { projection: { $lexical: 1, $vectorize: 1 } } : {}),
  }
  switch (way.name) {
    case 'meaning':
      if (!hasText) return undefined
      return {
        name: 'find',
        fields: {
          ...shown,
          sort: { [way.field]: text },
          options: { limit, includeSimilarity: true },
        },
      }
    case 'vector':
      if (vector === undefined) return undefined
      return {
        name: 'find',
        fields: {
          ...shown,
          sort: { [way.field]: vector },
          options: { limit, includeSimilarity: true },
        },
      }
    case 'words':
      if (!hasText) return undefined
      return {
        name: 'find',
        fields: { ...shown, sort: { [way.field]: text }, options: { limit } },
      }
    case 'hybrid': {
      const hasService = place.options.vector?.service !== undefined
      if (!hasText || (!hasService && vector === undefined)) return undefined
      const options = { limit, hybridLimits: Math.max(limit, 20), includeScores: true }
      return {
        name: 'findAndRerank',
        fields: hasService
          ? { ...shown, sort: { $hybrid: text }, options }
          : {
              ...shown,
              sort: { $hybrid: { $vector: vector, $lexical: text } },
              options: { ...options, rerankOn: '$lexical', rerankQuery: text },
            },
      }
    }
  }
}
