import { defineCommand } from './define.ts'
import { clauseOrNull, clause, flag, options } from './fields.ts'
import { tellSortVector } from './sort-vector.ts'

/** Finds the first document that matches, in the order of the sort. */
export const findOne = defineCommand({
  does: 'read',
  fields: {
    filter: clause,
    projection: clauseOrNull,
    sort: clause,
    options: options({ includeSimilarity: flag(false), includeSortVector: flag(false) }),
  },

  async collection({ filter, sort, projection, options }, { documents, signal }) {
    const selection = documents.select({ filter, sort, projection })
    const found = await documents.findOne(selection, options, signal)
    const data = { document: found.document }
    return { data, ...(options.includeSortVector && tellSortVector(found)) }
  },
})
