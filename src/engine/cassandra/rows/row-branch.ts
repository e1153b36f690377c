/** One query of a plan: terms for the key, for indexed columns and for other columns. */
import { isCollection } from '../../../language/columns/collections.ts'
import type { Column, ColumnValue } from '../../../language/columns/column.ts'
import type { KeyCondition } from '../../../language/columns/key-conditions.ts'
import type { RowCondition, RowFilter } from '../../../language/columns/row-filter.ts'
import { isLogical, requirementsOf } from '../../../language/filters/filter-clause.ts'
import { keyNames } from '../../schema.ts'
import type { Statement } from '../cluster/statement.ts'
import { termsMax } from '../system/read-limits.ts'
import { equality, isExactly, range, spellings, termsOf, valueTerms } from './row-terms.ts'
import { anyOf, indexOn, type RowTerm, type TermContext } from './term.ts'

export interface RowBranch {
  /**
   * Matches all rows that the branch covers. If several branches share one filter object, each
   * branch covers the matching rows of another partition.
   */
  readonly filter: RowFilter
  /** Terms of the query, which must all hold. */
  readonly terms: readonly Statement[]
  readonly allowFiltering: boolean
  /** Whether the key or an index is the access path; otherwise all rows are read. */
  readonly isServed: boolean
  /** Whether the partition key is the only access path. */
  readonly isByKeyAlone: boolean
  /** Conditions that must be checked on the returned rows. */
  readonly rest: RowFilter
}

/**
 * Purpose of the query, which restricts its terms: Cassandra reverses the order only for conditions
 * on the key, and searches vectors only with indexed conditions.
 */
export type QueryUse = 'read' | 'readBackwards' | 'search'

/** The combined condition on a column, and the conditions of the filter that it combines. */
export interface ColumnCondition {
  readonly column: Column
  readonly condition: KeyCondition
  readonly conditions: readonly RowCondition[]
}

interface Parts {
  readonly filter: RowFilter
  /** Parts of the filter, which must all hold. */
  readonly parts: readonly RowFilter[]
  readonly said: ReadonlyMap<string, ColumnCondition>
  /** Values of the partition key; undefined: the branch is not restricted to one partition. */
  readonly partition: readonly ColumnValue[] | undefined
}

export function branchOf(
  { filter, parts, said, partition }: Parts,
  context: TermContext,
  use: QueryUse,
): RowBranch {
  const byKey = partition ? keyTerms(partition, said, context) : noKey
  const done = new Set<RowFilter>(byKey.done)
  const terms: RowTerm[] = []
  const take = (of: readonly RowFilter[], found: readonly RowTerm[] | undefined) => {
    if (found === undefined) return
    terms.push(...found)
    if (found.every(({ isExact }) => isExact)) for (const part of of) done.add(part)
  }

  if (use !== 'readBackwards') {
    const { partitionBy } = context.table.definition
    const key = keyNames(context.table.definition)
    const allows = ({ column }: Pick<RowCondition, 'column'>, found: readonly RowTerm[]) =>
      use === 'search'
        ? found.every(({ isIndexed }) => isIndexed) && !partitionBy.includes(column.name)
        : !(byKey.hasChoice && isIndexed(column, context))
    /** Columns that have terms already and get no further terms. */
    const asked = new Set<string>()
    // If the filter fixes the whole partition key, but with too many values for one query each, the
    // columns of the partition key get no terms.
    const isPartial = partitionBy.some((name) => said.get(name)?.condition.eq === undefined)
    for (const [name, { column, condition, conditions }] of said) {
      if (byKey.columns.has(name) || (!isPartial && partitionBy.includes(name))) continue
      // Cassandra does not combine IN on a key column with an index.
      if (key.includes(name) && (condition.eq?.length ?? 0) > 1) continue
      // Within a partition, the cluster filters by key columns without a key term, and does not use
      // their indexes.
      const isWithin = partition !== undefined && key.includes(name)
      const found = valueTerms(column, condition, context)?.map((term) =>
        isWithin ? { ...term, isIndexed: false } : term,
      )
      if (found && allows({ column }, found)) {
        take(conditions, found)
        asked.add(name)
      }
    }
    for (const part of equalitiesFirst(parts)) {
      if (isLogical(part))
        take([part], use === 'read' ? groupTerms(part, context) : undefined)
      else if (!said.get(part.column.name)?.conditions.includes(part)) {
        const { name, type } = part.column
        if (key.includes(name) || asked.has(name)) continue
        const found = termsOf(part, context)
        if (found === undefined || !allows(part, found)) continue
        if (terms.length >= termsMax && !isFirstIndexed(found, terms)) continue
        take([part], found)
        if (!isCollection(type)) asked.add(name)
      }
    }
  }

  const indexed = terms.filter((term) => term.isIndexed)
  const others = terms.filter((term) => !term.isIndexed)
  return {
    filter,
    terms: [...byKey.terms, ...indexed, ...others].map(({ text, values }) => ({
      text,
      values,
    })),
    allowFiltering: others.length > 0,
    isServed: partition !== undefined || indexed.length > 0,
    isByKeyAlone: partition !== undefined && indexed.length === 0,
    rest: { kind: 'and', of: parts.filter((part) => !done.has(part)) },
  }
}

/** Whether `found` has a term with an index as its access path, and `terms` has none. */
function isFirstIndexed(found: readonly RowTerm[], terms: readonly RowTerm[]): boolean {
  return found.some((term) => term.isIndexed) && !terms.some((term) => term.isIndexed)
}

function equalitiesFirst(parts: readonly RowFilter[]): readonly RowFilter[] {
  return parts.toSorted((a, b) => Number(b.kind === 'eq') - Number(a.kind === 'eq'))
}

interface KeyTerms {
  readonly terms: readonly Statement[]
  /** Columns of the terms. */
  readonly columns: ReadonlySet<string>
  /** Conditions that the terms express exactly. */
  readonly done: readonly RowCondition[]
  /** Whether a term compares a column with several values. */
  readonly hasChoice: boolean
}

const noKey: KeyTerms = { terms: [], columns: new Set(), done: [], hasChoice: false }

/** Terms for the partition key, and for clustering columns up to the first without an equality. */
function keyTerms(
  partition: readonly ColumnValue[],
  said: ReadonlyMap<string, ColumnCondition>,
  context: TermContext,
): KeyTerms {
  const { partitionBy, partitionSort } = context.table.definition
  const terms: Statement[] = []
  const columns = new Set<string>()
  let hasChoice = false
  const take = ({ column }: ColumnCondition, statements: readonly Statement[]) => {
    terms.push(...statements)
    columns.add(column.name)
  }
  for (const [position, name] of partitionBy.entries()) {
    const of = said.get(name)!
    take(of, [equality(of.column, [partition[position]!], context)])
  }
  for (const { column: name } of partitionSort) {
    const of = said.get(name)
    if (of === undefined) break
    const { eq } = of.condition
    if (eq === undefined) {
      const bounds = range(of.column, of.condition, context)
      if (bounds) take(of, bounds)
      break
    }
    const values = eq.flatMap((value) => spellings(of.column, value))
    hasChoice ||= values.length > 1
    take(of, [equality(of.column, values, context)])
  }
  const done = Array.from(columns).flatMap((name) => {
    const { column, conditions } = said.get(name)!
    return isExactly(column) ? conditions : []
  })
  return { terms, columns, done, hasChoice }
}

/** Terms for OR, on clusters that have it; key columns are not allowed within OR. */
function groupTerms(
  joint: RowFilter,
  context: TermContext,
): readonly RowTerm[] | undefined {
  if (!context.can.or) return undefined
  const key = keyNames(context.table.definition)
  const termOf = (part: RowFilter): RowTerm | undefined => {
    if (isLogical(part)) {
      if (part.kind === 'and') return allOf(requirementsOf(part).map(termOf))
      const terms = part.of.map(termOf)
      const known = terms.filter((term) => term !== undefined)
      return known.length === terms.length && known.length > 0 ? anyOf(known) : undefined
    }
    return key.includes(part.column.name) ? undefined : allOf(termsOf(part, context) ?? [])
  }
  const term = termOf(joint)
  return term && [term]
}

/**
 * Joins terms by AND, and omits undefined terms. With omitted terms, the result matches every row
 * that the filter matches, and may match others.
 */
function allOf(terms: readonly (RowTerm | undefined)[]): RowTerm | undefined {
  const known = terms.filter((term) => term !== undefined)
  if (known.length < 2 && known.length === terms.length) return known[0]
  if (known.length === 0) return undefined
  return {
    text: `(${known.map(({ text }) => text).join(' AND ')})`,
    values: known.flatMap(({ values }) => values),
    isIndexed: known.every(({ isIndexed }) => isIndexed),
    isExact: known.length === terms.length && known.every(({ isExact }) => isExact),
  }
}

function isIndexed({ name }: Column, { table }: TermContext): boolean {
  return (['value', 'keys', 'values'] as const).some(
    (part) => indexOn(table, { name } as Column, part) !== undefined,
  )
}
