/**
 * Reads documents in the order of their values.
 *
 * With few matches it sorts them. Otherwise it walks the index of the first sort key, which
 * is in order already, and has only to order the documents that share a value: by the other
 * keys, and by _id. Where many documents share a value and only _id decides, it walks the
 * documents by _id and asks the index which of them have the value; that way a page costs
 * at most about the square root of (page size x documents), whatever the data.
 */
import type { JsonObject, Value } from '../../../json/value.ts'
import { compareBy } from '../../../language/values/order.ts'
import { valueAt } from '../../../language/filters/matches.ts'
import type { Path } from '../../../language/values/path.ts'
import type { SortKey } from '../../../language/sorts/sort.ts'
import { EngineError } from '../../errors.ts'
import {
  always,
  conditionOf,
  costOf,
  indexedPaths,
  ofEntry,
  sameDocument,
  type Condition,
  type Parameter,
} from './conditions.ts'
import { keyOf } from '../../../language/values/key.ts'
import type { SortPosition } from '../store/position.ts'
import { fieldsOf, placeOf, isAfter } from './sort-position.ts'
import { documentCost, textCost, type Budget } from './budget.ts'
import type { JoinedRows } from './access-path-reader.ts'
import { idBoundsOf, type Bounds } from './id-bounds.ts'
import { boundsFrom, nextByKeys, rowsById, rowsByKey } from './id-order.ts'
import { leadsOf, type Lead } from './access-paths.ts'
import { readBatch, type Batch } from '../store/row-batch.ts'
import { rowOf, type DocRow, type StoreConnection } from '../store/store-connection.ts'
import { entriesIn, groupOf, groupsOf, type Group, type ReadGroup } from './value-groups.ts'
import { wantedBy, type Result, type StoreQuery } from '../store/store-query.ts'
import type { StoreLookup } from '../store/store-lookup.ts'

export function readSorted(reader: StoreLookup, query: StoreQuery, budget: Budget): Result {
  const { limit, sort } = query
  const read = new SortedRead(reader, query, budget)
  const order = { by: 'sort', keys: sort } as const
  const joined = read.join()
  if (joined !== undefined) {
    const more = query.lookAhead !== false && joined.next !== undefined
    return { rows: [], joined, more, order, way: read.way }
  }
  const rows = read.run()
  const more = rows.length > limit || read.isCut
  return { rows: rows.slice(0, limit), more, order, way: read.way }
}

class SortedRead {
  readonly #reader: StoreLookup
  readonly #store: StoreConnection
  readonly #query: StoreQuery
  readonly #budget: Budget
  readonly #keys: readonly SortKey[]
  readonly #fields: ReadonlySet<string>
  readonly #after: SortPosition | undefined
  readonly #condition: Condition
  /** The same of what is not said by bounds of ids. */
  readonly #beyondBounds: Condition
  /** Undefined where ids have no bounds. */
  readonly #bounds: readonly Bounds[] | undefined
  readonly #documents: number
  readonly #found: DocRow[] = []
  /** What led to the rows, in words for a trace. */
  way = 'the order of ids'
  /** Whether the texts were enough before the rows were. */
  isCut = false
  #size = 0
  /** Rows to pass before the first that is kept, and how many are still missing after. */
  #toSkip: number
  #toFind: number

  constructor(reader: StoreLookup, query: StoreQuery, budget: Budget) {
    this.#reader = reader
    this.#store = reader.store
    this.#query = query
    this.#budget = budget
    this.#keys = query.sort
    this.#fields = fieldsOf(query.sort)
    if (query.after !== undefined && query.after.by !== 'sort')
      throw new EngineError('position', 'the position belongs to another query')
    if (query.after !== undefined && query.after.values.length !== query.sort.length)
      throw new EngineError('position', 'the position belongs to another sort')
    this.#after = query.after
    const { bounds, rest } = idBoundsOf(query.filter)
    this.#condition = conditionOf(query.filter, reader.index)
    this.#beyondBounds = bounds ? conditionOf(rest, reader.index) : this.#condition
    this.#bounds = bounds
    this.#documents = reader.store.documentCount()
    this.#toSkip = query.skip
    this.#toFind = wantedBy(query) - query.skip
  }

  run(): DocRow[] {
    const { filter } = this.#query
    const [first] = this.#keys as [SortKey]
    if (first.path.text === '_id') {
      this.#runById(first.direction)
      return this.#found
    }
    const few = this.#reader.selectiveLead(filter, Math.max(1000, this.#fewerThanWalk()))
    if (few !== undefined) {
      this.way = 'sorting the few that match'
      this.#takeMatches(few)
    } else if (!this.#isIndexed(first.path)) {
      this.way = 'sorting all'
      this.#gather('doc d WHERE 1', [])
    } else {
      this.way = 'the order of the index'
      this.#walkIndex(first)
    }
    return this.#found
  }

  /** Few matches are put in order; of entries that are in order already, the first are taken. */
  #runById(direction: 1 | -1): void {
    const { filter } = this.#query
    const [lead, another] = leadsOf(filter, this.#reader.index)
    if (lead?.kind === 'keys' && another === undefined && this.#isByIdWithin(lead)) {
      this.#walkKeys(lead, direction)
      return
    }
    const few = this.#reader.selectiveLead(filter, Math.max(1000, this.#fewerThanWalk()))
    if (few === undefined || few.kind === 'idRange')
      this.#walkIds(direction, this.#after?.id, always)
    else if (this.#isByIdWithin(few)) this.#walkKeys(few as KeysLead, direction)
    else this.#takeMatches(few)
  }

  /** Whether what a lead brings stands in the order of ids, value by value. */
  #isByIdWithin(lead: Lead): boolean {
    return lead.kind === 'keys' && this.#reader.index.tie === 'id' && lead.keys.length > 0
  }

  /** Goes through the entries of some values, merged by id, until there are enough. */
  #walkKeys({ keys, rest }: KeysLead, direction: 1 | -1): void {
    const condition = conditionOf(rest, this.#reader.index)
    const looks = !condition.exact || condition.sql !== '1'
    const cost = documentCost + condition.lookups
    let from = this.#afterId()
    if (keys.length === 1 && !looks && this.#missing <= entriesMax) {
      this.#budget.spend(this.#missing)
      const stretch = { direction, from, size: this.#missing }
      const { rows, isCut } = rowsByKey(this.#store, keys[0]!, stretch, this.#budget)
      if (!isCut) {
        this.#take(rows.map(rowOf))
        return
      }
    }
    while (!this.#isFull()) {
      const size = looks
        ? Math.max(8, Math.floor(this.#budget.step / cost / keys.length))
        : Math.min(this.#missing, entriesMax)
      this.#budget.spend(size * cost * keys.length)
      const stretch = { direction, from, size }
      const { documents, isLast } = nextByKeys(this.#store, keys, stretch)
      for (const { seq } of documents) {
        const row = this.#lookUp(seq, condition)
        if (row !== undefined) this.#take([row])
        if (this.#isFull()) return
      }
      if (isLast) return
      from = documents.at(-1)!.id
    }
  }

  #lookUp(seq: number, { sql, parameters, exact }: Condition): DocRow | undefined {
    const found = this.#store.one(
      `SELECT d.seq, d.version, d.text FROM doc d WHERE d.seq = ? AND ${sql}`,
      [seq, ...parameters],
    )
    if (found === undefined) return undefined
    const row = rowOf(found)
    this.#budget.spend(textCost(row.text))
    return exact || this.#reader.matches(this.#query.filter, row) ? row : undefined
  }

  /**
   * The texts of a page in the order of the ids, where there is nothing to check: undefined
   * where there is, or the query asks for more than that, or texts are read last.
   */
  join(): JoinedRows | undefined {
    const { textsOnly, skip, limit, sizeMax } = this.#query
    if (this.#budget.hold !== undefined) return undefined
    const [{ path, direction }] = this.#keys as [SortKey]
    const { sql, exact } = this.#beyondBounds
    if (textsOnly !== true || skip > 0 || path.text !== '_id' || sql !== '1' || !exact)
      return undefined
    const size = Math.min(limit, entriesMax)
    this.#budget.spend(size)
    const found: string[] = []
    for (const bounds of boundsFrom(this.#bounds, direction, this.#afterId())) {
      const wanted = size + 1 - found.length
      if (wanted === 0) break
      const { rows, isCut } = rowsById(
        this.#store,
        { direction, from: this.#afterId(), size: wanted },
        bounds,
        [],
        this.#budget,
      )
      if (isCut) return undefined
      for (const columns of rows) found.push(columns[2] as string)
    }
    const texts = found.slice(0, size)
    const text = texts.join(',')
    if (sizeMax !== undefined && text.length > sizeMax) return undefined
    return {
      joined: { text, count: texts.length },
      next:
        found.length > size
          ? placeOf({ text: texts.at(-1)! }, this.#keys, this.#reader.view)
          : undefined,
    }
  }

  #isIndexed(path: Path): boolean {
    return !indexedPaths(path).loose && this.#reader.index.pathId(path.text) !== 'unindexed'
  }

  #afterId(): Uint8Array | undefined {
    return this.#after === undefined ? undefined : keyOf(this.#after.id)
  }

  /** Up to how many documents it is cheaper to take all of a kind than to look for them. */
  #fewerThanWalk(): number {
    return Math.ceil(Math.sqrt(this.#missing * this.#documents))
  }

  #isFull(): boolean {
    return this.#toFind === 0 || this.isCut
  }

  /** Rows that the walk has yet to meet. */
  get #missing(): number {
    return this.#toSkip + this.#toFind
  }

  #take(rows: Iterable<DocRow>): void {
    for (const row of rows) {
      if (this.#isFull()) return
      if (this.#toSkip > 0) this.#toSkip--
      else this.#keep(row)
    }
  }

  /** The same of documents whose texts were not read, or not kept. */
  #takeNumbers(seqs: Iterable<number>): void {
    for (const seq of seqs) {
      if (this.#isFull()) return
      if (this.#toSkip > 0) this.#toSkip--
      else this.#keep(this.#reader.row(seq, this.#budget))
    }
  }

  #keep(row: DocRow): void {
    const { limit, sizeMax = Infinity } = this.#query
    this.#toFind--
    if (this.#budget.hold !== undefined) {
      this.#found.push({ ...row, text: '' })
      return
    }
    this.#found.push(row)
    this.#size += row.text.length
    // One beyond the limit is not shown: it only tells that there are more.
    if (this.#found.length < limit && this.#size > sizeMax) this.isCut = true
  }

  #walkIndex({ path, direction }: SortKey): void {
    const found = this.#store.pathId(path.text)
    const id = found === 'absent' ? undefined : found
    const [having] = this.#store.one('SELECT documents FROM path WHERE id = ?', [
      id ?? 0,
    ]) ?? [0]
    const missing = this.#documents - Number(having)
    const afterValue = this.#after?.values[0]
    const startsAtMissing = this.#after === undefined || afterValue === undefined
    if (direction === 1) {
      if (startsAtMissing) this.#walkMissing(id, missing)
      if (id !== undefined) this.#walkValues(id, 1, afterValue)
    } else {
      if (id !== undefined && (this.#after === undefined || afterValue !== undefined))
        this.#walkValues(id, -1, afterValue)
      // Past the values: those without come last, whatever the position was.
      if (!this.#isFull()) this.#walkMissing(id, missing)
    }
  }

  /** Documents that lack the first key's path. */
  #walkMissing(path: number | undefined, count: number): void {
    if (count === 0 || this.#isFull()) return
    const [key] = this.#keys as [SortKey]
    const isMissing = (row: DocRow): boolean =>
      valueAt(this.#reader.view.fields(row.text, this.#fields), key.path) === undefined
    if (this.#keys.length > 1) {
      this.#gather('doc d WHERE 1', [], isMissing)
      return
    }
    const afterId = this.#after?.values[0] === undefined ? this.#after?.id : undefined
    if (path === undefined) this.#walkIds(1, afterId, always)
    else if ((this.#missing * this.#documents) / count < 5000)
      this.#walkIds(1, afterId, always, isMissing)
    else
      this.#walkIds(1, afterId, {
        sql: 'd.seq NOT IN (SELECT doc FROM entry WHERE path = ? AND element = 0)',
        parameters: [path],
        exact: true,
        lookups: 1,
      })
  }

  /** Documents that have the path, value by value. */
  #walkValues(path: number, direction: 1 | -1, afterValue: Value | undefined): void {
    // At worst the store looks through all entries for those that fulfil the condition.
    if (this.#condition.sql !== '1')
      this.#budget.spend(this.#documents * costOf(this.#condition))
    let bound = afterValue === undefined ? undefined : groupOf(keyOf(afterValue))
    let inclusive = true
    while (!this.#isFull()) {
      const size = Math.min(Math.max(8, this.#missing + 1), entriesMax)
      const { rows: entries, isCut } = this.#entries(
        path,
        direction,
        bound,
        inclusive,
        size,
      )
      const groups = groupsOf(entries)
      const isLast = entries.length < size && !isCut
      // The last group may go on beyond what was read, unless nothing does.
      const complete = isLast ? groups : groups.slice(0, -1)
      for (const group of complete) {
        this.#takeGroup(path, group)
        if (this.#isFull()) return
      }
      if (isLast) return
      const open = groups.at(-1)!
      bound = open
      inclusive = complete.length > 0
      if (!inclusive) this.#takeLargeGroup(path, open)
    }
  }

  #entries(
    path: number,
    direction: 1 | -1,
    bound: Group | undefined,
    inclusive: boolean,
    size: number,
  ): Batch {
    this.#budget.spend(size)
    let from = ''
    const parameters: Parameter[] = [path]
    if (bound !== undefined) {
      // Going up, the group starts at its low end and the rest beyond its high end.
      from = direction === 1 ? ' AND e.value >= ?' : ' AND e.value < ?'
      parameters.push((direction === 1) === inclusive ? bound.low : bound.high)
    }
    const { tie } = this.#reader.index
    const order = direction === 1 ? `e.value, e.${tie}` : `e.value DESC, e.${tie} DESC`
    const { sql, parameters: more } = this.#condition
    // The store passes over what does not fulfil the condition, and that before it looks for
    // the document, unless the condition is on its _id.
    return readBatch(
      this.#store,
      'SELECT d.seq, d.version, d.text, e.value FROM entry e ' +
        `CROSS JOIN doc d ON d.seq = e.doc WHERE ${ofEntry(sql, tie)} ` +
        `AND e.path = ? AND e.element = 0${from} ORDER BY ${order} LIMIT ?`,
      [...more, ...parameters, size],
      this.#budget,
    )
  }

  /** Takes the documents of a group that was read whole. */
  #takeGroup(path: number, group: ReadGroup): void {
    this.#budget.spend(group.rows.length)
    const isAlone = group.rows.length === 1 && this.#condition.exact
    if (isAlone && !this.#isPositionIn(group)) this.#take(group.rows)
    else this.#takeTies(path, group)
  }

  /** Takes the documents of a group that goes on beyond what was read. */
  #takeLargeGroup(path: number, group: Group): void {
    const max = this.#fewerThanWalk()
    const { sql, parameters } = entriesIn(path, group)
    const [size] = this.#store.one(
      `SELECT count(*) FROM (SELECT 1 FROM entry e WHERE ${sql} LIMIT ?)`,
      [...parameters, max],
    )!
    if (this.#keys.length > 1 || group.isMixed || Number(size) < max) {
      this.#budget.spend(Number(size))
      this.#takeTies(path, group)
    } else
      this.#walkIds(1, this.#isPositionIn(group) ? this.#after?.id : undefined, {
        sql:
          'EXISTS (SELECT 1 FROM entry WHERE path = ? AND value = ? ' +
          `AND ${sameDocument(this.#reader.index)} AND element = 0)`,
        parameters: [path, group.low],
        exact: true,
        lookups: 1,
      })
  }

  /** Takes documents that tie in the first key, in the order of what decides then. */
  #takeTies(path: number, group: Group): void {
    const { sql, parameters } = entriesIn(path, group)
    const source = `entry e CROSS JOIN doc d ON d.seq = e.doc WHERE ${sql}`
    if (this.#keys.length > 1 || !this.#condition.exact) {
      this.#gather(source, parameters)
      return
    }
    const after = this.#isPositionIn(group) ? [keyOf(this.#after!.id)] : []
    const rows = this.#store.all(
      `SELECT d.seq FROM ${source} AND ${this.#condition.sql}` +
        `${after.length > 0 ? ' AND d.id > ?' : ''} ORDER BY d.id LIMIT ?`,
      [...parameters, ...this.#condition.parameters, ...after, this.#missing],
    )
    this.#takeNumbers(rows.map(([seq]) => seq as number))
  }

  /** Whether the position is between documents of the group. */
  #isPositionIn(group: Group): boolean {
    const value = this.#after?.values[0]
    return value !== undefined && Buffer.compare(groupOf(keyOf(value)).low, group.low) === 0
  }

  #takeMatches(lead: Lead): void {
    const { filter } = this.#query
    const place = (row: DocRow) => this.#placed(row)
    const matches = this.#reader.allMatches(filter, lead, this.#budget, place)
    this.#takeBest(matches as Iterable<Placed[]>)
  }

  /** Takes the best of all documents of a source. */
  #gather(
    source: string,
    parameters: readonly Parameter[],
    accept?: (row: DocRow) => boolean,
  ): void {
    this.#takeBest(this.#stepsOf(source, parameters, accept))
  }

  *#stepsOf(
    source: string,
    parameters: readonly Parameter[],
    accept?: (row: DocRow) => boolean,
  ): Generator<Placed[]> {
    const condition = this.#condition
    const step = Math.max(1, Math.floor(this.#budget.step / documentCost))
    for (let after = 0; ;) {
      const { rows, isCut } = readBatch(
        this.#store,
        `SELECT d.seq, d.version, d.text FROM ${source} AND ${condition.sql} ` +
          'AND d.seq > ? ORDER BY d.seq LIMIT ?',
        [...parameters, ...condition.parameters, after, step],
        this.#budget,
      )
      // What was read and not what might have been: there may be many small groups.
      this.#budget.spend((rows.length + 1) * documentCost)
      const wanted = rows.map(rowOf).filter((row) => this.#isWanted(row, accept))
      yield wanted.map((row) => this.#placed(row))
      if (rows.length < step && !isCut) return
      after = rows.at(-1)![0] as number
    }
  }

  /** What comes in no order is put in order without its texts: those are read at the end. */
  #takeBest(steps: Iterable<readonly Placed[]>): void {
    let best: Placed[] = []
    for (const step of steps) best = this.#best([...best, ...step])
    this.#takeNumbers(best.map(({ seq }) => seq))
  }

  #placed({ seq, version, text }: DocRow): Placed {
    const fields = this.#reader.view.fields(text, this.#fields)
    return { seq, version, text: '', fields }
  }

  /** Takes matching documents in the order of their ids until there are enough. */
  #walkIds(
    direction: 1 | -1,
    afterId: Value | undefined,
    extra: Condition,
    accept?: (row: DocRow) => boolean,
  ): void {
    const condition = this.#beyondBounds
    // The store looks for rows that fulfil the conditions, at worst through all of them.
    if (condition.sql !== '1' || extra.sql !== '1') this.#budget.spend(this.#documents)
    const looks = !condition.exact || accept !== undefined
    const step = Math.max(1, Math.floor(this.#budget.step / documentCost))
    let from = afterId === undefined ? undefined : keyOf(afterId)
    for (const bounds of boundsFrom(this.#bounds, direction, from))
      for (let isMore = true; isMore;) {
        const size = looks ? step : Math.min(this.#missing, entriesMax)
        this.#budget.spend(size * documentCost)
        const { rows, isCut } = rowsById(
          this.#store,
          { direction, from, size },
          bounds,
          [extra, condition],
          this.#budget,
        )
        for (const columns of rows) {
          const row = rowOf(columns)
          if (this.#isWanted(row, accept)) this.#take([row])
          if (this.#isFull()) return
        }
        isMore = rows.length === size || isCut
        if (isMore) from = rows.at(-1)![3] as Uint8Array
      }
  }

  /** What the store could not decide about a row. */
  #isWanted(row: DocRow, accept: ((row: DocRow) => boolean) | undefined): boolean {
    const matches = () => this.#reader.matches(this.#query.filter, row)
    return (this.#condition.exact || matches()) && (accept?.(row) ?? true)
  }

  /** The first rows in the sort's order that come after the position. */
  #best(rows: readonly Placed[]): Placed[] {
    const compare = compareBy(this.#keys)
    return rows
      .filter(({ fields }) => this.#isAfter(fields))
      .sort((a, b) => compare(a.fields, b.fields))
      .slice(0, this.#missing)
  }

  #isAfter(document: JsonObject): boolean {
    return this.#after === undefined || isAfter(document, this.#after, this.#keys)
  }
}

/** A row without its text, and what a sort looks at. */
interface Placed extends DocRow {
  readonly fields: JsonObject
}

type KeysLead = Extract<Lead, { readonly kind: 'keys' }>

/** Entries that are read at a time, however many are to be skipped. */
const entriesMax = 4096
