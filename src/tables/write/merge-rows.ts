/** Merges rows and reports the outcome of each. */
import type { Caller } from '../../caller/caller.ts'
import type { MergeOutcome, RowMerge } from '../../engine/contract.ts'
import { EngineError } from '../../engine/errors.ts'
import { ApiError, apiError } from '../../errors/api-error.ts'
import type { Column } from '../../language/columns/column.ts'
import { analyzerFor, termsWithin } from '../../search/lexical/analyzer.ts'
import { labelOf } from '../column-label.ts'
import type { RowStore } from '../row-store.ts'

export type RowOutcome = 'done' | 'skipped' | ApiError | EngineError

/**
 * Merges rows. Errors of single rows are in the result. With `ordered`, rows after the first error
 * are skipped.
 */
export async function mergeRows(
  store: RowStore,
  merges: readonly RowMerge[],
  ordered: boolean,
  caller: Caller,
): Promise<readonly RowOutcome[]> {
  if (merges.length === 0) return []
  const analyzed = await analyzeTexts(store, merges, caller)
  const failed = analyzed.findIndex((merge) => merge instanceof ApiError)
  const attempted = ordered && failed >= 0 ? analyzed.slice(0, failed) : analyzed
  const good = attempted.filter((merge): merge is RowMerge => !(merge instanceof ApiError))
  const options = { ordered, caller, sizeMax: store.limits.documentLengthMax }
  const outcomes =
    good.length === 0 ? [] : await store.engine.mergeRows(store.table, good, options)
  let next = 0
  let isStopped = false
  return analyzed.map((merge): RowOutcome => {
    if (isStopped) return 'skipped'
    const outcome = merge instanceof ApiError ? merge : outcomeOf(outcomes[next++]!, store)
    isStopped = ordered && outcome !== 'done'
    return outcome
  })
}

function outcomeOf(outcome: MergeOutcome, { name, limits }: RowStore): RowOutcome {
  if (typeof outcome === 'string' || outcome instanceof EngineError) return outcome
  return apiError('SHRED_DOC_LIMIT_VIOLATION', {
    what: `The number of characters of the row of ${name}`,
    actual: outcome.tooLarge,
    max: limits.documentLengthMax,
  })
}

/**
 * Analyzes the texts of columns that have a text index. In place of a row whose text has too many
 * terms, the result has an error.
 */
async function analyzeTexts(
  store: RowStore,
  merges: readonly RowMerge[],
  caller: Caller,
): Promise<readonly (RowMerge | ApiError)[]> {
  const columns = [...store.columns.values()].filter(
    (column) => store.analyzerOf(column) !== undefined,
  )
  if (columns.length === 0) return merges
  const budget = caller.analysis
  const analyzed: (RowMerge | ApiError)[] = []
  for (const merge of merges) {
    const pause = budget.nextText()
    if (pause !== undefined) await pause
    try {
      analyzed.push(withTerms(store, merge, columns, caller))
    } catch (error) {
      caller.check()
      if (!(error instanceof ApiError)) throw error
      analyzed.push(error)
    }
  }
  return analyzed
}

function withTerms(
  store: RowStore,
  merge: RowMerge,
  columns: readonly Column[],
  caller: Caller,
): RowMerge {
  const { limits, name: target } = store
  const bounds = { sizeMax: limits.lexicalSizeMax, budget: caller.analysis }
  const made = new Map<string, readonly string[]>()
  for (const column of columns) {
    const text = merge.values.get(column)
    if (typeof text !== 'string') continue
    const terms = termsWithin(analyzerFor(store.analyzerOf(column)), text, bounds)
    if (terms === undefined)
      throw apiError('ROW_TEXT_TOO_LONG', {
        target,
        column: labelOf(column),
        max: limits.lexicalSizeMax,
      })
    made.set(column.name, terms)
  }
  return { ...merge, terms: ({ name }) => made.get(name)! }
}
