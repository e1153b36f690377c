import { replicationClasses, type Replication } from '../engine/schema.ts'
import { defineGeneralCommand } from './dispatch/define.ts'
import { newName, options, type Field } from './dispatch/fields.ts'
import { mismatch, readObject, violation } from '../options/read-value.ts'
import { checkName } from './dispatch/new-names.ts'
import { done } from './dispatch/schema-change.ts'

/**
 * Replication settings of a keyspace. The embedded engine does not use them, but validates them, so
 * that mistakes are reported.
 */
const replication: Field<Replication | undefined> = {
  takes: { kind: 'object' },
  read(value, place) {
    const members = readObject(value, place)
    if (members === undefined) return undefined
    const given = members.get('class')
    const strategy = replicationClasses.find((known) => known === given)
    if (strategy === undefined)
      violation(
        { ...place, field: `${place.field}.class` },
        given,
        `it must be one of ${replicationClasses.join(', ')}`,
      )
    const counts = new Map<string, number>()
    for (const [name, copies] of members) {
      if (name === 'class') continue
      if (typeof copies !== 'number' || !Number.isSafeInteger(copies))
        mismatch({ ...place, field: `${place.field}.${name}` }, copies, 'an integer')
      counts.set(name, copies)
    }
    return strategy && { class: strategy, counts }
  },
}

/** Creates a keyspace. Succeeds without a change if the keyspace exists. */
export const createKeyspace = defineGeneralCommand({
  does: 'create',
  onNamed: true,
  fields: { name: newName, options: options({ replication }) },

  async run({ name, options: { replication } }, { engine, limits, caller }) {
    const checked = checkName('Keyspace', name, limits)
    return done(await engine.createKeyspace(checked, { replication }, caller))
  },
})
