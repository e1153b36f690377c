import { insertDocuments } from '../collections/insert.ts'
import type { Value } from '../json/value.ts'
import { insertRows } from '../tables/write/insert-rows.ts'
import { replyInserted } from './replies/changed.ts'
import { defineCommand } from './dispatch/define.ts'
import { noOptions, type Field } from './dispatch/fields.ts'
import { violation } from '../options/read-value.ts'
import { replyInsertedRows } from './replies/inserted-rows.ts'

/** Required; null is a document that is none, and is answered as such. */
const document: Field<Value> = {
  takes: { kind: 'object', required: true },
  read(value, place) {
    if (value === undefined) violation(place, value, 'it is required')
    return value ?? null
  },
}

/**
 * Inserts one document. What is wrong with it stands beside an empty list of ids. A row that
 * is there already takes what is given.
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
