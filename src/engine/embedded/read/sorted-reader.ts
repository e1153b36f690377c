/**
 * Reads documents in the order of their values.
 *
 * Few matches are read and sorted. Otherwise it walks the index of the first sort key, which is in
 * order already, and sorts only within groups: documents with the same value, sorted by the other
 * keys and by _id. In a large group where only _id decides, it walks the documents by _id and
 * checks in the index whether they have the value. A page then costs at most about sqrt(page size x
 * documents), whatever the data.
 */
import type { Value } from '../../../json/value.ts'
import { valueAt } from '../../../language/values/value-at.ts'
import type { Path } from '../../../language/values/path.ts'
import type { SortKey } from '../../../language/values/sort-key.ts'
import { EngineError } from '../../errors.ts'
import {
  always,
  conditionOf,
  costOf,
  hasEntry,
  indexedPaths,
  skipCost,
  unknown,
  walkCost,
  type PossibleMatch,
  type Condition,
} from './conditions.ts'
import { keyOf } from '../../../language/values/key.ts'
import type { SortPosition } from '../format/position.ts'
import { placeOf } from './sort-position.ts'
import { documentCost, textCost, type Budget } from '../store/budget.ts'
import type { JoinedRows } from './access-path-reader.ts'
import { idBoundsOf, type Bounds } from './id-bounds.ts'
import { boundsFrom, firstTexts, rowsWithin } from './id-order.ts'
import { RowsInOrder } from './rows-in-order.ts'
import { accessPathsOf, type AccessPath } from './access-paths.ts'
import { candidateOf, merged, candidateRow } from './candidates.ts'
import { tieStart, valueIn } from '../format/entry-key.ts'
import type { EntryRange } from '../runs/runs-reader.ts'
import type { DocRow } from '../format/doc-row.ts'
import {
  groupOf,
  isAnyIn,
  rangeFrom,
  startOf,
  startOfKey,
  type Group,
  type OpenGroup,
  type Placed,
} from './value-groups.ts'
import { wantedBy, type Result, type StoreQuery } from './store-query.ts'
import { bare, type StoreLookup } from './store-lookup.ts'

export function readSorted(reader: StoreLookup, query: StoreQuery, budget: Budget): Result {
  const { limit, sort } = query
  const order = { by: 'sort', keys: sort } as const
  const joining = new SortedRead(reader, query, budget)
  const joined = joining.joinByIds() ?? joining.joinFound()
  if (joined !== undefined) {
    const more = query.lookAhead !== false && joined.next !== undefined
    return { rows: [], joined, more, order, way: joining.way }
  }
  const read = new SortedRead(reader, query, budget)
  const rows = read.run()
  const more = rows.length > limit || read.isCut
  return { rows: rows.slice(0, limit), more, order, way: read.way }
}

class SortedRead {
  readonly #reader: StoreLookup
  readonly #store: StoreLookup['store']
  readonly #query: StoreQuery
  readonly #budget: Budget
  readonly #keys: readonly SortKey[]
  readonly #order: RowsInOrder
  readonly #after: SortPosition | undefined
  #condition: Condition
  /** The condition without the id ranges. */
  #beyondBounds: Condition
  /** Undefined: the filter has no id range. */
  readonly #bounds: readonly Bounds[] | undefined
  #documentCount: number | undefined
  /** Key prefix of the entries in the position's group, if there is a position. */
  #placeStart: string | undefined
  readonly #found: DocRow[] = []
  /** Access path, in words for a trace. */
  way = 'the order of ids'
  /** Whether the page exceeded `sizeMax` before it had `limit` rows. */
  isCut = false
  /** Whether rows are found without their texts. */
  #isTextless: boolean
  #size = 0
  /** Rows to skip before the first result, and results that are still missing. */
  #toSkip: number
  #toFind: number
  /** Entries that were charged to the budget before their walk. */
  #paidFor = 0

  constructor(reader: StoreLookup, query: StoreQuery, budget: Budget) {
    this.#reader = reader
    this.#store = reader.store
    this.#query = query
    this.#budget = budget
    this.#keys = query.sort
    if (query.after !== undefined && query.after.by !== 'sort')
      throw new EngineError('position', 'the position belongs to another query')
    if (query.after !== undefined && query.after.values.length !== query.sort.length)
      throw new EngineError('position', 'the position belongs to another sort')
    this.#after = query.after
    this.#order = new RowsInOrder(query.sort, query.after, reader.view, budget)
    this.#bounds = idBoundsOf(query.filter).bounds
    ;[this.#condition, this.#beyondBounds] = this.#conditions(0)
    this.#isTextless = budget.hold !== undefined
    this.#toSkip = query.skip
    this.#toFind = wantedBy(query) - query.skip
  }

  /** Conditions on `expected` documents: of the whole filter, and of its part beside id ranges. */
  #conditions(expected: number): [whole: Condition, beyondBounds: Condition] {
    const { filter } = this.#query
    const { index } = this.#reader
    const whole = conditionOf(filter, index, expected)
    if (this.#bounds === undefined) return [whole, whole]
    return [whole, conditionOf(idBoundsOf(filter).rest, index, expected)]
  }

  run(): DocRow[] {
    const { filter } = this.#query
    const [first] = this.#keys as [SortKey]
    if (first.path.text === '_id') {
      this.#runById(first.direction)
      return this.#found
    }
    const few = Math.max(fewMatches, Math.ceil(this.#fewerThanWalk() / fewerToSort))
    const best = this.#reader.smallestPath(filter, few, this.#budget)
    if (best !== undefined && best.size < few) {
      this.way = 'sorting the matches'
      this.#takeMatches(best.accessPath)
    } else if (!this.#isIndexed(first.path)) {
      this.way = 'sorting all'
      this.#takeMatches({ kind: 'all', rest: filter })
    } else {
      this.way = 'the order of the index'
      if (best !== undefined) {
        const expected = (this.#paidFor = this.#walkedFor(best.size))
        ;[this.#condition, this.#beyondBounds] = this.#conditions(expected)
        // Charged in advance, so that a long read leaves the main thread before it starts.
        this.#budget.spend(walkCost(expected, best.size, this.#condition))
      }
      this.#walkIndex(first)
    }
    return this.#found
  }

  /** Sorts few matches; walks entries that are in order already. */
  #runById(direction: 1 | -1): void {
    const { filter } = this.#query
    const paths = accessPathsOf(filter, this.#reader.index)
    const [only] = paths
    if (paths.length === 1 && only?.kind === 'keys' && this.#isByIdWithin(only)) {
      this.#walkKeys(only, direction)
      return
    }
    const max = Math.max(1000, this.#fewerThanWalk())
    const few = this.#reader.selectivePath(filter, max, this.#budget)
    if (few === undefined || few.kind === 'idRange')
      this.#walkIds(direction, this.#after?.id, always)
    else if (this.#isByIdWithin(few)) this.#walkKeys(few as KeysPath, direction)
    else this.#takeMatches(few)
  }

  /** Whether the rows of an access path come in id order, for each of its values. */
  #isByIdWithin(path: AccessPath): boolean {
    return path.kind === 'keys' && this.#reader.index.tie === 'id' && path.keys.length > 0
  }

  /** Walks the entries of some values, merged by id. */
  #walkKeys({ keys, rest }: KeysPath, direction: 1 | -1): void {
    const condition = conditionOf(rest, this.#reader.index)
    const from = this.#afterId()
    const after = from && { seq: 0, id: from }
    const walks = keys.map(({ path, value }) =>
      this.#store.entries.withValue(path, value, { direction, after }),
    )
    const idOf = (key: string) => (keys.length === 1 ? '' : key.slice(tieStart(key)))
    const inOrder = merged(walks, ({ key: a }, { key: b }) =>
      direction === 1 ? idOf(a) < idOf(b) : idOf(a) > idOf(b),
    )
    let last = 0
    for (const entry of inOrder) {
      if (this.#isFull()) return
      // A row with several of the values appears only once.
      if (entry.doc === last) continue
      last = entry.doc
      this.#budget.spend(documentCost + condition.lookups)
      this.#takeIfMatching(candidateOf(entry, this.#reader.index), condition)
    }
  }

  /** Adds a document that satisfies the condition and matches. */
  #takeIfMatching(candidate: PossibleMatch, condition: Condition): void {
    if (!condition.holds(candidate)) return
    if (condition.exact) {
      this.#takeNumber(candidate.seq)
      return
    }
    const row = candidateRow(candidate, this.#store)
    this.#budget.spend(textCost(row.text))
    if (this.#reader.matches(this.#query.filter, row, this.#budget)) this.#take(row)
  }

  /**
   * The joined texts of a page in id order, when no filter is left to check. Undefined when the
   * query needs more than that, or when texts are to be read last.
   */
  joinByIds(): JoinedRows | undefined {
    const { textsOnly, skip, limit, sizeMax } = this.#query
    if (this.#budget.hold !== undefined) return undefined
    const [{ path, direction }] = this.#keys as [SortKey]
    const isOpen = this.#beyondBounds !== always
    if (textsOnly !== true || skip > 0 || path.text !== '_id' || isOpen) return undefined
    const size = Math.min(limit, joinedMax)
    this.#budget.spend(size)
    const walk = { bounds: this.#bounds, direction, from: this.#afterId() }
    const found = firstTexts(this.#store, walk, size, this.#budget)
    if (found === undefined) return undefined
    const texts = found.slice(0, size)
    const text = texts.join(',')
    if (sizeMax !== undefined && text.length > sizeMax) return undefined
    const last = found.length > size ? { text: texts.at(-1)! } : undefined
    return this.#joined(text, texts.length, last)
  }

  /**
   * The joined texts of a page that the index alone can find, read together at the end. Undefined
   * when documents have to be parsed, or some are long: they are then read one by one.
   */
  joinFound(): JoinedRows | undefined {
    const { textsOnly, withSearchFields, limit, sizeMax } = this.#query
    if (textsOnly !== true || withSearchFields || this.#isTextless) return undefined
    if (!this.#condition.exact) return undefined
    this.#isTextless = true
    const found = this.run()
    const page = found.slice(0, limit).map(({ seq }) => seq)
    const text = this.#store.joinedTexts(page, sizeMax)
    if (text === undefined) return undefined
    const last = found.length > limit ? this.#store.row(page.at(-1)!) : undefined
    return this.#joined(text, page.length, last)
  }

  /** `last`: the last document, if others follow it. */
  #joined(text: string, count: number, last?: Pick<DocRow, 'text'>): JoinedRows {
    const next = last && placeOf(last, this.#keys, this.#reader.view)
    return { joined: { text, count }, next }
  }

  #isIndexed(path: Path): boolean {
    return !indexedPaths(path).loose && this.#reader.index.pathId(path.text) !== 'unindexed'
  }

  get #documents(): number {
    return (this.#documentCount ??= this.#store.documentCount())
  }

  #afterId(): Uint8Array | undefined {
    return this.#after === undefined ? undefined : keyOf(this.#after.id)
  }

  /** Up to this many documents, collecting and sorting them is cheaper than a walk. */
  #fewerThanWalk(): number {
    return Math.ceil(Math.sqrt(this.#missing * this.#documents))
  }

  /** Expected documents to walk until the page is full, if `matches` are spread evenly. */
  #walkedFor(matches: number): number {
    return (this.#missing * this.#documents) / Math.max(1, matches)
  }

  #isFull(): boolean {
    return this.#toFind === 0 || this.isCut
  }

  /** Rows that the walk has yet to find. */
  get #missing(): number {
    return this.#toSkip + this.#toFind
  }

  #take(row: DocRow): void {
    if (this.#isFull()) return
    if (this.#toSkip > 0) this.#toSkip--
    else this.#keep(row)
  }

  /** Adds a document whose text was not read or not kept. */
  #takeNumber(seq: number): void {
    if (this.#isFull()) return
    if (this.#toSkip > 0) this.#toSkip--
    else this.#keep(this.#isTextless ? bare(seq) : this.#reader.row(seq, this.#budget))
  }

  #keep(row: DocRow): void {
    const { limit, sizeMax = Infinity } = this.#query
    this.#toFind--
    if (this.#isTextless) {
      this.#found.push({ ...row, text: '' })
      return
    }
    this.#found.push(row)
    this.#size += row.text.length
    // A row beyond the limit is not returned: it only shows that more follow.
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
      // Documents without the value come last, wherever the position was.
      if (!this.#isFull()) this.#walkMissing(id, missing)
    }
  }

  /** Adds documents without a value at the first key's path. */
  #walkMissing(path: number | undefined, count: number): void {
    if (count === 0 || this.#isFull()) return
    const [key] = this.#keys as [SortKey]
    const isMissing = (row: DocRow): boolean =>
      valueAt(this.#order.fieldsIn(row), key.path) === undefined
    if (this.#keys.length > 1) {
      this.#takeMatches({ kind: 'all', rest: this.#query.filter }, isMissing)
      return
    }
    const afterId = this.#after?.values[0] === undefined ? this.#after?.id : undefined
    if (path === undefined) this.#walkIds(1, afterId, always)
    else if ((this.#missing * this.#documents) / count < 5000)
      this.#walkIds(1, afterId, always, isMissing)
    else this.#walkIds(1, afterId, this.#lacks(path))
  }

  /** The document has no value at the path. Lists the documents that have one. */
  #lacks(path: number): Condition {
    const having = new Set<number>()
    for (const { doc } of this.#store.entries.inRange({ path })) {
      this.#budget.spend(1)
      having.add(doc)
    }
    return { holds: ({ seq }) => !having.has(seq), exact: true, lookups: 0 }
  }

  /** Adds documents that have the path, in the order of values. */
  #walkValues(path: number, direction: 1 | -1, afterValue: Value | undefined): void {
    let range: EntryRange = { path }
    if (afterValue !== undefined) {
      const group = groupOf(keyOf(afterValue))
      this.#placeStart = startOf(path, group)
      range = rangeFrom(path, group, direction, true)
    }
    while (!this.#isFull()) {
      const large = this.#takeGroups(range, direction)
      if (large === undefined) return
      this.#takeLargeGroup(path, large)
      range = rangeFrom(path, large, direction, false)
    }
  }

  /** Adds groups one by one. Returns the first group that is too large to sort. */
  #takeGroups(range: EntryRange, direction: 1 | -1): Group | undefined {
    const condition = this.#condition
    const cost = Math.max(1, condition.lookups)
    let group: OpenGroup | undefined
    let sizeMax = this.#groupSizeMax()
    let passed = 0
    const documents = condition.among?.()
    const passing = (entries: number): void => {
      passed += entries
      this.#spend(entries, skipCost(entries))
    }
    const walk = { direction, only: documents && { documents, passing } }
    for (const entry of this.#store.entries.inRange(range, walk)) {
      this.#spend(1, cost)
      if (group === undefined || !entry.key.startsWith(group.start)) {
        if (group !== undefined && isAnyIn(group)) {
          this.#takeGroup(group)
          if (this.#isFull()) return undefined
          group = undefined
          sizeMax = this.#groupSizeMax()
        }
        // Most values have one document, and most filters reject it: the group object is reused.
        group ??= { start: '', size: 0, members: [], best: [] }
        group.start = startOfKey(entry.key)
        group.size = 0
      } else group.size += passed
      passed = 0
      if (++group.size > sizeMax) return groupOf(valueIn(entry.key))
      const candidate = candidateOf(entry, this.#reader.index)
      if (condition.holds(candidate)) this.#addTo(group, candidate.seq)
    }
    if (group !== undefined) this.#takeGroup(group)
    return undefined
  }

  /** Charges the budget, which may abort the read. Entries charged in advance are free. */
  #spend(entries: number, cost: number): void {
    this.#budget.spend(this.#paidFor > 0 ? 0 : cost)
    this.#paidFor -= entries
  }

  /** Groups above this size are not sorted. Applies only if ids alone decide within a group. */
  #groupSizeMax(): number {
    return this.#keys.length === 1 ? Math.max(8, this.#fewerThanWalk()) : Infinity
  }

  /** Documents to collect before they are sorted together with the best so far. */
  get #gatheredMax(): number {
    return Math.max(gatheredMin, this.#missing >> 1)
  }

  #addTo(group: OpenGroup, seq: number): void {
    group.members.push(seq)
    // With more keys, all members are compared and only the best are kept.
    if (this.#keys.length > 1 && group.members.length >= this.#gatheredMax)
      this.#gather(group)
  }

  #takeGroup(group: OpenGroup): void {
    if (this.#keys.length > 1) {
      this.#gather(group)
      for (const { seq } of group.best) this.#takeNumber(seq)
      return
    }
    const isPlace = group.start === this.#placeStart
    const { members } = group
    this.#budget.spend(members.length)
    const isOrdered = members.length < 2 && !isPlace
    for (const seq of isOrdered ? members : this.#inOrderOfIds(members, isPlace)) {
      if (this.#isFull()) return
      if (this.#condition.exact) this.#takeNumber(seq)
      else this.#takeIfMatching({ seq, id: () => this.#store.idOf(seq) }, unknown)
    }
  }

  /** Members of a group in id order, behind the position, as many as needed. */
  #inOrderOfIds(members: readonly number[], isPlace: boolean): readonly number[] {
    const after = isPlace ? this.#afterId() : undefined
    const limit = this.#condition.exact ? this.#missing : -1
    return this.#store.inOrderOfIds(members, after, limit)
  }

  /** Keeps the best of the collected documents. */
  #gather(group: OpenGroup): void {
    const rows: Placed[] = []
    for (const seq of group.members) {
      const row = this.#store.row(seq)
      this.#budget.spend(documentCost + textCost(row.text))
      if (this.#isWanted(row)) rows.push(this.#order.placed(row))
    }
    group.members = []
    group.best = this.#order.first([...group.best, ...rows], this.#missing)
  }

  /** Adds the documents of a group by walking all documents by id. */
  #takeLargeGroup(path: number, group: Group): void {
    const isPlace = startOf(path, group) === this.#placeStart
    const afterId = isPlace ? this.#after?.id : undefined
    if (!group.isMixed) {
      const asked = { index: this.#reader.index, expected: 0, isValueOnly: true }
      this.#walkIds(1, afterId, hasEntry(path, group.low, asked))
      return
    }
    const [key] = this.#keys as [SortKey]
    this.#walkIds(1, afterId, always, (row) => {
      const value = valueAt(this.#order.fieldsIn(row), key.path)
      return value !== undefined && keyOf(value)[0] === group.low[0]
    })
  }

  /** Sorts unordered matches without their texts, which are read at the end. */
  #takeMatches(accessPath: AccessPath, accept?: (row: DocRow) => boolean): void {
    let best: Placed[] = []
    let gathered: Placed[] = []
    const atATime = this.#gatheredMax
    const search = { filter: this.#query.filter, after: undefined, budget: this.#budget }
    for (const row of this.#reader.accessPaths.rows(accessPath, search)) {
      if (accept?.(row) === false) continue
      if (gathered.push(this.#order.placed(row)) < atATime) continue
      best = this.#order.first([...best, ...gathered], this.#missing)
      gathered = []
    }
    best = this.#order.first([...best, ...gathered], this.#missing)
    for (const { seq } of best) this.#takeNumber(seq)
  }

  /** Adds matching documents in id order until the page is full. */
  #walkIds(
    direction: 1 | -1,
    afterId: Value | undefined,
    extra: Condition,
    accept?: (row: DocRow) => boolean,
  ): void {
    const condition = this.#beyondBounds
    const isSoon = (part: Condition) => part === always || part === unknown
    const withTexts = isSoon(condition) && isSoon(extra)
    const isSaid = this.#condition.exact && accept === undefined
    const cost = costOf(condition) + extra.lookups + (withTexts ? documentCost : 0)
    const from = afterId === undefined ? undefined : keyOf(afterId)
    for (const bounds of boundsFrom(this.#bounds, direction, from)) {
      const stretch = { bounds, direction, from, withTexts }
      for (const met of rowsWithin(this.#store, stretch)) {
        this.#budget.spend(cost)
        if (!extra.holds(met) || !condition.holds(met)) continue
        if (!withTexts && isSaid) this.#takeNumber(met.seq)
        else {
          const row = candidateRow(met, this.#store)
          this.#budget.spend(textCost(row.text))
          if (this.#isWanted(row, accept)) this.#take(row)
        }
        if (this.#isFull()) return
      }
    }
  }

  /** Checks the rest of the filter on a row. */
  #isWanted(row: DocRow, accept?: (row: DocRow) => boolean): boolean {
    const matches = () => this.#reader.matches(this.#query.filter, row, this.#budget)
    return (this.#condition.exact || matches()) && (accept?.(row) ?? true)
  }
}

/** Up to this many matches are sorted, whatever the sort. */
const fewMatches = 50
/** Square root of the cost of reading a document, which is about 40 entries. */
const fewerToSort = 6

type KeysPath = Extract<AccessPath, { readonly kind: 'keys' }>

const gatheredMin = 512

/** Maximum texts joined at a time. */
const joinedMax = 4096
