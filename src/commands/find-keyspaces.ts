import { defineGeneralCommand } from './define.ts'
import { noOptions } from './fields.ts'

/** Names all keyspaces. */
export const findKeyspaces = defineGeneralCommand({
  does: 'read',
  fields: { options: noOptions },

  async run(_fields, { engine }) {
    return { status: { keyspaces: (await engine.listKeyspaces()).toSorted() } }
  },
})
