import { apiError } from '../../errors/api-error.ts'
import type { Limits } from '../../limits.ts'
import { showValue } from './fields.ts'

/** The name for something new; throws when it cannot be one. */
export function checkName(
  kind: 'Keyspace' | 'Collection' | 'Table' | 'Index' | 'Udt',
  name: string | undefined,
  limits: Limits,
): string {
  const max = kind === 'Index' ? limits.indexNameLengthMax : limits.nameLengthMax
  if (name === undefined || name.length > max || !/^\w+$/.test(name))
    throw apiError('UNSUPPORTED_SCHEMA_NAME', { kind, name: showValue(name), max })
  return name
}
