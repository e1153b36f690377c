import { replyDeleted } from './changed.ts'
import { defineCommand } from './define.ts'
import { clause, noOptions, requiredClause } from './fields.ts'

/** Deletes the first document that matches. */
export const deleteOne = defineCommand({
  does: 'write',
  fields: { filter: requiredClause, sort: clause, options: noOptions },

  async collection({ filter, sort }, { documents, signal }) {
    const selection = documents.select({ filter, sort })
    return replyDeleted(await documents.deleteOne(selection, signal))
  },
})
