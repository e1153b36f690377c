import { updateDocument } from '../collections/change-documents.ts'
import { selectDocuments } from '../collections/selection.ts'
import { parseUpdate } from '../language/updates/parse-update.ts'
import { replyReturned, returnOptions } from './replies/changed.ts'
import { defineCommand } from './dispatch/define.ts'
import { clause, clauseOrNull, requiredUpdate } from './dispatch/fields.ts'

/** Updates the first matching document, and returns it before or after the update. */
export const findOneAndUpdate = defineCommand({
  does: 'change',
  fields: {
    filter: clause,
    sort: clause,
    projection: clauseOrNull,
    update: requiredUpdate,
    options: returnOptions,
  },

  async collection(
    { filter, sort, projection, update, options },
    { documents, limits, caller },
  ) {
    const { lexicalOperator } = options
    const clauses = { filter, sort, projection, lexicalOperator }
    const selection = selectDocuments(documents, clauses, caller)
    const parsed = parseUpdate(update, limits)
    const changed = await updateDocument(documents, selection, parsed, options, caller)
    return replyReturned(changed, options, selection, caller)
  },
})
