import { isObject } from '../json/value.ts'
import { defineGeneralCommand } from './dispatch/define.ts'
import { mismatch, newName, options, violation, type Field } from './dispatch/fields.ts'
import { checkName } from './dispatch/new-names.ts'
import { done } from './dispatch/schema-change.ts'

const replicationClasses = ['SimpleStrategy', 'NetworkTopologyStrategy']

/**
 * How many copies a keyspace keeps. Checked, because a store that keeps one copy still owes
 * the caller a word about a typing error, and otherwise without effect.
 */
const replication: Field<undefined> = {
  takes: { kind: 'object' },
  read(value, place) {
    if (value === undefined || value === null) return undefined
    if (!isObject(value)) return mismatch(place, value, 'an Object')
    const strategy = value.get('class')
    if (typeof strategy !== 'string' || !replicationClasses.includes(strategy))
      violation(
        { ...place, field: `${place.field}.class` },
        strategy,
        `it is one of ${replicationClasses.join(', ')}`,
      )
    for (const [name, copies] of value)
      if (name !== 'class' && !Number.isSafeInteger(copies))
        mismatch({ ...place, field: `${place.field}.${name}` }, copies, 'an integer')
    return undefined
  },
}

/** Creates a keyspace; one that exists stays as it is. */
export const createKeyspace = defineGeneralCommand({
  does: 'create',
  onNamed: true,
  fields: { name: newName, options: options({ replication }) },

  async run({ name }, { engine, limits }) {
    return done(await engine.createKeyspace(checkName('Keyspace', name, limits)))
  },
})
