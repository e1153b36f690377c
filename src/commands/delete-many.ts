import { deleteDocuments } from '../collections/change-documents.ts'
import { selectDocuments } from '../collections/selection.ts'
import { isObject } from '../json/value.ts'
import { deleteRows } from '../tables/write/delete-rows.ts'
import { readKeyConditions } from '../tables/write/which-rows.ts'
import { replyDeleted } from './replies/changed.ts'
import { defineCommand } from './dispatch/define.ts'
import { clause, noOptions } from './dispatch/fields.ts'

/**
 * Deletes matching documents, up to a limit per call; without a filter, all documents. On
 * tables it deletes all matching rows.
 */
export const deleteMany = defineCommand({
  does: 'write',
  fields: { filter: clause, options: noOptions },

  async collection({ filter }, { documents, caller }) {
    const selection = selectDocuments(documents, { filter }, caller)
    if (filter === undefined || (isObject(filter) && filter.size === 0)) {
      await documents.engine.truncate(documents.collection, caller)
      // -1 means that the number is unknown: emptying a collection takes constant time because no
      // documents are counted.
      return { status: { deletedCount: -1 } }
    }
    const changed = await deleteDocuments(documents, selection, caller)
    const reply = replyDeleted(changed)
    return changed.more ? { ...reply, status: { ...reply.status, moreData: true } } : reply
  },

  async table({ filter }, { rows, caller }) {
    const conditions = readKeyConditions(rows, filter)
    if (conditions === undefined) await rows.engine.truncate(rows.table, caller)
    else await deleteRows(rows, conditions, caller)
    return { status: { deletedCount: -1 } }
  },
})
