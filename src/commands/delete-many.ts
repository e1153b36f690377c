import { isObject } from '../json/value.ts'
import { replyDeleted } from './changed.ts'
import { defineCommand } from './define.ts'
import { clause, noOptions } from './fields.ts'

/** Deletes documents that match, up to a limit with each call; without a filter, all. */
export const deleteMany = defineCommand({
  does: 'write',
  fields: { filter: clause, options: noOptions },

  async collection({ filter }, { documents, signal }) {
    const selection = documents.select({ filter })
    if (filter === undefined || (isObject(filter) && filter.size === 0)) {
      await documents.deleteAll()
      // How many there were is not counted: emptying a collection takes no time.
      return { status: { deletedCount: -1 } }
    }
    const changed = await documents.deleteMany(selection, signal)
    const reply = replyDeleted(changed)
    return changed.more ? { ...reply, status: { ...reply.status, moreData: true } } : reply
  },
})
