/** An index for searches by terms. */
import type { Column, Table, TextIndex } from '../../engine/schema.ts'
import { apiError } from '../../errors/api-error.ts'
import { toPlain } from '../../json/plain.ts'
import { isObject, jsonTypeOf, type Value } from '../../json/value.ts'
import { memberOf, refuseUnknownKeys, type Section } from '../../options/option-section.ts'
import type { Limits } from '../../limits.ts'
import { defaultAnalyzer, findAnalyzerProblem } from '../../search/lexical/recipe.ts'
import type { Deadline } from '../../runtime/deadline.ts'
import { atOnce, inTurns } from '../../runtime/steps.ts'
import { factsOf, showColumn } from './show-column.ts'

export interface GivenTextIndex {
  readonly column: string
  /** The requested analyzer. Null and {} count as absent. */
  readonly analyzer: Value | undefined
}

export function readTextIndex(column: string, options: Section): GivenTextIndex {
  refuseUnknownKeys(options, 'COMMAND_FIELD_UNKNOWN', ['analyzer'])
  const analyzer = memberOf(options, 'analyzer')
  const isEmpty = isObject(analyzer) && analyzer.size === 0
  return { column, analyzer: isEmpty ? undefined : analyzer }
}

/**
 * Compiles the analyzer in steps. `resolveTextIndex` is synchronous: it uses the compiled
 * analyzer and reports its errors.
 */
export async function prepareTextIndex(
  { analyzer = defaultAnalyzer }: GivenTextIndex,
  limits: Limits,
  deadline: Deadline,
): Promise<void> {
  await inTurns(findAnalyzerProblem(analyzer, limits), deadline)
}

export function resolveTextIndex(
  table: Table,
  column: Column,
  { analyzer = defaultAnalyzer }: GivenTextIndex,
  limits: Limits,
): Pick<TextIndex, 'analyzer'> {
  const { type } = column.type
  if (type !== 'text' && type !== 'ascii')
    throw apiError('UNSUPPORTED_TEXT_INDEX_FOR_DATA_TYPES', {
      ...factsOf(table),
      column: showColumn(column),
    })
  if (typeof analyzer !== 'string' && !isObject(analyzer))
    throw apiError('UNSUPPORTED_JSON_TYPE_FOR_TEXT_INDEX', { type: jsonTypeOf(analyzer) })
  const problem = atOnce(findAnalyzerProblem(analyzer, limits))
  if (problem !== undefined)
    throw apiError('INVALID_CREATE_COLLECTION_OPTIONS', {
      reason: 'analyzer',
      where: '',
      problem,
    })
  return { analyzer: toPlain(analyzer) }
}
