/** A running read: finds the matches among candidates, and counts the entries and texts read. */
import { documentCost, textCost, type Budget } from '../store/budget.ts'
import { bare, type DocRow } from '../format/doc-row.ts'
import {
  alongPath,
  inIdOrder,
  listedNumbers,
  seqOf,
  type RowCandidate,
} from './candidates.ts'
import { costOf, type RangeCheck } from './checks.ts'
import { conditionOf, listRange, skipCost, type Condition } from './conditions.ts'
import type { DocumentSet } from '../runs/document-set.ts'
import type { Plan } from './plan.ts'
import type { StoredPosition } from '../format/position.ts'
import type { StoreLookup } from './store-lookup.ts'
import type { Met } from './result.ts'
import type { TopRows } from './top-rows.ts'

/** Conditions of a walk on documents, besides the plan's filter. */
interface Required {
  /** A condition to check in the index, and the number of lookups of that check. */
  readonly condition?: Condition
  readonly lookups?: number
  /** A condition to check on the row, after it is read. */
  readonly accepts?: (row: DocRow) => boolean
}

export class Execution {
  readonly plan: Plan
  readonly lookup: StoreLookup
  readonly budget: Budget
  readonly condition: Condition
  readonly met: Met = { entries: 0, documents: 0 }
  /** Number of rows that the page still lacks. */
  missing = 0
  /**
   * Whether the caller needs texts: they are read with the candidates if nothing is left to check.
   */
  readonly #wantsTexts: boolean

  constructor(plan: Plan, lookup: StoreLookup, budget: Budget, wantsTexts = false) {
    this.plan = plan
    this.lookup = lookup
    this.budget = budget
    const { order, check, expected, intersects } = plan
    const isCounted = intersects || (order.by === 'values' && order.matches !== undefined)
    const list = (range: RangeCheck): DocumentSet => {
      this.met.entries += range.size
      return listRange(range, lookup.store, budget)
    }
    this.condition = conditionOf(check, lookup.store, list, isCounted ? expected : 0)
    this.#wantsTexts = wantsTexts
  }

  /** Matches in the order of the access path, after a position. */
  alongPath(after?: StoredPosition, required: Required = {}): Generator<DocRow> {
    const { plan, lookup, budget } = this
    const walk = { after, budget, withTexts: this.#readsTexts(required) }
    const candidates = this.#intersection(after) ?? alongPath(plan.access, lookup, walk)
    return this.#matching(candidates, required)
  }

  /**
   * The candidates of the access path that may pass the check; undefined when it is better to check
   * the candidates one by one.
   */
  #intersection(after: StoredPosition | undefined): Iterable<RowCandidate> | undefined {
    const { plan, lookup, budget, condition } = this
    const { store } = lookup
    if (!plan.intersects) return undefined
    const among = condition.among?.()
    const listed = among && listedNumbers(plan.access, store)
    if (listed === undefined) return undefined
    budget.spend(skipCost(listed.length))
    const from = seqOf(after)
    const numbers = listed.filter((seq) => among!.has(seq) && seq > from)
    // Each number of the result is counted when it is checked.
    this.met.entries += listed.length - numbers.length
    return Array.from(numbers, (seq) => ({ seq, id: () => store.idOf(seq) }))
  }

  /**
   * Matches in the order of ids. `from`: only matches after this id, in the direction of the walk.
   */
  byId(
    direction: 1 | -1,
    from: Uint8Array | undefined,
    required: Required = {},
  ): Generator<DocRow> {
    const withTexts = this.#readsTexts(required)
    const found = inIdOrder(this.plan.access, this.lookup.store, {
      direction,
      from,
      withTexts,
    })
    // Texts in the order of ids are far apart in the file, so each text costs more to read.
    const isFar = withTexts && this.plan.check.kind === 'unknown'
    return this.#matching(found, required, isFar ? documentCost : 0)
  }

  /** The first rows in the order of a sort, without texts. */
  *sorted(rows: Iterable<DocRow>, best: TopRows): Generator<DocRow> {
    for (const row of rows) best.add(this.withText(row), this.missing)
    for (const seq of best.take(this.missing)) yield bare({ seq })
  }

  /** The row of a candidate that the index has accepted, if the document matches. */
  confirm(candidate: RowCandidate): DocRow | undefined {
    if (this.plan.document === undefined) return candidate.row ?? bare(candidate)
    const row = this.rowOf(candidate)
    return this.matches(row) ? row : undefined
  }

  /** Whether the document satisfies the part of the filter that the index does not decide. */
  matches(row: DocRow): boolean {
    const { document } = this.plan
    return document === undefined || this.lookup.matches(document, row, this.budget)
  }

  /** The row with its text, which is read unless the row has it already. */
  withText(row: DocRow): DocRow {
    return row.text === '' ? this.rowOf(row) : row
  }

  /** The row of a candidate, read from the store if needed. */
  rowOf({ seq, row, value }: Pick<RowCandidate, 'seq' | 'row' | 'value'>): DocRow {
    const found = row ?? this.lookup.store.row(seq)
    this.met.documents++
    this.budget.spend(textCost(found.text))
    return value === undefined ? found : { ...found, value }
  }

  /** Whether to read texts together with the candidates, because every candidate needs its text. */
  #readsTexts({ condition, accepts }: Required): boolean {
    const { kind } = this.plan.check
    const isWanted = this.#wantsTexts || accepts !== undefined
    return (
      condition === undefined && (kind === 'unknown' || (kind === 'always' && isWanted))
    )
  }

  *#matching(
    candidates: Iterable<RowCandidate>,
    { condition: own, lookups = 0, accepts }: Required,
    extraCost = 0,
  ): Generator<DocRow> {
    const { plan, condition, budget, met } = this
    const cost = costOf(plan.check) + lookups + extraCost
    const isNumberEnough = plan.document === undefined && accepts === undefined
    for (const candidate of candidates) {
      met.entries++
      budget.spend(cost)
      if (own?.holds(candidate) === false || !condition.holds(candidate)) continue
      if (isNumberEnough && candidate.row === undefined) yield bare(candidate)
      else {
        const row = this.rowOf(candidate)
        if (this.matches(row) && accepts?.(row) !== false) yield row
      }
    }
  }
}
