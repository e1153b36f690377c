/** Statements that define user-defined types. */
import type { UserField, UserType } from '../../../language/columns/column-type.ts'
import type { TypeAlteration } from '../../schema-change.ts'
import { EngineError } from '../../errors.ts'
import { quoteName, quoteTarget } from '../cluster/statement.ts'

export function createType(keyspace: string, { name, fields }: UserType): string {
  const printed = fields.map(printField).join(', ')
  return `CREATE TYPE ${quoteTarget({ keyspace, name })} (${printed})`
}

/**
 * Statements that alter a type, in the order in which they must run: Cassandra alters one field at
 * a time.
 */
export function alterType(
  keyspace: string,
  name: string,
  { renamed, added }: TypeAlteration,
): readonly string[] {
  const alter = `ALTER TYPE ${quoteTarget({ keyspace, name })}`
  return [
    ...renamed.map(
      ([from, to]) => `${alter} RENAME ${quoteName(from)} TO ${printFieldName(to)}`,
    ),
    ...added.map((field) => `${alter} ADD ${printField(field)}`),
  ]
}

export function dropType(keyspace: string, name: string): string {
  return `DROP TYPE IF EXISTS ${quoteTarget({ keyspace, name })}`
}

function printField({ name, type }: UserField): string {
  return `${printFieldName(name)} ${type}`
}

/** The field name whose value the driver loses when it reads a user-defined type. */
export const lostField = '__proto__'

function printFieldName(name: string): string {
  if (name === lostField)
    throw new EngineError(
      'unsupported',
      `a field of a type cannot be named ${lostField} on a cluster. Choose another name`,
    )
  return quoteName(name)
}
