import { isObject } from '../json/value.ts'
import { replicationClasses, type Replication } from '../engine/schema.ts'
import { defineGeneralCommand } from './dispatch/define.ts'
import { mismatch, newName, options, violation, type Field } from './dispatch/fields.ts'
import { checkName } from './dispatch/new-names.ts'
import { done } from './dispatch/schema-change.ts'

/**
 * How many copies a keyspace keeps. Checked here, because a store that keeps one copy still
 * owes the caller a word about a typing error.
 */
const replication: Field<Replication | undefined> = {
  takes: { kind: 'object' },
  read(value, place) {
    if (value === undefined || value === null) return undefined
    if (!isObject(value)) return mismatch(place, value, 'an Object')
    const given = value.get('class')
    const strategy = replicationClasses.find((known) => known === given)
    if (strategy === undefined)
      violation(
        { ...place, field: `${place.field}.class` },
        given,
        `it is one of ${replicationClasses.join(', ')}`,
      )
    const counts = new Map<string, number>()
    for (const [name, copies] of value) {
      if (name === 'class') continue
      if (typeof copies !== 'number' || !Number.isSafeInteger(copies))
        mismatch({ ...place, field: `${place.field}.${name}` }, copies, 'an integer')
      counts.set(name, copies)
    }
    return strategy && { class: strategy, counts }
  },
}

/** Creates a keyspace; one that exists stays as it is. */
export const createKeyspace = defineGeneralCommand({
  does: 'create',
  onNamed: true,
  fields: { name: newName, options: options({ replication }) },

  async run({ name, options: { replication } }, { engine, limits }) {
    const checked = checkName('Keyspace', name, limits)
    return done(await engine.createKeyspace(checked, { replication }))
  },
})
