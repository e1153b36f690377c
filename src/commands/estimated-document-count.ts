import { defineCommand } from './dispatch/define.ts'
import { noOptions } from './dispatch/fields.ts'

/** Returns an estimate of the number of documents, in constant time. */
export const estimatedDocumentCount = defineCommand({
  does: 'read',
  fields: { options: noOptions },

  async collection(_fields, { documents }) {
    return { status: { count: await documents.engine.estimateCount(documents.collection) } }
  },
})
