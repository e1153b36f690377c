import { databaseKeyOf } from '../engine/database-key.ts'
import type { Limits } from '../limits.ts'

/**
 * Whether the value can be the name of a new keyspace, by the rule of `createKeyspace`. Names that
 * start with the key of a database are reserved.
 */
export function isKeyspaceName(value: unknown, { nameLengthMax }: Limits): value is string {
  return (
    typeof value === 'string' &&
    value.length <= nameLengthMax &&
    /^\w+$/.test(value) &&
    databaseKeyOf(value) === ''
  )
}
