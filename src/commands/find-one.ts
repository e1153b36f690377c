import { findDocument } from '../collections/find-documents.ts'
import { selectDocuments } from '../collections/selection.ts'
import { wholeText } from '../json/long-text.ts'
import { findRows } from '../tables/read/find-rows.ts'
import { defineCommand } from './dispatch/define.ts'
import {
  clauseOrNull,
  clause,
  flag,
  fraction,
  lexicalOperator,
  options,
} from './dispatch/fields.ts'
import { printFound } from './replies/found-rows.ts'
import { sortVectorStatus } from './replies/sort-vector.ts'

/** Returns the first matching document or row, in the order of the sort. */
export const findOne = defineCommand({
  does: 'read',
  fields: {
    filter: clause,
    projection: clauseOrNull,
    sort: clause,
    options: options({
      includeSimilarity: flag(false),
      includeSortVector: flag(false),
      lexicalOperator,
      minSimilarity: fraction,
      diversity: fraction,
    }),
  },

  async collection({ filter, sort, projection, options }, { documents, caller }) {
    const { lexicalOperator } = options
    const clauses = { filter, sort, projection, lexicalOperator }
    const selection = selectDocuments(documents, clauses, caller)
    const found = await findDocument(documents, selection, options, caller)
    const data = { document: found.document }
    return options.includeSortVector ? { data, ...sortVectorStatus(found) } : { data }
  },

  async table({ filter, sort, projection, options }, { rows, caller }) {
    const { includeSortVector } = options
    const wanted = { ...options, limit: 1 }
    const found = await findRows(rows, { filter, sort, projection }, wanted, caller)
    const data = { document: wholeText(found.documents) || null }
    return { data, ...printFound(found, includeSortVector) }
  },
})
