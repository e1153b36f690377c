import { apiError } from '../errors/api-error.ts'
import type { Limits } from '../limits.ts'
import { showValue } from './fields.ts'

/** The name for something new; throws when it cannot be one. */
export function checkName(
  kind: 'Keyspace' | 'Collection',
  name: string | undefined,
  { nameLengthMax: max }: Limits,
): string {
  if (name === undefined || name.length > max || !/^\w+$/.test(name))
    throw apiError('UNSUPPORTED_SCHEMA_NAME', { kind, name: showValue(name), max })
  return name
}
