/**
 * Reads one store through a connection of its own.
 *
 * A page is read by a lead and a condition (leads.ts, conditions.ts), in steps of bounded
 * size: on the thread that answers requests a read may take few steps before it gives up
 * (OverBudget) and starts again on a reading thread, which takes as many as it needs and
 * looks between them whether it is still wanted.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { parseStored } from '../../json/parse.ts'
import { isObject, type JsonObject } from '../../json/value.ts'
import type { Filter } from '../../query/filter.ts'
import type { IndexingRule } from '../../query/indexing.ts'
import { matches } from '../../query/matches.ts'
import { EngineError, type SearchFields } from '../engine.ts'
import { conditionOf, type Condition, type Parameter } from './conditions.ts'
import { keyOf } from './key.ts'
import { openToRead, storedPath } from './layout.ts'
import { leadsOf, rangeSql, type Key, type Lead, type Range } from './leads.ts'
import type { Place } from './position.ts'
import { readSorted } from './sorted-reader.ts'
import { decodeVector } from './vector-bytes.ts'
import type { SortKey } from '../../query/sort.ts'

/** A query as it reaches a store: the engine contract's, with the position decoded. */
export interface StoreQuery {
  readonly filter: Filter
  readonly sort: readonly SortKey[]
  readonly skip: number
  readonly limit: number
  readonly after: Place | undefined
  readonly stable: boolean
  readonly withSearchFields: boolean
  readonly lookAhead?: boolean
}

/** How many rows to find: one more than asked for tells whether there are more. */
export function wantedBy({ skip, limit, lookAhead }: StoreQuery): number {
  return skip + limit + (lookAhead === false ? 0 : 1)
}

export interface Row {
  readonly seq: number
  readonly version: number
  readonly text: string
  /** The value by which a range led to the row. */
  readonly value?: Uint8Array
  search?: SearchFields
}

export interface Result {
  readonly rows: Row[]
  /** Whether matches follow the last row. */
  readonly more: boolean
  /** How to say where a row stands in this result. */
  readonly order:
    { readonly by: 'seq' } | { readonly by: 'range'; path: string } | SortOrder
}

export interface SortOrder {
  readonly by: 'sort'
}

/** Thrown when a read has used up what its thread allows it. */
export class OverBudget extends Error {}

/** What a read may cost. One unit is an index lookup; a document looked into costs more. */
export interface Budget {
  /** Units that one step may take: the time for which nothing else runs. */
  readonly step: number
  /** Counts what was used; throws OverBudget, or when the read is no longer wanted. */
  spend(units: number): void
}

/** Reading and parsing a document, in index lookups. */
export const documentCost = 4

export class StoreReader {
  readonly #database: DatabaseSync
  readonly #rule: IndexingRule
  readonly #statements = new Map<string, StatementSync>()
  readonly #pathIds = new Map<string, number>()

  constructor(file: string, rule: IndexingRule) {
    this.#database = openToRead(file)
    this.#rule = rule
  }

  close(): void {
    this.#database.close()
  }

  read(query: StoreQuery, budget: Budget): Result {
    const byId = this.#readById(query)
    if (byId !== undefined) return byId
    return this.#consistently(() => {
      const result =
        query.sort.length > 0
          ? readSorted(this, query, budget)
          : this.#readUnsorted(query, budget)
      if (query.withSearchFields)
        for (const row of result.rows) row.search = this.searchFields(row.seq)
      return result
    })
  }

  /** Counts matches, giving up counting at `stopAt`. */
  count(filter: Filter, stopAt: number, budget: Budget): number {
    if (filter.kind === 'and' && filter.of.length === 0)
      return Math.min(this.documentCount(), stopAt)
    return this.#consistently(() => {
      const leads = this.#leadsFor({ filter, stable: false, after: undefined })
      const lead = leads.length > 1 ? this.#smallest(leads, 8192).lead : leads[0]
      let count = 0
      const steps = this.#steps(
        lead ?? all(filter),
        filter,
        undefined,
        stopAt,
        budget,
        true,
      )
      for (const rows of steps) {
        count += rows.length
        if (count >= stopAt) return stopAt
      }
      return count
    })
  }

  documentCount(): number {
    return Number(this.one("SELECT value FROM meta WHERE name = 'documents'", [])![0])
  }

  /** All matching rows of a selective filter, in no promised order. */
  allMatches(filter: Filter, lead: Lead, budget: Budget): Row[] {
    return [...this.#steps(lead, filter, undefined, Infinity, budget)].flat()
  }

  /** The lead that a filter offers with the fewest documents, if fewer than `max`. */
  selectiveLead(filter: Filter, max: number): Lead | undefined {
    const leads = leadsOf(filter, this.pathId)
    if (leads.length === 0) return undefined
    const { lead, size } = this.#smallest(leads, max)
    return size < max ? lead : undefined
  }

  condition(filter: Filter): Condition {
    return conditionOf(filter, this.pathId)
  }

  /** Whether a row matches, by looking into the document. */
  matches(filter: Filter, row: Row): boolean {
    return matches(filter, this.#documentToMatch(filter, row))
  }

  searchFields(seq: number): SearchFields {
    const found = this.one(
      'SELECT vector_form, vector, vectorize, lexical FROM search WHERE doc = ?',
      [seq],
    )
    if (found === undefined) return {}
    const [form, bytes, vectorize, lexical] = found as [
      number,
      Uint8Array | null,
      string | null,
      string | null,
    ]
    const vector = decodeVector({ form, bytes })
    return {
      ...(vector !== undefined && { vector }),
      ...(vectorize !== null && { vectorize: parseStored(vectorize) as string | null }),
      ...(lexical !== null && { lexical: parseStored(lexical) as string | null }),
    }
  }

  /** The number of a path. Numbers never change, so they are remembered. */
  readonly pathId = (path: string): number | undefined => {
    const known = this.#pathIds.get(path)
    if (known !== undefined) return known
    const found = this.one('SELECT id FROM path WHERE path = ?', [storedPath(path)])
    if (found === undefined) return undefined
    const id = Number(found[0])
    this.#pathIds.set(path, id)
    return id
  }

  all(sql: string, parameters: readonly (Parameter | string)[]): unknown[][] {
    return this.#prepared(sql).all(...parameters) as unknown as unknown[][]
  }

  one(sql: string, parameters: readonly (Parameter | string)[]): unknown[] | undefined {
    return this.#prepared(sql).get(...parameters) as unknown as unknown[] | undefined
  }

  /** The commonest read of all: one document by its id, and nothing else asked. */
  #readById(query: StoreQuery): Result | undefined {
    const { filter, sort, withSearchFields, after, skip } = query
    if (filter.kind !== 'eq' || filter.path.text !== '_id' || withSearchFields)
      return undefined
    if (after !== undefined || skip > 0) return undefined
    const found = this.one(`SELECT ${rowColumns} FROM doc d WHERE d.id = ?`, [
      keyOf(filter.value),
    ])
    return {
      rows: found === undefined ? [] : [rowOf(found)],
      more: false,
      order: { by: sort.length > 0 ? 'sort' : 'seq' },
    }
  }

  #readUnsorted(query: StoreQuery, budget: Budget): Result {
    const leads = this.#leadsFor(query)
    if (leads.length <= 1) return this.#readBy(leads[0] ?? all(query.filter), query, budget)
    const quick = this.#smallest(leads, 128)
    if (quick.size < 128) return this.#readBy(quick.lead, query, budget)
    // Where all leads are long, matches are often close together, and the page is full
    // before counting would have paid.
    try {
      return this.#readBy(quick.lead, query, tryOut(budget))
    } catch (error) {
      if (!(error instanceof OverBudget)) throw error
    }
    return this.#readBy(this.#smallest(leads, 8192).lead, query, budget)
  }

  #readBy(lead: Lead, query: StoreQuery, budget: Budget): Result {
    const { filter, after, skip, limit } = query
    const wanted = wantedBy(query)
    const rows: Row[] = []
    for (const step of this.#steps(lead, filter, after, wanted, budget)) {
      for (const row of step) rows.push(row)
      if (rows.length >= wanted) break
    }
    return {
      rows: rows.slice(skip, skip + limit),
      more: rows.length > skip + limit,
      order:
        lead.kind === 'range' ? { by: 'range', path: lead.range.pathText } : { by: 'seq' },
    }
  }

  /**
   * The leads that a query can follow. A stable read goes by the documents' numbers, which
   * no update changes; a page that continues another keeps that one's order.
   */
  #leadsFor(query: Pick<StoreQuery, 'filter' | 'stable' | 'after'>): Lead[] {
    const { filter, stable, after } = query
    const offered = leadsOf(filter, this.pathId)
    if (offered[0]?.kind === 'ids') return offered
    const leads = offered.filter((lead) => {
      if (after?.by === 'range')
        return lead.kind === 'range' && lead.range.pathText === after.path
      return lead.kind !== 'range' || (!stable && after === undefined)
    })
    if (after?.by === 'range' && leads.length === 0)
      throw new EngineError('position', 'the position belongs to another query')
    return leads
  }

  /** The lead with the fewest entries, counted up to a maximum. */
  #smallest(leads: readonly Lead[], max: number): { lead: Lead; size: number } {
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
        return Math.min(this.documentCount(), max)
      case 'ids':
        return lead.ids.length
      case 'keys': {
        let size = 0
        for (const { path, value } of lead.keys) {
          if (size >= max) return max
          const sql =
            'SELECT count(*) FROM (SELECT 1 FROM entry WHERE path = ? AND value = ? LIMIT ?)'
          size += Number(this.one(sql, [path, value, max - size])![0])
        }
        return size
      }
      case 'range': {
        const { sql, parameters } = rangeSql(lead.range)
        const counted = `SELECT count(*) FROM (SELECT 1 FROM entry e WHERE ${sql} LIMIT ?)`
        return Number(this.one(counted, [...parameters, max])![0])
      }
    }
  }

  /** Matching rows in the lead's order, step by step, until nothing is left. */
  *#steps(
    lead: Lead,
    filter: Filter,
    after: Place | undefined,
    wanted: number,
    budget: Budget,
    countOnly = false,
  ): Generator<Row[]> {
    const condition = this.condition(lead.rest)
    // Texts are read where they are wanted, or must be looked into.
    const columns = countOnly && condition.exact ? 'd.seq, 0, 0' : rowColumns
    const check: Check = { condition, filter, wanted, columns }
    switch (lead.kind) {
      case 'ids':
        yield this.#rowsByIds(lead.ids, check, seqOf(after), budget)
        return
      case 'range':
        yield* this.#rangeSteps(lead.range, check, after, budget)
        return
      case 'keys':
        if (lead.keys.length === 0) return
        yield* this.#seqSteps(lead.keys.map(keySource), check, seqOf(after), budget)
        return
      case 'all':
        yield* this.#seqSteps([allSource], check, seqOf(after), budget)
    }
  }

  #rowsByIds(
    ids: readonly Uint8Array[],
    check: Check,
    after: number,
    budget: Budget,
  ): Row[] {
    budget.spend(ids.length * documentCost)
    const { condition, filter } = check
    const rows: Row[] = []
    for (const id of ids) {
      const found = this.one(
        `SELECT ${check.columns} FROM doc d ` +
          `WHERE d.id = ? AND d.seq > ? AND ${condition.sql}`,
        [id, after, ...condition.parameters],
      )
      if (found !== undefined) rows.push(rowOf(found))
    }
    return mergeBySeq(rows).filter((row) => condition.exact || this.matches(filter, row))
  }

  /** Sources that yield documents by number, merged; a document in several comes once. */
  *#seqSteps(
    sources: readonly Source[],
    check: Check,
    after: number,
    budget: Budget,
  ): Generator<Row[]> {
    const { condition, wanted } = check
    const limit = condition.exact && Number.isFinite(wanted) ? wanted : undefined
    // With nothing to check, the first rows are the result: no step can be too long.
    const oneStep = condition.sql === '1' && limit !== undefined
    const cost = condition.exact ? 1 : documentCost
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

  /** Rows of a statement that match, as many as are wanted. */
  #rows(sql: string, parameters: readonly Parameter[], check: Check): Row[] {
    const { condition, filter, wanted } = check
    if (condition.exact) return this.all(sql, parameters).map(rowOf)
    const rows: Row[] = []
    for (const columns of this.#prepared(sql).iterate(...parameters)) {
      const row = rowOf(columns as unknown as unknown[])
      if (this.matches(filter, row)) rows.push(row)
      if (rows.length >= wanted) break
    }
    return rows
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
      const found = this.one(`${numbers} > ? ORDER BY 1 LIMIT 1 OFFSET ?`, [
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
    after: Place | undefined,
    budget: Budget,
  ): Generator<Row[]> {
    const { condition, wanted } = check
    const { sql, parameters } = rangeSql(range)
    const { exact } = condition
    const cost = exact ? 1 : documentCost
    const size = Math.max(1, Math.floor(budget.step / cost))
    // With nothing to check, the first rows are the result: no step can be too long.
    const oneStep = exact && condition.sql === '1' && Number.isFinite(wanted)
    let start = after?.by === 'range' ? after : undefined
    for (;;) {
      const from = start === undefined ? '' : ' AND (e.value, e.doc) > (?, ?)'
      const fromParameters = start === undefined ? [] : [start.value, start.seq]
      const end = oneStep
        ? undefined
        : (this.one(
            `SELECT e.value, e.doc FROM entry e WHERE ${sql}${from} ` +
              'ORDER BY e.value, e.doc LIMIT 1 OFFSET ?',
            [...parameters, ...fromParameters, size - 1],
          ) as [Uint8Array, number] | undefined)
      if (!oneStep) budget.spend(size * cost)
      const upTo = end === undefined ? '' : ' AND (e.value, e.doc) <= (?, ?)'
      const limited = exact && Number.isFinite(wanted)
      yield this.#rows(
        `SELECT ${check.columns}, e.value FROM entry e ` +
          `CROSS JOIN doc d ON d.seq = e.doc WHERE ${sql}${from}${upTo} ` +
          `AND ${condition.sql} ORDER BY e.value, e.doc${limited ? ' LIMIT ?' : ''}`,
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
      start = { by: 'range', path: range.pathText, value: end[0], seq: end[1] }
    }
  }

  #documentToMatch(filter: Filter, row: Row): JsonObject {
    const document = this.#rule.prune(documentOf(row))
    if (!mentionsSearchFields(filter)) return document
    const { vector, vectorize, lexical } = this.searchFields(row.seq)
    // Only their presence can be asked for.
    if (vector !== undefined) document.set('$vector', null)
    if (vectorize !== undefined) document.set('$vectorize', null)
    if (lexical !== undefined) document.set('$lexical', null)
    return document
  }

  /** Several statements that see the same state of the store. */
  #consistently<T>(read: () => T): T {
    this.#prepared('BEGIN').run()
    try {
      return read()
    } finally {
      this.#prepared('COMMIT').run()
    }
  }

  #prepared(sql: string): StatementSync {
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      statement = this.#database.prepare(sql)
      statement.setReturnArrays(true)
      // Filters come in endless shapes; the common ones are few and soon back.
      if (this.#statements.size >= 500) this.#statements.clear()
      this.#statements.set(sql, statement)
    }
    return statement
  }
}

function all(filter: Filter): Lead {
  return { kind: 'all', rest: filter }
}

/** A short attempt, at the cost of the real one. */
function tryOut(budget: Budget): Budget {
  let left = 512
  return {
    step: 256,
    spend(units) {
      budget.spend(0)
      left -= units
      if (left < 0) throw new OverBudget()
    },
  }
}

/** In order, each document once. */
function mergeBySeq(rows: readonly Row[]): Row[] {
  const once = new Map(rows.map((row) => [row.seq, row]))
  return [...once.values()].sort((a, b) => a.seq - b.seq)
}

const rowColumns = 'd.seq, d.version, d.text'

interface Check {
  readonly columns: string
  readonly condition: Condition
  readonly filter: Filter
  readonly wanted: number
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

export function rowOf(columns: readonly unknown[]): Row {
  const [seq, version, text, value] = columns as [number, number, string, Uint8Array?]
  return value === undefined ? { seq, version, text } : { seq, version, text, value }
}

export function documentOf(row: { readonly text: string }): JsonObject {
  const document = parseStored(row.text)
  if (!isObject(document))
    throw new EngineError('damaged', 'a stored document is no object')
  return document
}

function seqOf(after: Place | undefined): number {
  if (after === undefined) return 0
  if (after.by === 'seq') return after.seq
  throw new EngineError('position', 'the position belongs to another query')
}

function mentionsSearchFields(filter: Filter): boolean {
  if (filter.kind === 'and' || filter.kind === 'or')
    return filter.of.some(mentionsSearchFields)
  return filter.path.text.startsWith('$')
}
