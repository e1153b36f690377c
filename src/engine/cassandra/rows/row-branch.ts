/** One query of the cluster: what it says of the key, of indexed columns, and of others. */
import { isCollection } from '../../../language/columns/collections.ts'
import type { Column, ColumnValue } from '../../../language/columns/column.ts'
import type { KeyCondition } from '../../../language/columns/key-conditions.ts'
import type { RowCondition, RowFilter } from '../../../language/columns/row-filter.ts'
import { isJoint, requirementsOf } from '../../../language/filters/filter-clause.ts'
import { keyNames } from '../../schema.ts'
import type { Statement } from '../cluster/statement.ts'
import { termsMax } from '../system/read-limits.ts'
import { equality, isExactly, range, spellings, termsOf, valueTerms } from './row-terms.ts'
import { anyOf, indexOn, type RowTerm, type TermContext } from './term.ts'

export interface RowBranch {
  /**
   * Matches all that the branch stands for. Branches that have the same one, that very object,
   * stand for one partition each of what it matches.
   */
  readonly filter: RowFilter
  /** What the cluster is asked: all must hold. */
  readonly terms: readonly Statement[]
  readonly allowFiltering: boolean
  /** Whether the key or an index leads to the rows; otherwise all are read. */
  readonly isServed: boolean
  /** Whether the key of a partition leads to the rows, and no index does. */
  readonly isByKeyAlone: boolean
  /** What is left to be checked of the rows that come. */
  readonly rest: RowFilter
}

/**
 * What the query is for, since not everything goes together: to read in the order of the key
 * backwards, only the key may be said, and to order by nearness only what is indexed.
 */
export type QueryUse = 'read' | 'readBackwards' | 'search'

/** What is said about a column, and the conditions that say it. */
export interface Said {
  readonly column: Column
  readonly condition: KeyCondition
  readonly conditions: readonly RowCondition[]
}

interface Parts {
  readonly filter: RowFilter
  /** Of the filter: all must hold. */
  readonly parts: readonly RowFilter[]
  readonly said: ReadonlyMap<string, Said>
  /** The values of the partition that rows are in, if that is one. */
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
    /** Columns of which nothing more may be said: an equality goes with nothing else. */
    const asked = new Set<string>()
    // Whole partitions that are too many to ask for one by one are not asked for at all.
    const isPartial = partitionBy.some((name) => said.get(name)?.condition.eq === undefined)
    for (const [name, { column, condition, conditions }] of said) {
      if (byKey.columns.has(name) || (!isPartial && partitionBy.includes(name))) continue
      // Several values of a column of the key go together with no index.
      if (key.includes(name) && (condition.eq?.length ?? 0) > 1) continue
      // Within a partition, what the key does not lead to is filtered, index or not.
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
      if (isJoint(part))
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

/** Whether these lead to the rows, and no others do. */
function isFirstIndexed(found: readonly RowTerm[], terms: readonly RowTerm[]): boolean {
  return found.some((term) => term.isIndexed) && !terms.some((term) => term.isIndexed)
}

function equalitiesFirst(parts: readonly RowFilter[]): readonly RowFilter[] {
  return parts.toSorted((a, b) => Number(b.kind === 'eq') - Number(a.kind === 'eq'))
}

interface KeyTerms {
  readonly terms: readonly Statement[]
  /** The columns that they are about. */
  readonly columns: ReadonlySet<string>
  /** Conditions of which nothing is left to be checked. */
  readonly done: readonly RowCondition[]
  /** Whether there is a column with several values. */
  readonly hasChoice: boolean
}

const noKey: KeyTerms = { terms: [], columns: new Set(), done: [], hasChoice: false }

/** Of the partition, and of columns of its sort up to the first without an equality. */
function keyTerms(
  partition: readonly ColumnValue[],
  said: ReadonlyMap<string, Said>,
  context: TermContext,
): KeyTerms {
  const { partitionBy, partitionSort } = context.table.definition
  const terms: Statement[] = []
  const columns = new Set<string>()
  let hasChoice = false
  const take = ({ column }: Said, statements: readonly Statement[]) => {
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

/** What one of must hold, where the cluster has OR; the key cannot be asked for so. */
function groupTerms(
  joint: RowFilter,
  context: TermContext,
): readonly RowTerm[] | undefined {
  if (!context.can.or) return undefined
  const key = keyNames(context.table.definition)
  const termOf = (part: RowFilter): RowTerm | undefined => {
    if (isJoint(part)) {
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

/** Where some cannot be asked, the others say less, but nothing wrong. */
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
