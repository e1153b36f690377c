import { defineKeyspaceCommand } from './dispatch/define.ts'
import { noOptions, requiredText } from './dispatch/fields.ts'
import { changeSchema } from './dispatch/schema-change.ts'

/** Deletes a collection and all it holds. What is absent, or a table, is left as it is. */
export const deleteCollection = defineKeyspaceCommand({
  does: 'drop',
  onNamed: true,
  fields: { name: requiredText, options: noOptions },

  async run({ name }, context) {
    return changeSchema(context, ({ targets }) => {
      const target = targets.find((candidate) => candidate.name === name)
      return target?.kind === 'collection' ? { kind: 'dropTarget', name } : undefined
    })
  },
})
