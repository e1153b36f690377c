import { deleteDocument } from '../collections/change-documents.ts'
import { selectDocuments } from '../collections/selection.ts'
import { replyDeleted, withDocument } from './replies/changed.ts'
import { defineCommand } from './dispatch/define.ts'
import { clauseOrNull, clause } from './dispatch/fields.ts'

/** Deletes the first matching document and returns it. */
export const findOneAndDelete = defineCommand({
  does: 'change',
  fields: { filter: clause, sort: clause, projection: clauseOrNull },

  async collection({ filter, sort, projection }, { documents, caller }) {
    const selection = selectDocuments(documents, { filter, sort, projection }, caller)
    const changed = await deleteDocument(documents, selection, caller)
    return withDocument(replyDeleted(changed), changed.before, selection.projection, caller)
  },
})
