/** Builds CQL statements. Values are always bound, so the text contains no user data. */
import type { Target } from '../../schema.ts'

export interface Statement {
  /** CQL with a question mark for each value. */
  readonly text: string
  readonly values: readonly unknown[]
}

/** Quotes an identifier: preserves its case and allows reserved words. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** Quotes a string literal for definitions, where values cannot be bound. */
export function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/** The WITH OPTIONS clause of an index; empty without options. */
export function quoteOptions(options: Iterable<readonly [string, string]>): string {
  const all = Array.from(
    options,
    ([name, value]) => `${quoteText(name)}: ${quoteText(value)}`,
  )
  return all.length === 0 ? '' : ` WITH OPTIONS = {${all.join(', ')}}`
}

/**
 * A table name for prepared statements. Drivers and nodes identify prepared statements by their
 * text and cache the types of the values. The table id distinguishes a table from earlier and later
 * ones of the same name, whose types may differ.
 */
export function preparedTarget(target: Pick<Target, 'keyspace' | 'name' | 'uid'>): string {
  return `${quoteTarget(target)} /* ${target.uid} */`
}

export function quoteTarget({
  keyspace,
  name,
}: {
  readonly keyspace: string
  readonly name: string
}): string {
  return `${quoteName(keyspace)}.${quoteName(name)}`
}
