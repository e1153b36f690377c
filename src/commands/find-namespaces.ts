import { defineGeneralCommand } from './dispatch/define.ts'
import { noOptions } from './dispatch/fields.ts'
import { replyKeyspaces } from './find-keyspaces.ts'

/** Deprecated name of findKeyspaces. Its reply lists the keyspaces as `namespaces`. */
export const findNamespaces = defineGeneralCommand({
  does: 'describe',
  fields: { options: noOptions },
  run: (_fields, context) => replyKeyspaces('namespaces', context),
})
