import { defineKeyspaceCommand } from './dispatch/define.ts'
import { noOptions, requiredText } from './dispatch/fields.ts'
import { done } from './dispatch/schema-change.ts'

/** Deletes a collection and all it holds. What is absent, or a table, is left as it is. */
export const deleteCollection = defineKeyspaceCommand({
  does: 'drop',
  onNamed: true,
  fields: { name: requiredText, options: noOptions },

  async run({ name }, { engine, keyspace }) {
    const target = await engine.findTarget(keyspace, name)
    return done(target?.kind === 'collection' && (await engine.dropTarget(target)))
  },
})
