import { findDocuments } from '../collections/find-documents.ts'
import { selectDocuments } from '../collections/selection.ts'
import { apiError } from '../errors/api-error.ts'
import type { Limits } from '../limits.ts'
import type { Sort } from '../language/sorts/sort.ts'
import { findRows } from '../tables/read/find-rows.ts'
import { defineCommand } from './dispatch/define.ts'
import {
  alias,
  clauseOrNull,
  clause,
  flag,
  fraction,
  integer,
  lexicalOperator,
  options,
  text,
} from './dispatch/fields.ts'
import { printFound } from './replies/found-rows.ts'
import { sortVectorStatus } from './replies/sort-vector.ts'

/** Finds documents or rows, one page per call. */
export const find = defineCommand({
  does: 'read',
  fields: {
    filter: clause,
    projection: clauseOrNull,
    sort: clause,
    options: options({
      limit: integer({ min: 1 }),
      skip: integer({ min: 0 }),
      pageState: text,
      pagingState: alias(text),
      includeSimilarity: flag(false),
      includeSortVector: flag(false),
      lexicalOperator,
      minSimilarity: fraction,
      diversity: fraction,
    }),
  },

  async collection({ filter, sort, projection, options }, { documents, limits, caller }) {
    const { skip, limit, lexicalOperator } = options
    const clauses = { filter, sort, projection, lexicalOperator }
    const selection = selectDocuments(documents, clauses, caller)
    const pageState = options.pageState ?? options.pagingState
    checkPaging(selection.sort, { skip, limit, pageState }, limits)
    const { includeSortVector } = options
    const wanted = { ...options, pageState }
    const page = await findDocuments(documents, selection, wanted, caller)
    const { documents: texts, nextPageState, warnings } = page
    return {
      data: { documents: texts, nextPageState },
      ...(includeSortVector && sortVectorStatus(page)),
      ...(warnings !== undefined && { warnings }),
    }
  },

  async table({ filter, sort, projection, options }, { rows, caller }) {
    const { skip, includeSortVector } = options
    if (skip !== undefined && sort === undefined)
      throw invalid('skip', skip, 'skip requires a sort')
    const pageState = options.pageState ?? options.pagingState
    const wanted = { ...options, pageState }
    const found = await findRows(rows, { filter, sort, projection }, wanted, caller)
    const { documents, nextPageState } = found
    return { data: { documents, nextPageState }, ...printFound(found, includeSortVector) }
  },
})

interface Paging {
  readonly skip: number | undefined
  readonly limit: number | undefined
  readonly pageState: string | undefined
}

/**
 * Rejects paging options that the sort does not support. Only a sort by values supports skip. A
 * vector search returns a single page, so its limit is bounded and it accepts no page state.
 */
function checkPaging(sort: Sort, { skip, limit, pageState }: Paging, limits: Limits): void {
  switch (sort.kind) {
    case 'values':
      if (sort.keys.length === 0 && skip !== undefined)
        throw invalid('skip', skip, 'skip requires a sort')
      return
    case 'vector':
    case 'vectorize':
      if (skip !== undefined)
        throw invalid('skip', skip, `a sort by $${sort.kind} does not support skip`)
      if (limit !== undefined && limit > limits.vectorLimitMax)
        throw invalid(
          'limit',
          limit,
          `a sort by $${sort.kind} returns at most ${limits.vectorLimitMax} documents`,
        )
      if (pageState)
        throw apiError('SORT_CLAUSE_INVALID', {
          reason: 'onePage',
          by: `A sort by $${sort.kind}`,
        })
      return
    case 'lexical':
      if (skip !== undefined && skip > 0)
        throw invalid('skip', skip, 'a sort by $lexical does not support skip')
  }
}

function invalid(option: string, value: number, reason: string) {
  const field = `command.options.${option}`
  return apiError('COMMAND_FIELD_VALUE_INVALID', { field, value: String(value), reason })
}
