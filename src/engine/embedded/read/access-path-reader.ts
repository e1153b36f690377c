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
import type { Key, AccessPath } from './access-paths.ts'
import { candidateOf, merged, candidateRow, type ReadCandidate } from './candidates.ts'
import type { LexicalReader } from '../lexical/reader.ts'
import { valueIn } from '../format/entry-key.ts'
import type { StoredPosition } from '../format/position.ts'
import { rowColumns, type DocRow } from '../format/doc-row.ts'
import type { StoreConnection } from '../store/store-connection.ts'

/** A query to execute along one access path. */
interface PathQuery {
  readonly filter: Filter
  readonly after: StoredPosition | undefined
  readonly budget: Budget
  /** Only counts rows: their texts are read only if the filter needs them. */
  readonly countOnly?: boolean
}

/** Whether a row matches, decided by parsing the document. */
export type Matches = (filter: Filter, row: DocRow, budget: Budget) => boolean

export class AccessPathReader {
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

  /** The access path with the fewest entries. Counts each only up to the best so far, or up to `max`. */
  smallest(
    accessPaths: readonly AccessPath[],
    max: number,
    budget: Budget,
  ): { accessPath: AccessPath; size: number } {
    let best: { accessPath: AccessPath; size: number } | undefined
    for (const accessPath of accessPaths) {
      budget.spend(countCost(accessPath))
      const size = this.#pathSize(accessPath, best?.size ?? max)
      if (best === undefined || size < best.size) best = { accessPath, size }
    }
    return best!
  }

  #pathSize(accessPath: AccessPath, max: number): number {
    switch (accessPath.kind) {
      case 'all':
        return this.#store.documentCount()
      case 'ids':
        return accessPath.ids.length
      case 'keys': {
        const { entries } = this.#store
        return accessPath.keys.reduce(
          (size, { path, value }) => size + entries.countValue(path, value),
          0,
        )
      }
      case 'terms':
        return this.#lexical(accessPath.path).sizeMax(accessPath.terms)
      case 'idRange': {
        let size = 0
        for (const bounds of accessPath.bounds) {
          if (size >= max) return max
          const { sql, parameters } = boundsSql(bounds)
          const counted = `SELECT count(*) FROM (SELECT 1 FROM doc d WHERE ${sql} LIMIT ?)`
          size += Number(this.#store.one(counted, [...parameters, max - size])![0])
        }
        return size
      }
      case 'range':
        return this.#store.entries.countRange(accessPath.range, max)
    }
  }

  /** The number of rows of an access path, when the index knows it without reading rows. */
  count(accessPath: AccessPath): number | undefined {
    if (conditionOf(accessPath.rest, this.#index) !== always) return undefined
    // Documents with several of the values would be counted more than once.
    const isOnce =
      accessPath.kind === 'range' ||
      (accessPath.kind === 'keys' && accessPath.keys.length <= 1)
    return isOnce ? this.#pathSize(accessPath, Infinity) : undefined
  }

  /** Matching rows in the order of the access path. */
  *rows(accessPath: AccessPath, search: PathQuery): Generator<DocRow> {
    const { filter, after, budget, countOnly } = search
    const condition = conditionOf(accessPath.rest, this.#index)
    // Texts are read only if the caller or the filter needs them.
    const isNumberEnough = countOnly === true && condition.exact
    const cost = costOf(condition)
    // Texts of all candidates are needed, so they are read together with them.
    const isSoon = condition === always || condition === unknown
    const withTexts = isSoon && !isNumberEnough
    for (const met of this.#follow(accessPath, after, budget, withTexts)) {
      budget.spend(cost)
      if (!condition.holds(met)) continue
      const row = isNumberEnough ? numberOf(met) : candidateRow(met, this.#store)
      budget.spend(textCost(row.text))
      if (!condition.exact && !this.#matches(filter, row, budget)) continue
      yield row
    }
  }

  /** Candidates of an access path, in its order, each document once. */
  *#follow(
    accessPath: AccessPath,
    after: StoredPosition | undefined,
    budget: Budget,
    withTexts: boolean,
  ): Generator<ReadCandidate> {
    const { tie } = this.#index
    switch (accessPath.kind) {
      case 'ids':
        yield* this.#byIds(accessPath.ids, seqOf(after))
        return
      case 'idRange':
        // Never continued from a position: later pages are read in the order of ids.
        for (const bounds of accessPath.bounds)
          yield* rowsWithin(this.#store, { bounds, direction: 1, withTexts })
        return
      case 'terms':
        for (const seqs of this.#lexical(accessPath.path).documents(
          accessPath.terms,
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
        const found = this.#store.entries.inRange(accessPath.range, { after: place })
        for (const entry of found) {
          const value = valueIn(entry.key)
          yield { ...candidateOf(entry, this.#index), value }
        }
        return
      }
      case 'keys':
        yield* tie === 'id'
          ? this.#byKeys(accessPath.keys)
          : this.#byKeysInOrder(accessPath.keys, seqOf(after))
        return
      case 'all':
        yield* this.#everything(seqOf(after), withTexts)
    }
  }

  *#byIds(ids: readonly Uint8Array[], after: number): Generator<ReadCandidate> {
    const found = new Map<number, Uint8Array>()
    for (const id of ids) {
      const seq = this.#store.numberOf(id)
      if (seq !== undefined && seq > after) found.set(seq, id)
    }
    for (const [seq, id] of [...found].sort(([a], [b]) => a - b))
      yield { seq, id: () => id }
  }

  /** Documents with one of the values, by ascending document number. */
  *#byKeysInOrder(keys: readonly Key[], after: number): Generator<ReadCandidate> {
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
  *#byKeys(keys: readonly Key[]): Generator<ReadCandidate> {
    const seen = new Set<number>()
    for (const { path, value } of keys)
      for (const entry of this.#store.entries.withValue(path, value)) {
        if (seen.has(entry.doc)) continue
        if (keys.length > 1) seen.add(entry.doc)
        yield candidateOf(entry, this.#index)
      }
  }

  *#everything(after: number, withTexts: boolean): Generator<ReadCandidate> {
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
    accessPath: AccessPath,
    after: StoredPosition | undefined,
    limit: number,
    sizeMax: number | undefined,
  ): JoinedRows | undefined {
    if (conditionOf(accessPath.rest, this.#index) !== always) return undefined
    const numbers = this.#firstNumbers(accessPath, after, limit + 1)
    if (numbers === undefined) return undefined
    const page = numbers.slice(0, limit)
    const text = this.#store.joinedTexts(page, sizeMax)
    if (text === undefined) return undefined
    return {
      joined: { text, count: page.length },
      next: numbers.length > limit ? { by: 'seq', seq: page.at(-1)! } : undefined,
    }
  }

  /** The first document numbers of an access path; undefined unless its order is by document number. */
  #firstNumbers(
    accessPath: AccessPath,
    after: StoredPosition | undefined,
    size: number,
  ): number[] | undefined {
    if (accessPath.kind === 'all') {
      const sql = 'SELECT seq FROM doc WHERE seq > ? ORDER BY seq LIMIT ?'
      return this.#store.all(sql, [seqOf(after), size]).map(([seq]) => seq as number)
    }
    if (
      accessPath.kind !== 'keys' ||
      accessPath.keys.length !== 1 ||
      this.#index.tie === 'id'
    )
      return undefined
    const [{ path, value }] = accessPath.keys as [Key]
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

/** Cost of counting the entries of an access path, in index lookups. */
function countCost(accessPath: AccessPath): number {
  return accessPath.kind === 'keys' ? accessPath.keys.length : 1
}

/** A row with only its number, for counting. */
function numberOf({ seq, value }: ReadCandidate): DocRow {
  return { seq, version: 0, text: '', ...(value !== undefined && { value }) }
}

function seqOf(after: StoredPosition | undefined): number {
  if (after === undefined) return 0
  if (after.by === 'seq') return after.seq
  throw new EngineError('position', 'the position belongs to another query')
}
