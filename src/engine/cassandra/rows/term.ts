/** What a query says, in CQL, and whether that is all. */
import type { Value } from '../../../json/value.ts'
import type { Column, ColumnPart } from '../../../language/columns/column.ts'
import type { RegularIndex, Table } from '../../schema.ts'
import type { Capabilities } from '../cluster/capabilities.ts'
import type { Statement } from '../cluster/statement.ts'

export interface RowTerm extends Statement {
  /** Whether an index leads to the rows. Otherwise rows are read and left out. */
  readonly isIndexed: boolean
  /** Whether it says all that the condition says. */
  readonly isExact: boolean
}

export interface TermContext {
  readonly table: Table
  readonly can: Capabilities
}

/** One of several terms is enough. */
export function anyOf(terms: readonly RowTerm[]): RowTerm {
  return {
    text: `(${terms.map(({ text }) => text).join(' OR ')})`,
    values: terms.flatMap(({ values }) => values),
    isIndexed: terms.every(({ isIndexed }) => isIndexed),
    isExact: terms.every(({ isExact }) => isExact),
  }
}

export function indexOn(
  { definition }: Table,
  { name }: Column,
  part: ColumnPart,
): RegularIndex | undefined {
  return definition.indexes.find(
    (index): index is RegularIndex =>
      index.kind === 'regular' && index.column === name && index.part === part,
  )
}

export function isFloating(type: string): boolean {
  return type === 'double' || type === 'float'
}

/** Longer texts may be stored and not be in the index, which takes 8 KiB at most. */
const indexedCharactersMax = 2_000

export function isLong(value: Value): boolean {
  return typeof value === 'string' && value.length > indexedCharactersMax
}
