import { replaceDocument } from '../collections/change-documents.ts'
import { selectDocuments } from '../collections/selection.ts'
import { replyReturned, returnOptions } from './replies/changed.ts'
import { defineCommand } from './dispatch/define.ts'
import { clause, clauseOrNull, requiredObject } from './dispatch/fields.ts'

/** Replaces the first matching document; the new document keeps its _id. */
export const findOneAndReplace = defineCommand({
  does: 'change',
  fields: {
    filter: clause,
    sort: clause,
    projection: clauseOrNull,
    replacement: requiredObject,
    options: returnOptions,
  },

  async collection(
    { filter, sort, projection, replacement, options },
    { documents, caller },
  ) {
    const { lexicalOperator } = options
    const clauses = { filter, sort, projection, lexicalOperator }
    const selection = selectDocuments(documents, clauses, caller)
    const changed = await replaceDocument(
      documents,
      selection,
      replacement,
      options,
      caller,
    )
    return replyReturned(changed, options, selection, caller)
  },
})
