import { defineGeneralCommand, type Context, type Reply } from './dispatch/define.ts'
import { noOptions } from './dispatch/fields.ts'
import { replyList } from './replies/listed.ts'

/** Lists the keyspaces that are visible to the principal. */
export const findKeyspaces = defineGeneralCommand({
  does: 'describe',
  fields: { options: noOptions },
  run: (_fields, context) => replyKeyspaces('keyspaces', context),
})

/** Replies with the visible keyspaces. `name` is the status member that contains the list. */
export async function replyKeyspaces(name: string, context: Context): Promise<Reply> {
  const { engine, may } = context
  const all = await engine.listKeyspaces()
  const visible = all.filter((keyspace) => may('describe', { keyspace })).toSorted()
  return replyList(name, visible, (keyspace) => keyspace, context, 'keyspaces')
}
