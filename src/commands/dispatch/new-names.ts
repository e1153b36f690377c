import { databaseKeyOf } from '../../engine/database-key.ts'
import { apiError } from '../../errors/api-error.ts'
import type { Limits } from '../../limits.ts'
import { summarizeValue } from '../../options/read-value.ts'

/** Checks the name of a new object; throws when it is invalid. */
export function checkName(
  kind: 'Keyspace' | 'Collection' | 'Table' | 'Index' | 'Udt',
  name: string | undefined,
  limits: Limits,
): string {
  const max = kind === 'Index' ? limits.indexNameLengthMax : limits.nameLengthMax
  const refusal = (note: string) =>
    apiError('UNSUPPORTED_SCHEMA_NAME', { kind, name: summarizeValue(name), max, note })
  if (name === undefined || name.length > max || !/^\w+$/.test(name)) throw refusal('')
  const key = kind === 'Keyspace' ? databaseKeyOf(name) : ''
  if (key !== '')
    throw refusal(`Names that start with "${key}" are reserved for another database.`)
  return name
}
