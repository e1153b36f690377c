import { defineGeneralCommand, type Context } from './dispatch/define.ts'
import { noOptions } from './dispatch/fields.ts'

/** Names all keyspaces that the one who asks may know of. */
export const findKeyspaces = defineGeneralCommand({
  does: 'describe',
  fields: { options: noOptions },

  async run(_fields, context) {
    return { status: { keyspaces: await visibleKeyspaces(context) } }
  },
})

export async function visibleKeyspaces({ engine, may }: Context): Promise<string[]> {
  const all = await engine.listKeyspaces()
  return all.filter((keyspace) => may('describe', { keyspace })).toSorted()
}
