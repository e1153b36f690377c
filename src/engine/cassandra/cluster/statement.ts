/** Statements of CQL. Values are always bound, so a text tells nothing of what users sent. */
import type { Target } from '../../schema.ts'

export interface Statement {
  /** With a question mark for each value. */
  readonly text: string
  readonly values: readonly unknown[]
}

/** A name in a statement: its case is kept, and it may be a word of the language. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** A text in a statement, where none can be bound: in definitions. */
export function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/** The options of an index; without any it is an empty text. */
export function quoteOptions(options: Iterable<readonly [string, string]>): string {
  const all = Array.from(
    options,
    ([name, value]) => `${quoteText(name)}: ${quoteText(value)}`,
  )
  return all.length === 0 ? '' : ` WITH OPTIONS = {${all.join(', ')}}`
}

/**
 * A table in a statement that is prepared. Drivers and nodes identify prepared statements by
 * their texts, and remember the types of the values. The id tells a table from others that had
 * its name before, or have it later, with other types.
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
