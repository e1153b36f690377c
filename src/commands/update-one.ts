import { parseUpdate } from '../query/parse-update.ts'
import { replyUpdated } from './changed.ts'
import { defineCommand } from './define.ts'
import { clause, flag, options, requiredUpdate } from './fields.ts'

/** Updates the first document that matches. */
export const updateOne = defineCommand({
  does: 'write',
  fields: {
    filter: clause,
    sort: clause,
    update: requiredUpdate,
    options: options({ upsert: flag(false) }),
  },

  async collection({ filter, sort, update, options }, { documents, limits, signal }) {
    const selection = documents.select({ filter, sort })
    const parsed = parseUpdate(update, limits)
    return replyUpdated(await documents.updateOne(selection, parsed, options, signal))
  },
})
