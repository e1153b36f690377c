import { databaseKeyOf } from '../engine/database-key.ts'
import type { Limits } from '../limits.ts'

/** The rule that the Data API has for the names of what is created. */
export function isKeyspaceName(value: unknown, { nameLengthMax }: Limits): value is string {
  return (
    typeof value === 'string' &&
    value.length <= nameLengthMax &&
    /^\w+$/.test(value) &&
    databaseKeyOf(value) === ''
  )
}
