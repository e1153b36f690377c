import { defineGeneralCommand } from './dispatch/define.ts'
import { noOptions } from './dispatch/fields.ts'
import { visibleKeyspaces } from './find-keyspaces.ts'

/** The older name of findKeyspaces; its answer has the older name too. */
export const findNamespaces = defineGeneralCommand({
  does: 'describe',
  fields: { options: noOptions },

  async run(_fields, context) {
    return { status: { namespaces: await visibleKeyspaces(context) } }
  },
})
