import type { Value } from '../json/value.ts'
import { replyInserted } from './changed.ts'
import { defineCommand } from './define.ts'
import { noOptions, violation, type Field } from './fields.ts'

/** Required; null is a document that is none, and is answered as such. */
const document: Field<Value> = {
  read(value, place) {
    if (value === undefined) violation(place, value, 'it is required')
    return value ?? null
  },
}

/** Inserts one document. What is wrong with it stands beside an empty list of ids. */
export const insertOne = defineCommand({
  does: 'write',
  fields: { document, options: noOptions },

  async collection({ document }, { documents, signal }) {
    return replyInserted(await documents.insert([document], { ordered: true }, signal))
  },
})
