import { defineGeneralCommand } from './dispatch/define.ts'
import { noOptions, requiredText } from './dispatch/fields.ts'
import { done } from './dispatch/schema-change.ts'

/** Drops a keyspace with its contents; succeeds if it does not exist. */
export const dropKeyspace = defineGeneralCommand({
  does: 'drop',
  onNamed: true,
  fields: { name: requiredText, options: noOptions },

  async run({ name }, { engine, caller }) {
    return done(await engine.dropKeyspace(name, caller))
  },
})
