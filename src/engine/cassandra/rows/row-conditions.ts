/**
 * Plans queries for a filter on rows.
 *
 * A cluster may lack OR, and uses one key or index at a time. A filter therefore becomes branches,
 * one query each: one per partition, or one per alternative that an index serves. Conditions that a
 * query cannot express are checked on its rows.
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
import { isLogical, requirementsOf } from '../../../language/filters/filter-clause.ts'
import type { Column, Table } from '../../schema.ts'
import type { Capabilities } from '../cluster/capabilities.ts'
import {
  branchOf,
  type QueryUse,
  type RowBranch,
  type ColumnCondition,
} from './row-branch.ts'
import { isEmptyKey, spellings, termsOf } from './row-terms.ts'
import { indexOn, type TermContext } from './term.ts'

export interface RowConditions {
  /** Branches of the plan; without branches, no row can match. */
  readonly branches: readonly RowBranch[]
  /** Whether no two branches find the same row. */
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

/**
 * Maximum queries of a plan: with one query per partition, each of which is cheap, and with one
 * query per alternative that an index serves.
 */
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

  /** Plans queries for a filter, given as parts that must all hold. */
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

  /** Combines the conditions on the whole value of each column. */
  #saidIn(parts: readonly RowFilter[]): ReadonlyMap<string, ColumnCondition> {
    const { table } = this.#context
    const conditions = new Map<string, KeyCondition>()
    const said = new Map<string, ColumnCondition & { conditions: RowCondition[] }>()
    for (const part of parts) {
      if (isLogical(part) || !this.#isOfValue(part)) continue
      const { column } = part
      const added = keyCondition(part.kind, this.#distinct(part))!
      addCondition(conditions, column, added, table.types)
      const condition = conditions.get(column.name)!
      const before = said.get(column.name)?.conditions ?? []
      said.set(column.name, { column, condition, conditions: [...before, part] })
    }
    return said
  }

  /**
   * Whether a condition compares the whole value of a column. Excludes equality on a column whose
   * index folds texts, because the index defines equality there.
   */
  #isOfValue(condition: RowCondition): condition is RowComparison {
    const { kind, column } = condition
    if (isCollection(column.type)) return false
    if (isRange(kind)) return true
    const isEqual = kind === 'eq' || kind === 'in'
    return isEqual && indexOn(this.#context.table, column, 'value')?.folding === undefined
  }

  /**
   * The operands without duplicates, compared by the column's type and the folding of its index.
   */
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

  /**
   * All combinations of values of the partition key; undefined if one of its columns has no
   * equality condition.
   */
  #partitionsIn(
    said: ReadonlyMap<string, ColumnCondition>,
  ): readonly (readonly ColumnValue[])[] | undefined {
    let partitions: (readonly ColumnValue[])[] = [[]]
    for (const column of this.#partitionBy) {
      const eq = said.get(column.name)?.condition.eq
      if (eq === undefined) return undefined
      // The limit is exceeded already, so further combinations are not built.
      if (partitions.length > partitionsMax) continue
      const values = eq
        .flatMap((value) => spellings(column, value))
        .filter((value) => !isEmptyKey(value, this.#partitionBy.length))
      partitions = partitions.flatMap((before) => values.map((value) => [...before, value]))
    }
    return partitions
  }

  /** Branches for the alternatives of one part, if an index or partition serves every branch. */
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

  /** Minimum number of queries that serve the part; Infinity: the part needs a full scan. */
  #alternativesMin(part: RowFilter): number {
    if (isLogical(part) && part.kind === 'and') {
      const of = requirementsOf(part)
      const partitions = this.#partitionsIn(this.#saidIn(of))
      if (partitions !== undefined) return partitions.length
      return Math.min(...of.map((inner) => this.#alternativesMin(inner)))
    }
    if (!isLogical(part)) {
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

/** Whether the condition allows only values that no row can have. */
function isImpossible({ column, condition }: ColumnCondition): boolean {
  return condition.eq?.every((value) => spellings(column, value).length === 0) ?? false
}

const nothing: RowConditions = { branches: [], areDisjoint: true }

interface Alternatives {
  readonly of: readonly RowFilter[]
  readonly areDisjoint: boolean
}

/**
 * Alternatives of an `or`, or of an `in` with several operands; undefined for any other part of a
 * filter.
 */
function alternativesOf(
  part: RowFilter,
  distinct: (condition: RowComparison) => readonly Value[],
): Alternatives | undefined {
  if (isLogical(part))
    return part.kind === 'or' ? { of: part.of, areDisjoint: false } : undefined
  if (part.kind !== 'in' || part.operands.length === 1) return undefined
  const holdsSeveral = isCollection(part.column.type)
  const operands = holdsSeveral ? part.operands : distinct(part)
  const kind = holdsSeveral ? 'in' : 'eq'
  const of = operands.map((operand) => ({ ...part, kind, operands: [operand] }) as const)
  return { of, areDisjoint: !holdsSeveral }
}
