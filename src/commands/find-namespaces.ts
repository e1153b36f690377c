import { defineGeneralCommand } from './define.ts'
import { noOptions } from './fields.ts'

/** The older name of findKeyspaces; its answer has the older name too. */
export const findNamespaces = defineGeneralCommand({
  does: 'read',
  fields: { options: noOptions },

  async run(_fields, { engine }) {
    return { status: { namespaces: (await engine.listKeyspaces()).toSorted() } }
  },
})
