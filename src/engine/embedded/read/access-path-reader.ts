/**
 * Executes access paths: yields the rows of the leading path, and checks the rest of the filter on
 * them.
 */
import type { Filter } from '../../../language/filters/filter.ts'
import type { Joined } from '../../contract.ts'
import { EngineError } from '../../errors.ts'
import { textCost, type Budget } from '../store/budget.ts'
import { always, conditionOf, costOf, unknown, type Index } from './conditions.ts'
import { boundsSql } from './id-bounds.ts'
import { rowsWithin } from './id-order.ts'
import type { Key, Lead } from './access-paths.ts'
import { candidateOf, merged, metRow, type Met } from './candidates.ts'
import type { LexicalReader } from '../lexical/reader.ts'
import { valueIn } from '../format/entry-key.ts'
import type { StoredPosition } from '../format/position.ts'
import { rowColumns, type DocRow } from '../format/doc-row.ts'
import type { StoreConnection } from '../store/store-connection.ts'

/** A query to execute along one access path. */
interface LeadQuery {
  readonly filter: Filter
  readonly after: StoredPosition | undefined
  readonly budget: Budget
  /** Only counts rows: their texts are read only if the filter needs them. */
  readonly countOnly?: boolean
}

/** Whether a row matches, decided by parsing the document. */
export type Matches = (filter: Filter, row: DocRow, budget: Budget) => boolean

export class LeadReader {
  readonly #store: StoreConnection
  readonly #lexical: (path: string) => LexicalReader
  readonly #index: Index
  readonly #matches: Matches

  constructor(
    index: Index,
    {
      lexical,
      matches,
    }: {
      readonly lexical: (path: string) => LexicalReader
      readonly matches: Matches
    },
  ) {
    this.#store = index.store
    this.#lexical = lexical
    this.#index = index
    this.#matches = matches
  }

  /** The lead with the fewest entries. Counts each only up to the best so far, or up to `max`. */
  smallest(
    leads: readonly Lead[],
    max: number,
    budget: Budget,
  ): { lead: Lead; size: number } {
    let best: { lead: Lead; size: number } | undefined
    for (const lead of leads) {
      budget.spend(countCost(lead))
      const size = this.#leadSize(lead, best?.size ?? max)
      if (best === undefined || size < best.size) best = { lead, size }
    }
    return best!
  }

  #leadSize(lead: Lead, max: number): number {
    switch (lead.kind) {
      case 'all':
        return this.#store.documentCount()
      case 'ids':
        return lead.ids.length
      case 'keys': {
        const { entries } = this.#store
        return lead.keys.reduce(
          (size, { path, value }) => size + entries.countValue(path, value),
          0,
        )
      }
      case 'terms':
        return this.#lexical(lead.path).sizeMax(lead.terms)
      case 'idRange': {
        let size = 0
        for (const bounds of lead.bounds) {
          if (size >= max) return max
          const { sql, parameters } = boundsSql(bounds)
          const counted = `SELECT count(*) FROM (SELECT 1 FROM doc d WHERE ${sql} LIMIT ?)`
          size += Number(this.#store.one(counted, [...parameters, max - size])![0])
        }
        return size
      }
      case 'range':
        return this.#store.entries.countRange(lead.range, max)
    }
  }

  /** The number of rows of a lead, when the index knows it without reading rows. */
  count(lead: Lead): number | undefined {
    if (conditionOf(lead.rest, this.#index) !== always) return undefined
    // Documents with several of the values would be counted more than once.
    const isOnce = lead.kind === 'range' || (lead.kind === 'keys' && lead.keys.length <= 1)
    return isOnce ? this.#leadSize(lead, Infinity) : undefined
  }

  /** Matching rows in the order of the lead. */
  *rows(lead: Lead, search: LeadQuery): Generator<DocRow> {
    const { filter, after, budget, countOnly } = search
    const condition = conditionOf(lead.rest, this.#index)
    // Texts are read only if the caller or the filter needs them.
    const isNumberEnough = countOnly === true && condition.exact
    const cost = costOf(condition)
    // Texts of all candidates are needed, so they are read together with them.
    const isSoon = condition === always || condition === unknown
    const withTexts = isSoon && !isNumberEnough
    for (const met of this.#follow(lead, after, budget, withTexts)) {
      budget.spend(cost)
      if (!condition.holds(met)) continue
      const row = isNumberEnough ? numberOf(met) : metRow(met, this.#store)
      budget.spend(textCost(row.text))
      if (!condition.exact && !this.#matches(filter, row, budget)) continue
      yield row
    }
  }

  /** Candidates of a lead, in its order, each document once. */
  *#follow(
    lead: Lead,
    after: StoredPosition | undefined,
    budget: Budget,
    withTexts: boolean,
  ): Generator<Met> {
    const { tie } = this.#index
    switch (lead.kind) {
      case 'ids':
        yield* this.#byIds(lead.ids, seqOf(after))
        return
      case 'idRange':
        // Never continued from a position: later pages are read in the order of ids.
        for (const bounds of lead.bounds)
          yield* rowsWithin(this.#store, { bounds, direction: 1, withTexts })
        return
      case 'terms':
        for (const seqs of this.#lexical(lead.path).documents(
          lead.terms,
          seqOf(after),
          budget,
        ))
          for (const seq of seqs) yield { seq, id: () => this.#store.idOf(seq) }
        return
      case 'range': {
        const place =
          after?.by === 'range'
            ? { value: after.value, owner: { seq: after.seq, id: noId } }
            : undefined
        const found = this.#store.entries.inRange(lead.range, { after: place })
        for (const entry of found) {
          const value = valueIn(entry.key)
          yield { ...candidateOf(entry, this.#index), value }
        }
        return
      }
      case 'keys':
        yield* tie === 'id'
          ? this.#byKeys(lead.keys)
          : this.#byKeysInOrder(lead.keys, seqOf(after))
        return
      case 'all':
        yield* this.#everything(seqOf(after), withTexts)
    }
  }

  *#byIds(ids: readonly Uint8Array[], after: number): Generator<Met> {
    const found = new Map<number, Uint8Array>()
    for (const id of ids) {
      const seq = this.#store.numberOf(id)
      if (seq !== undefined && seq > after) found.set(seq, id)
    }
    for (const [seq, id] of [...found].sort(([a], [b]) => a - b))
      yield { seq, id: () => id }
  }

  /** Documents with one of the values, by ascending document number. */
  *#byKeysInOrder(keys: readonly Key[], after: number): Generator<Met> {
    const { entries } = this.#store
    const walks = keys.map(({ path, value }) => entries.numbersWith(path, value, after))
    let last = 0
    for (const seq of merged(walks, (a, b) => a < b)) {
      if (seq === last) continue
      last = seq
      yield { seq, id: () => this.#store.idOf(seq) }
    }
  }

  /** Rows with one of the values. Never continued from a position, like id ranges. */
  *#byKeys(keys: readonly Key[]): Generator<Met> {
    const seen = new Set<number>()
    for (const { path, value } of keys)
      for (const entry of this.#store.entries.withValue(path, value)) {
        if (seen.has(entry.doc)) continue
        if (keys.length > 1) seen.add(entry.doc)
        yield candidateOf(entry, this.#index)
      }
  }

  *#everything(after: number, withTexts: boolean): Generator<Met> {
    const columns = withTexts ? rowColumns : 'd.seq'
    const sql = `SELECT ${columns} FROM doc d WHERE d.seq > ? ORDER BY d.seq`
    for (const found of this.#store.prepared(sql).iterate(after)) {
      const row = found as unknown as unknown[]
      const seq = row[0] as number
      const met = { seq, id: () => this.#store.idOf(seq) }
      yield withTexts ? { ...met, row: this.#store.rowOf(row) } : met
    }
  }

  /**
   * The texts of a page, joined by SQLite. Undefined when part of the filter is left to check, the
   * order is not by document number, or texts are long: they are then read one by one, to stop at
   * the size limit or at the budget.
   */
  join(
    lead: Lead,
    after: StoredPosition | undefined,
    limit: number,
    sizeMax: number | undefined,
  ): JoinedRows | undefined {
    if (conditionOf(lead.rest, this.#index) !== always) return undefined
    const numbers = this.#firstNumbers(lead, after, limit + 1)
    if (numbers === undefined) return undefined
    const page = numbers.slice(0, limit)
    const text = this.#store.joinedTexts(page, sizeMax)
    if (text === undefined) return undefined
    return {
      joined: { text, count: page.length },
      next: numbers.length > limit ? { by: 'seq', seq: page.at(-1)! } : undefined,
    }
  }

  /** The first document numbers of a lead; undefined unless its order is by document number. */
  #firstNumbers(
    lead: Lead,
    after: StoredPosition | undefined,
    size: number,
  ): number[] | undefined {
    if (lead.kind === 'all') {
      const sql = 'SELECT seq FROM doc WHERE seq > ? ORDER BY seq LIMIT ?'
      return this.#store.all(sql, [seqOf(after), size]).map(([seq]) => seq as number)
    }
    if (lead.kind !== 'keys' || lead.keys.length !== 1 || this.#index.tie === 'id')
      return undefined
    const [{ path, value }] = lead.keys as [Key]
    const numbers: number[] = []
    for (const seq of this.#store.entries.numbersWith(path, value, seqOf(after)))
      if (numbers.push(seq) === size) break
    return numbers
  }
}

const noId = new Uint8Array()

export interface JoinedRows {
  readonly joined: Joined
  /** Position of the last row, if others follow it. */
  readonly next: StoredPosition | undefined
}

/** Cost of counting the entries of a lead, in index lookups. */
function countCost(lead: Lead): number {
  return lead.kind === 'keys' ? lead.keys.length : 1
}

/** A row with only its number, for counting. */
function numberOf({ seq, value }: Met): DocRow {
  return { seq, version: 0, text: '', ...(value !== undefined && { value }) }
}

function seqOf(after: StoredPosition | undefined): number {
  if (after === undefined) return 0
  if (after.by === 'seq') return after.seq
  throw new EngineError('position', 'the position belongs to another query')
}
