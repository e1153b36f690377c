import { insertDocuments, type Insertion } from '../collections/insert.ts'
import type { Value } from '../json/value.ts'
import { insertRows } from '../tables/write/insert-rows.ts'
import { insertErrors, replyInserted } from './replies/changed.ts'
import { defineCommand, type Reply } from './dispatch/define.ts'
import { flag, list, options } from './dispatch/fields.ts'
import { replyEachRow, replyInsertedRows } from './replies/inserted-rows.ts'

/** Inserts documents. An invalid document does not prevent the insertion of others. */
export const insertMany = defineCommand({
  does: 'write',
  fields: {
    documents: list((limits) => limits.insertManyMax),
    options: options({ ordered: flag(false), returnDocumentResponses: flag(false) }),
  },

  async collection({ documents: given, options }, { documents, caller, explain }) {
    const { ordered } = options
    const insertions = await insertDocuments(documents, given, ordered, caller, explain)
    return options.returnDocumentResponses
      ? replyEach(insertions)
      : replyInserted(insertions)
  },

  async table({ documents, options }, { rows, caller, explain }) {
    const { ordered } = options
    const insertions = await insertRows(rows, documents, ordered, caller, explain)
    return options.returnDocumentResponses
      ? replyEachRow(rows, insertions)
      : replyInsertedRows(rows, insertions)
  },
})

/**
 * The reply with one response per document. A response contains the position of its error in
 * `errors`.
 */
function replyEach(insertions: readonly Insertion[]): Reply {
  const errors = insertErrors(insertions)
  const documentResponses = insertions.map(({ id, outcome }) => {
    const response = new Map<string, Value>()
    if (id !== undefined) response.set('_id', id)
    if (outcome === 'done') return response.set('status', 'OK')
    if (outcome === 'skipped') return response.set('status', 'SKIPPED')
    return response.set('status', 'ERROR').set('errorsIdx', errors.indexOf(outcome))
  })
  return { status: { documentResponses }, errors }
}
