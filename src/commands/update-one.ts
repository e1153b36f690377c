import { updateDocument } from '../collections/change-documents.ts'
import { selectDocuments } from '../collections/selection.ts'
import { apiError } from '../errors/api-error.ts'
import { parseUpdate } from '../language/updates/parse-update.ts'
import { inTurns } from '../runtime/steps.ts'
import { parseRowUpdate } from '../tables/write/parse-row-update.ts'
import { updateRow } from '../tables/write/update-row.ts'
import { hasSort, readWholeKey } from '../tables/write/which-rows.ts'
import { replyUpdated } from './replies/changed.ts'
import { defineCommand } from './dispatch/define.ts'
import {
  clause,
  flag,
  lexicalOperator,
  options,
  requiredUpdate,
} from './dispatch/fields.ts'

/** Updates the first matching document, or the row whose key the filter contains. */
export const updateOne = defineCommand({
  does: 'write',
  fields: {
    filter: clause,
    sort: clause,
    update: requiredUpdate,
    options: options({ upsert: flag(false), lexicalOperator }),
  },

  async collection({ filter, sort, update, options }, { documents, limits, caller }) {
    const { lexicalOperator } = options
    const clauses = { filter, sort, lexicalOperator }
    const selection = selectDocuments(documents, clauses, caller)
    const parsed = parseUpdate(update, limits)
    return replyUpdated(await updateDocument(documents, selection, parsed, options, caller))
  },

  /** Updates a row. The update is always an upsert and does not read the row. */
  async table({ filter, sort, update }, { rows, caller }) {
    if (hasSort(sort)) throw apiError('UNSUPPORTED_SORT_FOR_TABLE_UPDATE_COMMAND')
    const parsed = await inTurns(parseRowUpdate(rows, update), caller)
    await updateRow(rows, readWholeKey(rows, filter), parsed, caller)
    return { status: { matchedCount: 1, modifiedCount: 1 } }
  },
})
