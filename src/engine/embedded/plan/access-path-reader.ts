/**
 * Follows leads: finds the rows that they lead to, in steps of bounded size, and checks what
 * they left open.
 */
import type { Filter } from '../../../language/filters/filter.ts'
import type { Joined } from '../../contract.ts'
import { EngineError } from '../../errors.ts'
import { documentCost, textCost, type Budget } from './budget.ts'
import {
  conditionOf,
  costOf,
  type Condition,
  type Parameter,
  type Index,
} from './conditions.ts'
import { boundsSql, type Bounds } from './id-bounds.ts'
import { rangeSql, type Key, type Lead, type Range } from './access-paths.ts'
import type { LexicalReader } from '../lexical/reader.ts'
import type { StoredPosition } from '../store/position.ts'
import {
  numbersOnly,
  rowColumns,
  rowOf,
  type DocRow,
  type StoreConnection,
} from '../store/store-connection.ts'

/** What to find by following a lead. */
export interface Search {
  readonly filter: Filter
  readonly after: StoredPosition | undefined
  /** How many rows at most; Infinity for all. */
  readonly wanted: number
  readonly budget: Budget
  /** Whether rows are only counted: they come without their texts, if these are not needed. */
  readonly countOnly?: boolean
  /** What to keep of a row once it was looked at, where its text is too much to hold. */
  readonly shrink?: Shrink
}

export type Shrink = (row: DocRow) => DocRow

/** Whether a row matches, by looking into the document. */
export type Matches = (filter: Filter, row: DocRow) => boolean

export class LeadReader {
  readonly #store: StoreConnection
  readonly #lexical: (path: string) => LexicalReader
  readonly #index: Index
  readonly #matches: Matches

  constructor(
    store: StoreConnection,
    {
      lexical,
      index,
      matches,
    }: {
      readonly lexical: (path: string) => LexicalReader
      readonly index: Index
      readonly matches: Matches
    },
  ) {
    this.#store = store
    this.#lexical = lexical
    this.#index = index
    this.#matches = matches
  }

  /** The lead with the fewest entries, counted up to a maximum. */
  smallest(leads: readonly Lead[], max: number): { lead: Lead; size: number } {
    let best: { lead: Lead; size: number } | undefined
    for (const lead of leads) {
      const size = this.#leadSize(lead, best?.size ?? max)
      if (best === undefined || size < best.size) best = { lead, size }
    }
    return best!
  }

  /** How many entries a lead has, counted up to a maximum. */
  #leadSize(lead: Lead, max: number): number {
    switch (lead.kind) {
      case 'all':
        return Math.min(this.#store.documentCount(), max)
      case 'ids':
        return lead.ids.length
      case 'keys': {
        let size = 0
        for (const { path, value } of lead.keys) {
          if (size >= max) return max
          const sql =
            'SELECT count(*) FROM (SELECT 1 FROM entry WHERE path = ? AND value = ? LIMIT ?)'
          size += Number(this.#store.one(sql, [path, value, max - size])![0])
        }
        return size
      }
      case 'terms':
        return Math.min(this.#lexical(lead.path).sizeMax(lead.terms), max)
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
      case 'range': {
        const { sql, parameters } = rangeSql(lead.range)
        const counted = `SELECT count(*) FROM (SELECT 1 FROM entry e WHERE ${sql} LIMIT ?)`
        return Number(this.#store.one(counted, [...parameters, max])![0])
      }
    }
  }

  /** Matching rows in the lead's order, step by step, until nothing is left. */
  *steps(lead: Lead, search: Search): Generator<DocRow[]> {
    const { filter, after, wanted, budget, countOnly, shrink } = search
    const condition = conditionOf(lead.rest, this.#index)
    // Texts are read where they are wanted, or must be looked into.
    const columns = countOnly === true && condition.exact ? numbersOnly : rowColumns
    const check: Check = { condition, filter, wanted, budget, columns, shrink }
    switch (lead.kind) {
      case 'ids':
        yield this.#rowsByIds(lead.ids, check, seqOf(after), budget)
        return
      case 'range':
        yield* this.#rangeSteps(lead.range, check, after, budget)
        return
      case 'terms':
        yield* this.#termSteps(lead, check, seqOf(after), budget)
        return
      case 'idRange':
        for (const bounds of lead.bounds) yield* this.#idSteps(bounds, check, budget)
        return
      case 'keys':
        if (lead.keys.length === 0) return
        if (this.#index.tie === 'id') yield* this.#keySteps(lead.keys, check, budget)
        else yield* this.#seqSteps(lead.keys.map(keySource), check, seqOf(after), budget)
        return
      case 'all':
        yield* this.#seqSteps([allSource], check, seqOf(after), budget)
    }
  }

  /**
   * The texts that a lead brings, joined by the store: a third of the work of reading them
   * one by one. Undefined where something is left to check, the order is another, or texts
   * are long: then reading them one by one tells when they are enough, or too much for here.
   */
  join(
    lead: Lead,
    after: StoredPosition | undefined,
    limit: number,
    sizeMax: number | undefined,
  ): JoinedRows | undefined {
    const source = soleSource(lead)
    const { sql: open, exact } = conditionOf(lead.rest, this.#index)
    if (source === undefined || open !== '1' || !exact) return undefined
    const { sql, seq, numbers, parameters } = source
    const start = seqOf(after)
    // The last row of the page, and the one after it.
    const [last, following] = this.#store.all(
      `${numbers} > ? ORDER BY 1 LIMIT 2 OFFSET ?`,
      [...parameters, start, limit - 1],
    )
    const end = last?.[0] as number | undefined
    const page =
      `FROM ${sql} AND ${seq} > ?` + (end === undefined ? '' : ` AND ${seq} <= ?`)
    const pageParameters = [...parameters, start, ...(end === undefined ? [] : [end])]
    if (sizeMax !== undefined) {
      // Bytes are found without reading texts, and are not fewer than characters.
      const [size] = this.#store.one(
        `SELECT total(octet_length(d.text)) ${page}`,
        pageParameters,
      ) as [number]
      if (size > sizeMax) return undefined
    }
    const lengthMax = Math.max(joinedMax / limit, 4_096)
    const [text, count, longest] = this.#store.one(
      `SELECT group_concat(iif(octet_length(d.text) > ?, NULL, d.text), ','), count(*), ` +
        `max(octet_length(d.text)) ${page}`,
      [lengthMax, ...pageParameters],
    ) as [string | null, number, number | null]
    if (longest !== null && longest > lengthMax) return undefined
    return {
      joined: { text: text ?? '', count },
      next: following === undefined ? undefined : { by: 'seq', seq: end! },
    }
  }

  #rowsByIds(
    ids: readonly Uint8Array[],
    check: Check,
    after: number,
    budget: Budget,
  ): DocRow[] {
    const { condition } = check
    budget.spend(ids.length * (documentCost + condition.lookups))
    const rows: DocRow[] = []
    for (const id of ids) {
      const found = this.#store.one(
        `SELECT ${check.columns} FROM doc d ` +
          `WHERE d.id = ? AND d.seq > ? AND ${condition.sql}`,
        [id, after, ...condition.parameters],
      )
      if (found !== undefined) this.#keep(rowOf(found), rows, check)
    }
    return mergeBySeq(rows)
  }

  /** Sources that yield documents by number, merged; a document in several comes once. */
  *#seqSteps(
    sources: readonly Source[],
    check: Check,
    after: number,
    budget: Budget,
  ): Generator<DocRow[]> {
    const { condition, wanted } = check
    const limit = condition.exact && Number.isFinite(wanted) ? wanted : undefined
    // With nothing to check, the first rows are the result: no step can be too long.
    const oneStep = condition.sql === '1' && limit !== undefined
    const cost = costOf(condition)
    let start = after
    for (;;) {
      const end = oneStep ? undefined : this.#stepEnd(sources, start, cost, budget)
      const found = sources.map(({ sql, seq, parameters }) =>
        this.#rows(
          `SELECT ${check.columns} FROM ${sql} AND ${condition.sql} AND ${seq} > ?` +
            `${end === undefined ? '' : ` AND ${seq} <= ?`} ORDER BY ${seq}` +
            (limit === undefined ? '' : ' LIMIT ?'),
          [
            ...parameters,
            ...condition.parameters,
            start,
            ...(end === undefined ? [] : [end]),
            ...(limit === undefined ? [] : [limit]),
          ],
          check,
        ),
      )
      yield found.length === 1 ? found[0]! : mergeBySeq(found.flat())
      if (end === undefined) return
      start = end
    }
  }

  /** Rows that have one of some values, each once. Never a page of several, as above. */
  *#keySteps(keys: readonly Key[], check: Check, budget: Budget): Generator<DocRow[]> {
    const seen = new Set<number>()
    for (const { path, value } of keys) {
      const bound = { key: value, inclusive: true }
      const range = { pathText: '', path, low: bound, high: bound, withElements: true }
      for (const rows of this.#rangeSteps(range, check, undefined, budget)) {
        yield keys.length === 1 ? rows : rows.filter(({ seq }) => !seen.has(seq))
        if (keys.length > 1) for (const { seq } of rows) seen.add(seq)
      }
    }
  }

  /** Documents by their terms, in order. */
  *#termSteps(
    { path, terms }: { readonly path: string; readonly terms: readonly string[] },
    check: Check,
    after: number,
    budget: Budget,
  ): Generator<DocRow[]> {
    const { columns, condition, wanted } = check
    const sql = `SELECT ${columns} FROM doc d WHERE d.seq = ? AND ${condition.sql}`
    const isNumberEnough = columns === numbersOnly && condition.sql === '1'
    let missing = wanted
    for (const seqs of this.#lexical(path).documents(terms, after, budget)) {
      const rows: DocRow[] = []
      for (const seq of seqs) {
        if (missing === 0) break
        if (!isNumberEnough) budget.spend(costOf(condition))
        const found = isNumberEnough
          ? [{ seq, version: 0, text: '' }]
          : this.#rows(sql, [seq, ...condition.parameters], check)
        for (const row of found) rows.push(row)
        missing -= found.length
      }
      yield rows
      if (missing === 0) return
    }
  }

  /** Documents by their ids. Never a page of several: those are read in order of the ids. */
  *#idSteps(bounds: Bounds, check: Check, budget: Budget): Generator<DocRow[]> {
    const { condition } = check
    const cost = documentCost + condition.lookups
    const size = Math.max(1, Math.floor(budget.step / cost))
    let from = bounds
    for (;;) {
      budget.spend(size * cost)
      const { sql, parameters } = boundsSql(from)
      const last = this.#store.one(
        `SELECT d.id FROM doc d WHERE ${sql} ORDER BY d.id LIMIT 1 OFFSET ?`,
        [...parameters, size - 1],
      )?.[0] as Uint8Array | undefined
      const step = boundsSql(
        last === undefined ? from : { ...from, high: { key: last, inclusive: true } },
      )
      yield this.#rows(
        `SELECT ${check.columns} FROM doc d WHERE ${step.sql} AND ${condition.sql}`,
        [...step.parameters, ...condition.parameters],
        check,
      )
      if (last === undefined) return
      from = { ...from, low: { key: last, inclusive: false } }
    }
  }

  /** Rows of a statement that match, as many as are wanted. */
  #rows(sql: string, parameters: readonly Parameter[], check: Check): DocRow[] {
    const { condition, wanted, columns: selected, shrink } = check
    if (selected === numbersOnly && condition.exact && shrink === undefined)
      return this.#store.all(sql, parameters).map(rowOf)
    const rows: DocRow[] = []
    for (const columns of this.#store.prepared(sql).iterate(...parameters)) {
      this.#keep(rowOf(columns as unknown as unknown[]), rows, check)
      if (rows.length >= wanted) break
    }
    return rows
  }

  /** Puts a row to the others if it matches. */
  #keep(row: DocRow, rows: DocRow[], check: Check): void {
    const { condition, filter, budget, columns, shrink } = check
    if (columns !== numbersOnly) budget.spend(textCost(row.text))
    if (!condition.exact && !this.#matches(filter, row)) return
    rows.push(shrink === undefined ? row : shrink(row))
  }

  /** The number up to which one step may go; undefined when it may go to the end. */
  #stepEnd(
    sources: readonly Source[],
    start: number,
    cost: number,
    budget: Budget,
  ): number | undefined {
    const size = Math.max(1, Math.floor(budget.step / cost / sources.length))
    let end: number | undefined
    for (const { numbers, parameters } of sources) {
      const found = this.#store.one(`${numbers} > ? ORDER BY 1 LIMIT 1 OFFSET ?`, [
        ...parameters,
        start,
        size - 1,
      ])
      if (found !== undefined) end = Math.min(end ?? Infinity, Number(found[0]))
    }
    budget.spend(size * cost * sources.length)
    return end
  }

  *#rangeSteps(
    range: Range,
    check: Check,
    after: StoredPosition | undefined,
    budget: Budget,
  ): Generator<DocRow[]> {
    const { condition, wanted } = check
    const { sql, parameters } = rangeSql(range)
    const { exact } = condition
    const cost = costOf(condition)
    const size = Math.max(1, Math.floor(budget.step / cost))
    // With nothing to check, the first rows are the result: no step can be too long.
    const oneStep = exact && condition.sql === '1' && Number.isFinite(wanted)
    const { tie } = this.#index
    let start: [Uint8Array, number | Uint8Array] | undefined =
      after?.by === 'range' ? [after.value, after.seq] : undefined
    for (;;) {
      const from = start === undefined ? '' : ` AND (e.value, e.${tie}) > (?, ?)`
      const fromParameters = start ?? []
      const end = oneStep
        ? undefined
        : (this.#store.one(
            `SELECT e.value, e.${tie} FROM entry e WHERE ${sql}${from} ` +
              `ORDER BY e.value, e.${tie} LIMIT 1 OFFSET ?`,
            [...parameters, ...fromParameters, size - 1],
          ) as [Uint8Array, number | Uint8Array] | undefined)
      if (!oneStep) budget.spend(size * cost)
      const upTo = end === undefined ? '' : ` AND (e.value, e.${tie}) <= (?, ?)`
      const limited = exact && Number.isFinite(wanted)
      yield this.#rows(
        `SELECT ${check.columns}, e.value FROM entry e ` +
          `CROSS JOIN doc d ON d.seq = e.doc WHERE ${sql}${from}${upTo} ` +
          `AND ${condition.sql} ORDER BY e.value, e.${tie}${limited ? ' LIMIT ?' : ''}`,
        [
          ...parameters,
          ...fromParameters,
          ...(end ?? []),
          ...condition.parameters,
          ...(limited ? [wanted] : []),
        ],
        check,
      )
      if (end === undefined) return
      start = end
    }
  }
}

/** Bytes of texts that are joined, about. */
const joinedMax = 1_000_000

export interface JoinedRows {
  readonly joined: Joined
  /** Where the last row stands, if others follow it. */
  readonly next: StoredPosition | undefined
}

function soleSource(lead: Lead): Source | undefined {
  if (lead.kind === 'all') return allSource
  return lead.kind === 'keys' && lead.keys.length === 1
    ? keySource(lead.keys[0]!)
    : undefined
}

/** In order, each document once. */
function mergeBySeq(rows: readonly DocRow[]): DocRow[] {
  const once = new Map(rows.map((row) => [row.seq, row]))
  return [...once.values()].sort((a, b) => a.seq - b.seq)
}

interface Check {
  readonly columns: string
  readonly condition: Condition
  readonly filter: Filter
  readonly wanted: number
  readonly budget: Budget
  readonly shrink: Shrink | undefined
}

/** A stream of documents by number: how to select them, and their numbers alone. */
interface Source {
  readonly sql: string
  /** The column whose order is the index's own, so that nothing has to be sorted. */
  readonly seq: string
  readonly numbers: string
  readonly parameters: readonly Parameter[]
}

const allSource: Source = {
  sql: 'doc d WHERE 1',
  seq: 'd.seq',
  numbers: 'SELECT seq FROM doc WHERE seq',
  parameters: [],
}

function keySource({ path, value }: Key): Source {
  return {
    sql: 'entry e CROSS JOIN doc d ON d.seq = e.doc WHERE e.path = ? AND e.value = ?',
    seq: 'e.doc',
    numbers: 'SELECT doc FROM entry WHERE path = ? AND value = ? AND doc',
    parameters: [path, value],
  }
}

function seqOf(after: StoredPosition | undefined): number {
  if (after === undefined) return 0
  if (after.by === 'seq') return after.seq
  throw new EngineError('position', 'the position belongs to another query')
}
