/** An index for vector searches. */
import type { Column, Table, TableVectorIndex } from '../../engine/schema.ts'
import { apiError } from '../../errors/api-error.ts'
import { refuseUnknownKeys, textIn, type Section } from '../../options/option-section.ts'
import { metricOf, metrics, sourceModels } from '../../options/vector-choices.ts'
import { factsOf, showColumn } from './show-column.ts'

export interface GivenVectorIndex {
  readonly column: string
  readonly metric: string | undefined
  readonly sourceModel: string | undefined
}

export function readVectorIndex(column: string, options: Section): GivenVectorIndex {
  refuseUnknownKeys(options, 'COMMAND_FIELD_UNKNOWN', ['metric', 'sourceModel'])
  return {
    column,
    metric: textIn(options, 'metric'),
    sourceModel: textIn(options, 'sourceModel'),
  }
}

export function resolveVectorIndex(
  table: Table,
  column: Column,
  given: GivenVectorIndex,
): Pick<TableVectorIndex, 'metric' | 'sourceModel'> {
  if (column.type.type !== 'vector')
    throw apiError('UNSUPPORTED_VECTOR_INDEX_FOR_DATA_TYPES', {
      ...factsOf(table),
      column: showColumn(column),
    })
  const sourceModel = chosen(sourceModels, given.sourceModel, 'UNKNOWN_VECTOR_SOURCE_MODEL')
  const metric = chosen(metrics, given.metric, 'UNKNOWN_VECTOR_METRIC')
  return {
    metric: metric ?? metricOf(sourceModel ?? 'other'),
    sourceModel: sourceModel ?? 'other',
  }
}

function chosen<const Choice extends string>(
  known: readonly Choice[],
  used: string | undefined,
  code: 'UNKNOWN_VECTOR_METRIC' | 'UNKNOWN_VECTOR_SOURCE_MODEL',
): Choice | undefined {
  if (used === undefined) return undefined
  const found = known.find((choice) => choice === used.toLowerCase())
  if (found === undefined) throw apiError(code, { known, used })
  return found
}
