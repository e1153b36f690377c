/**
 * Filters of rows as queries of the cluster.
 *
 * A cluster may lack OR, and finds by one key or index at a time. So a filter becomes branches,
 * each of which is a query: one for each partition, or for each alternative that an index
 * leads to. What a query cannot say is left to be checked.
 */
import { printJson } from '../../../json/print.ts'
import type { Value } from '../../../json/value.ts'
import { isCollection } from '../../../language/columns/collections.ts'
import type { ColumnValue } from '../../../language/columns/column.ts'
import {
  comparableScalar,
  foldedComparable,
} from '../../../language/columns/comparable-values.ts'
import {
  addCondition,
  keyCondition,
  type KeyCondition,
} from '../../../language/columns/key-conditions.ts'
import {
  isRange,
  type RowComparison,
  type RowCondition,
  type RowFilter,
} from '../../../language/columns/row-filter.ts'
import { isJoint, requirementsOf } from '../../../language/filters/filter-clause.ts'
import type { Column, Table } from '../../schema.ts'
import type { Capabilities } from '../cluster/capabilities.ts'
import { branchOf, type QueryUse, type RowBranch, type Said } from './row-branch.ts'
import { isEmptyKey, spellings, termsOf } from './row-terms.ts'
import { indexOn, type TermContext } from './term.ts'

export interface RowConditions {
  /** None: no row matches. */
  readonly branches: readonly RowBranch[]
  /** Whether no row is found by two of the branches. */
  readonly areDisjoint: boolean
}

export function rowConditions(
  table: Table,
  filter: RowFilter,
  can: Capabilities,
  use: QueryUse = 'read',
): RowConditions {
  return new Planner({ table, can }, use).plan(requirementsOf(filter))
}

/** Queries that one filter may become: by partitions, which are found at once, and by indexes. */
const partitionsMax = 1_000
const alternativesMax = 100

class Planner {
  readonly #context: TermContext
  readonly #use: QueryUse
  readonly #partitionBy: readonly Column[]

  constructor(context: TermContext, use: QueryUse) {
    const { columns, partitionBy } = context.table.definition
    this.#context = context
    this.#use = use
    this.#partitionBy = partitionBy.map((name) => columns.find((one) => one.name === name)!)
  }

  /** All parts must hold. */
  plan(parts: readonly RowFilter[]): RowConditions {
    const said = this.#saidIn(parts)
    if ([...said.values()].some(isImpossible)) return nothing
    const filter: RowFilter = { kind: 'and', of: parts }
    const branch = (partition: readonly ColumnValue[] | undefined) =>
      branchOf({ filter, parts, said, partition }, this.#context, this.#use)
    const partitions = this.#partitionsIn(said)
    if (partitions !== undefined && partitions.length <= partitionsMax)
      return { branches: partitions.map(branch), areDisjoint: true }
    const whole = branch(undefined)
    const split = whole.isServed ? undefined : this.#splitOf(parts)
    return split ?? { branches: [whole], areDisjoint: true }
  }

  /** What is said about columns with single values, all of it together. */
  #saidIn(parts: readonly RowFilter[]): ReadonlyMap<string, Said> {
    const { table } = this.#context
    const conditions = new Map<string, KeyCondition>()
    const said = new Map<string, Said & { conditions: RowCondition[] }>()
    for (const part of parts) {
      if (isJoint(part) || !this.#isOfValue(part)) continue
      const { column } = part
      const added = keyCondition(part.kind, this.#distinct(part))!
      addCondition(conditions, column, added, table.types)
      const condition = conditions.get(column.name)!
      const before = said.get(column.name)?.conditions ?? []
      said.set(column.name, { column, condition, conditions: [...before, part] })
    }
    return said
  }

  /** An index that takes different texts for equal says what equality means. */
  #isOfValue(condition: RowCondition): condition is RowComparison {
    const { kind, column } = condition
    if (isCollection(column.type)) return false
    if (isRange(kind)) return true
    const isEqual = kind === 'eq' || kind === 'in'
    return isEqual && indexOn(this.#context.table, column, 'value')?.folding === undefined
  }

  /** No two of them are equal to the same value. */
  #distinct({ column, operands }: RowComparison): readonly Value[] {
    const { table } = this.#context
    const folding = indexOn(table, column, 'value')?.folding
    const plain = comparableScalar(column, table.types)
    const toComparable = folding ? foldedComparable(plain, folding) : plain
    const byComparable = operands.map(
      (value) => [printJson(toComparable(value)), value] as const,
    )
    return [...new Map(byComparable).values()]
  }

  /** The values of the columns that rows are partitioned by, in all ways to take one of each. */
  #partitionsIn(
    said: ReadonlyMap<string, Said>,
  ): readonly (readonly ColumnValue[])[] | undefined {
    let partitions: (readonly ColumnValue[])[] = [[]]
    for (const column of this.#partitionBy) {
      const eq = said.get(column.name)?.condition.eq
      if (eq === undefined) return undefined
      // What is too many already need not be made of more.
      if (partitions.length > partitionsMax) continue
      const values = eq
        .flatMap((value) => spellings(column, value))
        .filter((value) => !isEmptyKey(value, this.#partitionBy.length))
      partitions = partitions.flatMap((before) => values.map((value) => [...before, value]))
    }
    return partitions
  }

  /** The alternatives of one part, if there is a way to each of them. */
  #splitOf(parts: readonly RowFilter[]): RowConditions | undefined {
    const [best] = parts
      .map((part) => ({ part, count: this.#alternativesMin(part) }))
      .filter(({ count }) => count <= alternativesMax)
      .toSorted((a, b) => a.count - b.count)
    const split = best && alternativesOf(best.part, (one) => this.#distinct(one))
    if (split === undefined) return undefined
    const others = parts.filter((part) => part !== best!.part)
    const plans = split.of.map((part) => this.plan([...requirementsOf(part), ...others]))
    const branches = plans.flatMap((plan) => plan.branches)
    if (!branches.every(({ isServed }) => isServed)) return undefined
    const areDisjoint = split.areDisjoint && plans.every((plan) => plan.areDisjoint)
    return { branches, areDisjoint: areDisjoint || branches.length < 2 }
  }

  /** How many queries find what the part says; infinitely many: all rows are read. */
  #alternativesMin(part: RowFilter): number {
    if (isJoint(part) && part.kind === 'and') {
      const of = requirementsOf(part)
      const partitions = this.#partitionsIn(this.#saidIn(of))
      if (partitions !== undefined) return partitions.length
      return Math.min(...of.map((inner) => this.#alternativesMin(inner)))
    }
    if (!isJoint(part)) {
      const partitions = this.#partitionsIn(this.#saidIn([part]))
      if (partitions !== undefined) return partitions.length
      const terms = termsOf(part, this.#context) ?? []
      if (terms.some(({ isIndexed }) => isIndexed)) return 1
    }
    const split = alternativesOf(part, (one) => this.#distinct(one))
    if (split === undefined) return Infinity
    return split.of.reduce((count, one) => count + this.#alternativesMin(one), 0)
  }
}

/** Whether no row can have one of the values. */
function isImpossible({ column, condition }: Said): boolean {
  return condition.eq?.every((value) => spellings(column, value).length === 0) ?? false
}

const nothing: RowConditions = { branches: [], areDisjoint: true }

interface Alternatives {
  readonly of: readonly RowFilter[]
  readonly areDisjoint: boolean
}

/** What one of must hold; undefined where there is no choice. */
function alternativesOf(
  part: RowFilter,
  distinct: (condition: RowComparison) => readonly Value[],
): Alternatives | undefined {
  if (isJoint(part))
    return part.kind === 'or' ? { of: part.of, areDisjoint: false } : undefined
  if (part.kind !== 'in' || part.operands.length === 1) return undefined
  const holdsSeveral = isCollection(part.column.type)
  const operands = holdsSeveral ? part.operands : distinct(part)
  const kind = holdsSeveral ? 'in' : 'eq'
  const of = operands.map((operand) => ({ ...part, kind, operands: [operand] }) as const)
  return { of, areDisjoint: !holdsSeveral }
}
