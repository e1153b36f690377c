/** Terms of a query in CQL. */
import type { Value } from '../../../json/value.ts'
import type { Column, ColumnPart } from '../../../language/columns/column.ts'
import type { RegularIndex, Table } from '../../schema.ts'
import type { Capabilities } from '../cluster/capabilities.ts'
import type { Statement } from '../cluster/statement.ts'

export interface RowTerm extends Statement {
  /** Whether an index is the access path; otherwise rows are read and filtered. */
  readonly isIndexed: boolean
  /** Whether the term expresses its condition exactly. */
  readonly isExact: boolean
}

export interface TermContext {
  readonly table: Table
  readonly can: Capabilities
}

/** A term that joins the terms by OR. */
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

/**
 * Texts of at most this many UTF-16 code units are certainly in the index, which limits a term to 8
 * KiB.
 */
const indexedCharactersMax = 2_000

export function isLong(value: Value): boolean {
  return typeof value === 'string' && value.length > indexedCharactersMax
}
