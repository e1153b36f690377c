/** Lists names and types of a schema that a data folder supports and a cluster does not. */
import type { Column } from '../../../language/columns/column.ts'
import type { ElementType, UserTypes } from '../../../language/columns/column-type.ts'
import { fixedLimits } from '../../../limits.ts'
import type { KeyspaceSchema, Table } from '../../schema.ts'
import { isOfCluster } from './system-schema.ts'
import { lostField } from './type-ddl.ts'

/** CQL restricts the names of keyspaces and tables to these characters, even when quoted. */
const plainName = /^\w+$/

const keyspaceLengthMax = fixedLimits.clusterKeyspaceLengthMax

export function unsupportedFeatures(
  keyspace: string,
  { targets, types }: KeyspaceSchema,
  systemKeyspace: string,
): readonly string[] {
  return [
    ...problemOfKeyspace(keyspace, systemKeyspace),
    ...types
      .filter(({ fields }) => fields.some(({ name }) => name === lostField))
      .map(
        ({ name }) => `${keyspace}.${name}: a field of a type cannot be named ${lostField}`,
      ),
    ...targets.flatMap((target) => {
      const problems = [
        ...(plainName.test(target.name) ? [] : [`its name ${onlyPlain}`]),
        ...(target.kind === 'table' ? problemsOfTable(target) : []),
        ...(target.kind === 'collection' && target.options.vector?.memory !== undefined
          ? ['its option vector.memory has no effect on a cluster']
          : []),
      ]
      return problems.map((problem) => `${keyspace}.${target.name}: ${problem}`)
    }),
  ]
}

const onlyPlain = 'may contain only letters, digits and underscores'

function problemOfKeyspace(keyspace: string, systemKeyspace: string): readonly string[] {
  const say = (problem: string) => [`${keyspace}: ${problem}`]
  if (!plainName.test(keyspace)) return say(`the name of a keyspace ${onlyPlain}`)
  if (keyspace.length > keyspaceLengthMax)
    return say(
      `the name of the keyspace has ${keyspace.length} characters; the maximum is ` +
        `${keyspaceLengthMax}`,
    )
  if (keyspace === systemKeyspace)
    return say(
      'this is the system keyspace. Choose another system keyspace with --system-keyspace',
    )
  return isOfCluster(keyspace) ? say('the cluster reserves this name') : []
}

function problemsOfTable({ definition, types }: Table): readonly string[] {
  const { columns, indexes } = definition
  return [
    ...columns
      .filter((column) => hasUnorderedDurations(column, types))
      .map(
        ({ name }) =>
          `the column ${name} is a set of values that are or contain durations, which a ` +
          'cluster does not support because durations have no order',
      ),
    ...indexes
      .filter(({ column }) => !plainName.test(column))
      .map(
        ({ name, column }) =>
          `the index ${name} is on the column ${column}, whose name ${onlyPlain}`,
      ),
    ...indexes
      .filter(({ name }) => !plainName.test(name))
      .map(({ name }) => `the name of the index ${name} ${onlyPlain}`),
  ]
}

function hasUnorderedDurations({ type }: Column, types: UserTypes): boolean {
  return type.type === 'set' && hasDuration(type.valueType, types)
}

function hasDuration(element: ElementType, types: UserTypes): boolean {
  if (typeof element === 'string') return element === 'duration'
  const fields = types.find(({ name }) => name === element.udtName)?.fields ?? []
  return fields.some(({ type }) => type === 'duration')
}
