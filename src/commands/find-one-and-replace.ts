import { replaceDocument } from '../collections/change-documents.ts'
import { selectDocuments } from '../collections/selection.ts'
import { replyUpdated, withDocument } from './replies/changed.ts'
import { defineCommand } from './dispatch/define.ts'
import {
  clauseOrNull,
  clause,
  flag,
  oneOf,
  options,
  requiredObject,
} from './dispatch/fields.ts'

/** Replaces the first document that matches by another, which takes over its _id. */
export const findOneAndReplace = defineCommand({
  does: 'change',
  fields: {
    filter: clause,
    sort: clause,
    projection: clauseOrNull,
    replacement: requiredObject,
    options: options({
      returnDocument: oneOf(['before', 'after'], 'before'),
      upsert: flag(false),
    }),
  },

  async collection(
    { filter, sort, projection, replacement, options },
    { documents, caller },
  ) {
    const selection = selectDocuments(documents, { filter, sort, projection }, caller)
    const changed = await replaceDocument(
      documents,
      selection,
      replacement,
      options,
      caller,
    )
    const reply = replyUpdated(changed)
    return withDocument(
      reply,
      changed[options.returnDocument],
      selection.projection,
      caller,
    )
  },
})
