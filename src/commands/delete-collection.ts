import { findNamed } from '../engine/schema.ts'
import { defineKeyspaceCommand } from './dispatch/define.ts'
import { noOptions, requiredText } from './dispatch/fields.ts'
import { changeSchema } from './dispatch/schema-change.ts'

/**
 * Deletes a collection with its documents. Does nothing if no collection has the name, even if a
 * table has it.
 */
export const deleteCollection = defineKeyspaceCommand({
  does: 'drop',
  onNamed: true,
  fields: { name: requiredText, options: noOptions },

  async run({ name }, context) {
    return changeSchema(context, (schema) =>
      findNamed(schema, name)?.kind === 'collection'
        ? { kind: 'dropTarget', name }
        : undefined,
    )
  },
})
