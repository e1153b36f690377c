import { databaseKeyOf } from '../engine/database-key.ts'
import type { Limits } from '../limits.ts'

/** Whether the value follows the Data API's rule for names of new objects. */
export function isKeyspaceName(value: unknown, { nameLengthMax }: Limits): value is string {
  return (
    typeof value === 'string' &&
    value.length <= nameLengthMax &&
    /^\w+$/.test(value) &&
    databaseKeyOf(value) === ''
  )
}
