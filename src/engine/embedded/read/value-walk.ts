/**
 * Walks the index of the first sort key, whose entries are in order. Only documents with the same
 * value (a group) are sorted, by the other keys and by _id. If there are no other keys and the
 * group is large, all documents are walked by _id, and the index decides which of them have the
 * value. So a page takes at most about sqrt(page size x documents) steps, whatever the data.
 */
import type { Value } from '../../../json/value.ts'
import { keyOf } from '../../../language/values/key.ts'
import { valueAt } from '../../../language/values/value-at.ts'
import { documentCost } from '../store/budget.ts'
import { bare, type DocRow } from '../format/doc-row.ts'
import { valueIn } from '../format/entry-key.ts'
import type { SortPosition } from '../format/position.ts'
import type { EntryRange } from '../runs/runs-reader.ts'
import { candidateOf } from './candidates.ts'
import { hasEntry, skipCost, walkCost, type Condition } from './conditions.ts'
import type { Execution } from './execution.ts'
import { groupMax, type ValueOrder } from './plan.ts'
import type { TopRows } from './top-rows.ts'
import { groupOf, rangeFrom, startOf, startOfKey, type Group } from './value-groups.ts'

export class ValueWalk {
  readonly #read: Execution
  readonly #order: ValueOrder
  readonly #after: SortPosition | undefined
  /** The best rows of the current group, when there are several sort keys. */
  readonly #best: TopRows
  /** Key prefix of the entries in the position's group, if there is a position. */
  #placeStart: string | undefined
  /** Entries that were charged to the budget before the walk. */
  #paidFor = 0

  constructor(
    read: Execution,
    order: ValueOrder,
    after: SortPosition | undefined,
    best: TopRows,
  ) {
    this.#read = read
    this.#order = order
    this.#after = after
    this.#best = best
  }

  /**
   * Matches in the order of the sort, after the position. Documents without a value come before all
   * values.
   */
  *rows(): Generator<DocRow> {
    this.#payAhead()
    const { path, keys } = this.#order
    const after = this.#after
    const afterValue = after?.values[0]
    const isBehindMissing = after !== undefined && afterValue !== undefined
    if (keys[0]!.direction === 1) {
      if (!isBehindMissing) yield* this.#withoutValue()
      if (path !== undefined) yield* this.#byValue(path, 1, afterValue)
    } else {
      if (path !== undefined && (after === undefined || isBehindMissing))
        yield* this.#byValue(path, -1, afterValue)
      yield* this.#withoutValue()
    }
  }

  /**
   * Charges the expected entries in advance, so that a long read leaves the main thread before it
   * starts.
   */
  #payAhead(): void {
    const { plan, budget, condition } = this.#read
    const { matches } = this.#order
    if (matches === undefined) return
    this.#paidFor = plan.expected!
    budget.spend(walkCost(plan.expected!, matches, plan.check, condition))
  }

  *#withoutValue(): Generator<DocRow> {
    const { path, keys, documents, without, unlistedMax } = this.#order
    if (without === 0) return
    const read = this.#read
    const lacksValue = (row: DocRow) => this.#valueIn(row) === undefined
    if (keys.length > 1) {
      const rows = read.alongPath(undefined, { accepts: lacksValue })
      yield* read.sorted(rows, this.#best)
      return
    }
    const from = this.#after?.values[0] === undefined ? this.#afterId() : undefined
    if (path === undefined) yield* read.byId(1, from)
    else if ((read.missing * documents) / without < unlistedMax)
      yield* read.byId(1, from, { accepts: lacksValue })
    else yield* read.byId(1, from, { condition: this.#lacks(path) })
  }

  /**
   * The condition that a document has no value at the path. Lists the documents that have a value.
   */
  #lacks(path: number): Condition {
    const having = new Set<number>()
    for (const { doc } of this.#read.lookup.store.entries.inRange({ path })) {
      this.#read.met.entries++
      this.#read.budget.spend(1)
      having.add(doc)
    }
    return { holds: ({ seq }) => !having.has(seq) }
  }

  /** Matches that have the path, in the order of values. */
  *#byValue(
    path: number,
    direction: 1 | -1,
    afterValue: Value | undefined,
  ): Generator<DocRow> {
    let range: EntryRange = { path }
    if (afterValue !== undefined) {
      const group = groupOf(keyOf(afterValue))
      this.#placeStart = startOf(path, group)
      range = rangeFrom(path, group, direction, true)
    }
    for (;;) {
      const large: Group | undefined = yield* this.#groups(range, direction)
      if (large === undefined) return
      yield* this.#largeGroup(path, large)
      range = rangeFrom(path, large, direction, false)
    }
  }

  /** Matches group by group, up to the first group that is too large to sort, which is returned. */
  *#groups(range: EntryRange, direction: 1 | -1): Generator<DocRow, Group | undefined> {
    const { lookup, condition, plan, missing } = this.#read
    const { store } = lookup
    const { entries } = store
    const cost = Math.max(1, plan.check.lookups)
    /** Key prefix of the group's entries, their number, and the documents that may match. */
    let start: string | undefined
    let size = 0
    let members: number[] = []
    // A group of one document needs no sorting, and the index alone decides whether the document
    // matches.
    const isSimple = this.#order.keys.length === 1 && plan.document === undefined
    let sizeMax = groupMax(this.#order, missing)
    let passed = 0
    const documents = condition.among?.()
    const passing = (count: number): void => {
      passed += count
      this.#spend(count, skipCost(count))
    }
    const walk = { direction, only: documents && { documents, passing } }
    for (const entry of entries.inRange(range, walk)) {
      this.#spend(1, cost)
      if (start === undefined || !entry.key.startsWith(start)) {
        // A group often has no members: most values have one document, and most filters reject it.
        if (members.length > 0) {
          if (isSimple && members.length === 1 && start !== this.#placeStart) {
            this.#read.budget.spend(1)
            yield bare({ seq: members[0]! })
          } else yield* this.#inOrder(members, start)
          members = []
          sizeMax = groupMax(this.#order, this.#read.missing)
        }
        start = startOfKey(entry.key)
        size = 0
      } else size += passed
      passed = 0
      if (++size > sizeMax) return groupOf(valueIn(entry.key))
      const candidate = candidateOf(entry, entries.tie, store)
      if (condition.holds(candidate)) this.#gather(members, candidate.seq)
    }
    yield* this.#inOrder(members, start)
    return undefined
  }

  /**
   * Adds a document to its group. With several sort keys, only the best rows of a group are kept.
   */
  #gather(members: number[], seq: number): void {
    const read = this.#read
    if (members.length === 0 || this.#order.keys.length === 1) members.push(seq)
    if (this.#order.keys.length === 1) return
    read.budget.spend(documentCost)
    const row = read.rowOf({ seq })
    if (read.matches(row)) this.#best.add(row, read.missing)
  }

  /** The matches of a group, in the order of the sort. */
  *#inOrder(members: readonly number[], start: string | undefined): Generator<DocRow> {
    const read = this.#read
    if (this.#order.keys.length > 1) {
      for (const seq of this.#best.take(read.missing)) yield bare({ seq })
      return
    }
    const { store } = read.lookup
    const isPlace = start === this.#placeStart
    read.budget.spend(members.length)
    const isExact = read.plan.document === undefined
    const isOrdered = members.length < 2 && !isPlace
    const after = isPlace ? this.#afterId() : undefined
    const inOrder = isOrdered
      ? members
      : store.inOrderOfIds(members, after, isExact ? read.missing : -1)
    for (const seq of inOrder) {
      const row = read.confirm({ seq, id: () => store.idOf(seq) })
      if (row !== undefined) yield row
    }
  }

  /** The matches of a group in id order, found by walking all documents by id. */
  *#largeGroup(path: number, group: Group): Generator<DocRow> {
    const isPlace = startOf(path, group) === this.#placeStart
    const from = isPlace ? this.#afterId() : undefined
    if (group.isMixed) {
      const accepts = (row: DocRow): boolean => {
        const value = this.#valueIn(row)
        return value !== undefined && keyOf(value)[0] === group.low[0]
      }
      yield* this.#read.byId(1, from, { accepts })
      return
    }
    const entry = { path, value: group.low, isValueOnly: true }
    const condition = hasEntry(entry, this.#read.lookup.store, 0)
    yield* this.#read.byId(1, from, { condition, lookups: 1 })
  }

  /** The value of the first sort key in a row. */
  #valueIn(row: DocRow): Value | undefined {
    return valueAt(this.#best.fieldsIn(row), this.#order.keys[0]!.path)
  }

  #afterId(): Uint8Array | undefined {
    return this.#after && keyOf(this.#after.id)
  }

  /** Charges the budget, which may abort the read. Entries charged in advance are free. */
  #spend(entries: number, cost: number): void {
    this.#read.met.entries += entries
    this.#read.budget.spend(this.#paidFor > 0 ? 0 : cost)
    this.#paidFor -= entries
  }
}
