import { insertDocuments } from '../collections/insert.ts'
import type { Value } from '../json/value.ts'
import { insertRows } from '../tables/write/insert-rows.ts'
import { replyInserted } from './replies/changed.ts'
import { defineCommand } from './dispatch/define.ts'
import { noOptions, type Field } from './dispatch/fields.ts'
import { violation } from '../options/read-value.ts'
import { replyInsertedRows } from './replies/inserted-rows.ts'

/** The document to insert. It is required; null is rejected as an invalid document. */
const document: Field<Value> = {
  takes: { kind: 'object', required: true },
  read(value, place) {
    if (value === undefined) violation(place, value, 'it is required')
    return value ?? null
  },
}

/**
 * Inserts one document. On failure the reply has errors and an empty list of ids. Inserting a
 * row with an existing key updates that row.
 */
export const insertOne = defineCommand({
  does: 'write',
  fields: { document, options: noOptions },

  async collection({ document }, { documents, caller }) {
    return replyInserted(await insertDocuments(documents, [document], true, caller))
  },

  async table({ document }, { rows, caller }) {
    return replyInsertedRows(rows, await insertRows(rows, [document], true, caller))
  },
})
