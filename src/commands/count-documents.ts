import { countMatches } from '../collections/find-documents.ts'
import { selectDocuments } from '../collections/selection.ts'
import { defineCommand } from './dispatch/define.ts'
import { clause, noOptions } from './dispatch/fields.ts'

/** Counts matching documents, up to a limit. */
export const countDocuments = defineCommand({
  does: 'read',
  fields: { filter: clause, options: noOptions },

  async collection({ filter }, { documents, limits, caller }) {
    const selection = selectDocuments(documents, { filter }, caller)
    // Counting one more than the limit shows whether more documents match.
    const count = await countMatches(
      documents,
      selection.filter,
      limits.countMax + 1,
      caller,
    )
    return count > limits.countMax
      ? { status: { count: limits.countMax, moreData: true } }
      : { status: { count } }
  },
})
