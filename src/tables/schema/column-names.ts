import { apiError } from '../../errors/api-error.ts'
import type { Limits } from '../../limits.ts'
import { quoteJson } from '../../language/values/quote-json.ts'

/** Throws for an invalid name of a column, or of a type's field. */
export function checkColumnNames(
  kind: 'Column' | 'Field',
  names: Iterable<string>,
  { columnNameLengthMax: max }: Limits,
): void {
  for (const name of names) {
    const reason = problemOf(name, max)
    if (reason !== undefined)
      throw apiError('UNSUPPORTED_COLUMN_NAME', {
        kind,
        name: quoteJson(name),
        max,
        reason,
      })
  }
}

/** Throws for too many columns or fields. `field` is their path in the command. */
export function checkColumnCount(
  kind: 'Column' | 'Field',
  field: string,
  { length: count }: readonly unknown[],
  { columnsMax: max }: Limits,
): void {
  const would =
    kind === 'Column'
      ? `table would have ${count} columns`
      : `type would have ${count} fields`
  if (count > max)
    throw apiError('COMMAND_FIELD_VALUE_INVALID', {
      field,
      value: String(count),
      reason: `the ${would}; the maximum is ${max}`,
    })
}

function problemOf(name: string, max: number): string | undefined {
  if (name.trim() === '') return 'it is blank'
  if (name.length > max) return `it has ${name.length} characters`
  if (name.startsWith('$')) return 'names cannot start with $, which marks operators'
  if (name === '*') return 'it selects all columns in projections'
  return undefined
}
