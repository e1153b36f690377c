/** Statements that define user-defined types. */
import type { UserField, UserType } from '../../../language/columns/column-type.ts'
import type { TypeAlteration } from '../../schema-change.ts'
import { quoteName, quoteTarget } from '../cluster/statement.ts'

export function createType(keyspace: string, { name, fields }: UserType): string {
  const printed = fields.map(printField).join(', ')
  return `CREATE TYPE ${quoteTarget({ keyspace, name })} (${printed})`
}

/** One after the other: a cluster takes one field at a time. */
export function alterType(
  keyspace: string,
  name: string,
  { renamed, added }: TypeAlteration,
): readonly string[] {
  const alter = `ALTER TYPE ${quoteTarget({ keyspace, name })}`
  return [
    ...renamed.map(
      ([from, to]) => `${alter} RENAME ${quoteName(from)} TO ${quoteName(to)}`,
    ),
    ...added.map((field) => `${alter} ADD ${printField(field)}`),
  ]
}

export function dropType(keyspace: string, name: string): string {
  return `DROP TYPE IF EXISTS ${quoteTarget({ keyspace, name })}`
}

function printField({ name, type }: UserField): string {
  return `${quoteName(name)} ${type}`
}
