import { deleteDocument } from '../collections/change-documents.ts'
import { selectDocuments } from '../collections/selection.ts'
import { apiError } from '../errors/api-error.ts'
import { deleteRow } from '../tables/write/delete-rows.ts'
import { hasSort, readWholeKey } from '../tables/write/which-rows.ts'
import { replyDeleted } from './replies/changed.ts'
import { defineCommand } from './dispatch/define.ts'
import { clause, noOptions, requiredClause } from './dispatch/fields.ts'

/** Deletes the first matching document, or the row whose key the filter contains. */
export const deleteOne = defineCommand({
  does: 'write',
  fields: { filter: requiredClause, sort: clause, options: noOptions },

  async collection({ filter, sort }, { documents, caller }) {
    const selection = selectDocuments(documents, { filter, sort }, caller)
    return replyDeleted(await deleteDocument(documents, selection, caller))
  },

  /** The reply does not say whether the row existed. */
  async table({ filter, sort }, { rows, caller }) {
    if (hasSort(sort)) throw apiError('UNSUPPORTED_SORT_FOR_TABLE_DELETE_COMMAND')
    await deleteRow(rows, readWholeKey(rows, filter), caller)
    return { status: { deletedCount: -1 } }
  },
})
