import { updateDocuments } from '../collections/change-documents.ts'
import { selectDocuments } from '../collections/selection.ts'
import { parseUpdate } from '../language/updates/parse-update.ts'
import { replyUpdated } from './replies/changed.ts'
import { defineCommand } from './dispatch/define.ts'
import { clause, flag, options, requiredUpdate, text } from './dispatch/fields.ts'

/** Updates matching documents, one page per call. */
export const updateMany = defineCommand({
  does: 'write',
  fields: {
    filter: clause,
    update: requiredUpdate,
    options: options({ upsert: flag(false), pageState: text }),
  },

  async collection({ filter, update, options }, { documents, limits, caller }) {
    const selection = selectDocuments(documents, { filter }, caller)
    const parsed = parseUpdate(update, limits)
    const changed = await updateDocuments(documents, selection, parsed, options, caller)
    const reply = replyUpdated(changed)
    const { nextPageState } = changed
    if (nextPageState === undefined) return reply
    return { ...reply, status: { ...reply.status, moreData: true, nextPageState } }
  },
})
