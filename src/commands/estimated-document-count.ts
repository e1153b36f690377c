import { defineCommand } from './dispatch/define.ts'
import { noOptions } from './dispatch/fields.ts'

/** Counts all documents, roughly and at once. */
export const estimatedDocumentCount = defineCommand({
  does: 'read',
  fields: { options: noOptions },

  async collection(_fields, { documents }) {
    return { status: { count: await documents.engine.estimateCount(documents.collection) } }
  },
})
