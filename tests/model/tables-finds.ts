/** Random finds in a table, compared with the model of the table. */
import assert from 'node:assert/strict'
import type { Random } from './random.ts'
import { Answers, raw, type Found, type Page } from './tables-answers.ts'
import type { SchemaChanges } from './tables-changes.ts'
import {
  anything,
  besideEachOther,
  projectionOf,
  type Condition,
  type RandomFilters,
} from './tables-filters.ts'
import {
  atomIn,
  compareRows,
  hasVectorKey,
  hasWords,
  searchedWords,
  similarity,
  type Column,
  type Index,
  type Row,
  type TableOracle,
} from './tables-oracle.ts'
import type { Session, World } from './tables-session.ts'
import {
  jsonText,
  object,
  randomVector,
  Raw,
  spellVector,
  type Json,
} from './tables-values.ts'
import type { Writes } from './tables-writes.ts'

/**
 * Operators for which the service may run several queries. It then returns the rows of one query
 * after those of another.
 */
const mayTakeSeveral = /"\$(?:or|in|nin|ne|not)"/

export class Finds {
  readonly #session: Session
  readonly #random: Random
  readonly #table: TableOracle
  readonly #filters: RandomFilters
  readonly #writes: Writes
  readonly #changes: SchemaChanges
  readonly #answers: Answers
  readonly #findsAtOnce: boolean

  constructor(world: World, writes: Writes, changes: SchemaChanges) {
    this.#session = world.session
    this.#random = world.random
    this.#table = world.table
    this.#filters = world.filters
    this.#writes = writes
    this.#changes = changes
    this.#answers = new Answers(world)
    this.#findsAtOnce = world.vocabulary.findsAtOnce
  }

  async find(): Promise<void> {
    const random = this.#random
    const condition = this.#condition()
    const { columns, projection } = this.#projection([])
    const limit = random.chance(0.3) ? random.integer(1, 45) : undefined
    await this.findAll(condition, columns, projection, limit)
  }

  /** Checks a find without a sort, over all pages. */
  async findAll(
    condition: Condition,
    columns: readonly Column[],
    projection?: Json,
    limit?: number,
  ): Promise<void> {
    const table = this.#table
    const { filter } = condition
    const found = await this.#answers.allPages({ filter, projection }, limit, columns)
    const matching = table.rows.filter(condition.holds)
    assert.equal(found.length, Math.min(limit ?? Infinity, matching.length))
    if (!table.key.every((column) => columns.includes(column))) {
      // The projection omits key columns, so rows are compared as a multiset of texts.
      const left = new Map<string, number>()
      for (const row of matching) add(left, table.show(row, columns), 1)
      for (const { text } of found)
        assert(add(left, text, -1) >= 0, `not expected: ${text}`)
      return
    }
    if (this.#findsAtOnce || !mayTakeSeveral.test(jsonText(filter)))
      this.#assertStoredOrder(found, matching, columns, 1)
    else this.#rowsIn(found, matching, columns)
  }

  /**
   * Asserts that each found row matches, occurs once and has the expected text. Returns the found
   * rows.
   */
  #rowsIn(
    found: readonly Found[],
    matching: readonly Row[],
    columns: readonly Column[],
  ): readonly Row[] {
    const table = this.#table
    const left = new Map(matching.map((row) => [table.keyOf(row.cells), row]))
    return found.map(({ key, text }) => {
      const row = left.get(key)
      assert(row, `${key} does not match, or comes twice`)
      left.delete(key)
      assert.equal(text, table.show(row, columns))
      return row
    })
  }

  /**
   * Asserts that found rows form whole partitions, each in its stored order or in the reverse
   * order. The last partition may be incomplete.
   */
  #assertStoredOrder(
    found: readonly Found[],
    matching: readonly Row[],
    columns: readonly Column[],
    turn: 1 | -1,
  ): void {
    const table = this.#table
    const partitions = new Map<string, Row[]>()
    const byKey = new Map<string, Row>()
    for (const row of matching) {
      const partition = table.partitionOf(row)
      partitions.set(partition, [...(partitions.get(partition) ?? []), row])
      byKey.set(table.keyOf(row.cells), row)
    }
    for (const rows of partitions.values())
      rows.sort((a, b) => table.compareInPartition(a, b) * turn)
    const expected: string[] = []
    while (expected.length < found.length) {
      const { key } = found[expected.length]!
      const first = byKey.get(key)
      assert(first, `${key} does not match`)
      const partition = table.partitionOf(first)
      assert(partitions.has(partition), `rows of ${partition} are not together`)
      expected.push(...partitions.get(partition)!.map((row) => table.show(row, columns)))
      partitions.delete(partition)
    }
    const texts = found.map(({ text }) => text)
    assert.deepEqual(texts, expected.slice(0, texts.length))
  }

  async findSorted(): Promise<void> {
    const random = this.#random
    const table = this.#table
    const clustering = table.partitionSort
    const isStored =
      clustering.length > 0 && !hasVectorKey(this.#table) && random.chance(0.5)
    const turn = random.pick([1, -1] as const)
    const sort = isStored
      ? clustering
          .slice(0, random.integer(1, clustering.length))
          .map(({ column, direction }) => {
            return { column, direction: (direction * turn) as 1 | -1 }
          })
      : this.#sort()
    if (sort.length === 0) return
    const condition = isStored ? this.#withinPartition() : this.#condition()
    const sorted = sort.map(({ column }) => column)
    const { columns, projection } = this.#projection([...table.key, ...sorted])
    const limit = random.chance(0.4) ? random.integer(1, 45) : undefined
    const clauses = { filter: condition.filter, sort: spellSort(sort), projection }
    const matching = table.rows.filter(condition.holds)
    if (isStored) {
      const found = await this.#answers.allPages(clauses, limit, columns)
      assert.equal(found.length, Math.min(limit ?? Infinity, matching.length))
      this.#assertStoredOrder(found, matching, columns, turn)
      return
    }
    const skip = random.chance(0.4) ? random.integer(0, 30) : undefined
    const paging = { limit, ...(skip !== undefined && { skip }) }
    const answer = await this.#answers.sortedPages(clauses, paging, columns)
    const found = this.#rowsIn(answer.found, matching, columns)
    const compare = (a: Row, b: Row) => compareBySort(a, b, sort)
    const start = skip ?? 0
    const count = answer.sortedRowCount
    // The reply has no count if the stored order serves the sort. This is possible if the filter
    // happens to select a single partition.
    if (count !== undefined || !sorted.every((column) => table.isKey(column)))
      assert.equal(count, matching.length)
    const expected = matching.toSorted(compare).slice(start, start + (limit ?? Infinity))
    assert.equal(found.length, expected.length)
    for (const [i, row] of found.entries())
      assert.equal(compare(row, expected[i]!), 0, `row ${i} is not where it belongs`)
  }

  async findOne(): Promise<void> {
    const random = this.#random
    const table = this.#table
    const sort = random.chance(0.4) ? this.#sort() : []
    const condition = this.#condition()
    const { columns, projection } = this.#projection([...table.key])
    const { found } = await this.#answers.read(
      'findOne',
      { filter: condition.filter, sort: spellSort(sort), projection },
      columns,
    )
    const matching = table.rows.filter(condition.holds)
    assert.equal(found.length, Math.min(1, matching.length))
    for (const { key, text } of found) {
      const row = matching.find(({ cells }) => table.keyOf(cells) === key)
      assert(row, `${key} does not match`)
      assert.equal(text, table.show(row, columns))
      for (const other of matching)
        assert(
          compareBySort(row, other, sort) <= 0,
          `${table.keyOf(other.cells)} comes before`,
        )
    }
  }

  async findByVector(): Promise<void> {
    const random = this.#random
    const table = this.#table
    const column = this.#searched('vector', ({ type }) => type.kind === 'vector')
    if (column === undefined) return
    const { dimension } = column.type as { dimension: number }
    const query = randomVector(dimension, random)
    const condition = random.chance(0.4) ? anything : this.#condition()
    const { columns, projection } = this.#projection([...table.key])
    const limit = random.pick([1, 3, 10, undefined])
    const clauses = {
      filter: condition.filter,
      sort: new Map([[column.name, spellVector(query, random)]]),
      projection,
      options: object({ limit: raw(limit), includeSimilarity: true }),
    }
    const index = table.indexes.find(
      (one) => one.kind === 'vector' && one.column === column,
    )
    if (index?.kind !== 'vector') {
      const answer = await this.#session.send(
        this.#session.name,
        object({ find: object(clauses) }),
      )
      assert.deepEqual(answer.codes, ['CANNOT_VECTOR_SORT_NON_INDEXED_VECTOR_COLUMNS'])
      return
    }
    const { found } = await this.#answers.read('find', clauses, columns)
    const scored = table.rows.filter(condition.holds).flatMap((row) => {
      const cell = row.cells.get(column)
      if (cell?.kind !== 'vector') return []
      return [{ row, score: similarity(index.metric, query, cell.numbers) }]
    })
    scored.sort((a, b) => b.score - a.score)
    const byKey = new Map(scored.map((one) => [table.keyOf(one.row.cells), one]))
    assert.equal(found.length, Math.min(limit ?? 1000, scored.length))
    for (const [i, { key, text, similarity: told }] of found.entries()) {
      const own = byKey.get(key)
      assert(own, `${key} does not match, or comes twice`)
      byKey.delete(key)
      assert.equal(text, table.show(own.row, columns))
      assertNear(told, own.score)
      assertNear(told, scored[i]!.score)
    }
  }

  async findByWords(): Promise<void> {
    const random = this.#random
    const table = this.#table
    const column = this.#searched(
      'text',
      ({ type }) => type.kind === 'one' && (type.of === 'text' || type.of === 'ascii'),
    )
    if (column === undefined) return
    const words = random.list(1, 2, () => random.pick(searchedWords)).join(' ')
    const condition = random.chance(0.4) ? anything : this.#condition()
    const { columns, projection } = this.#projection([...table.key])
    const limit = random.pick([1, 3, 30, undefined])
    const clauses = {
      filter: condition.filter,
      sort: new Map([[column.name, words]]),
      projection,
    }
    const index = table.textIndexOn(column)
    if (index === undefined) {
      const answer = await this.#session.send(
        this.#session.name,
        object({ find: object(clauses) }),
      )
      assert.deepEqual(answer.codes, ['CANNOT_LEXICAL_SORT_NON_INDEXED_COLUMNS'])
      return
    }
    const found = await this.#answers.allPages(clauses, limit, columns)
    const matching = table.rows.filter((row) => {
      const text = atomIn(row, column)?.value as string | undefined
      return (
        text !== undefined &&
        hasWords(text, words, index.analyzer, 'any') &&
        condition.holds(row)
      )
    })
    const byKey = new Map(matching.map((row) => [table.keyOf(row.cells), row]))
    assert.equal(found.length, Math.min(limit ?? Infinity, matching.length))
    for (const { key, text } of found) {
      const row = byKey.get(key)
      assert(row, `${key} does not match, or comes twice`)
      byKey.delete(key)
      assert.equal(text, table.show(row, columns))
    }
  }

  /** A column to search, usually one with an index for the search. */
  #searched(kind: Index['kind'], isFit: (column: Column) => boolean): Column | undefined {
    const { columns, indexes } = this.#table
    const indexed = indexes.filter((index) => index.kind === kind)
    if (indexed.length > 0 && this.#random.chance(0.9))
      return this.#random.pick(indexed).column
    const fit = columns.filter(isFit)
    return fit.length === 0 ? undefined : this.#random.pick(fit)
  }

  /**
   * Checks a find while rows change between its pages. Unchanged rows must be found exactly once
   * and in order.
   */
  async findWhileChanging(): Promise<void> {
    const random = this.#random
    const table = this.#table
    const condition = random.chance(0.5) ? anything : this.#condition()
    const sort = random.chance(0.6) ? this.#sort() : []
    const before = table.rows
    const { columns, projection } = this.#projection([...table.key])
    const clauses = { filter: condition.filter, sort: spellSort(sort), projection }
    const found: string[] = []
    let pageState: string | null = ''
    do {
      const options = object({ pageState })
      const page: Page = await this.#answers.read('find', { ...clauses, options }, columns)
      found.push(...page.found.map(({ key }) => key))
      pageState = page.nextPageState
      if (random.chance(0.5)) await this.#writes.insert()
      if (random.chance(0.5)) await this.#writes.deleteOne()
      if (random.chance(0.3)) await this.#writes.update()
      if (random.chance(0.1)) await this.#changes.createIndex({ isPlain: true })
      if (random.chance(0.1)) await this.#changes.dropIndex({ isPlain: true })
      if (random.chance(0.02)) await this.#session.restart()
    } while (pageState !== null)
    const times = new Map<string, number>()
    for (const key of found) add(times, key, 1)
    const unchanged = new Map<string, Row>()
    for (const row of before) {
      if (!table.has(row)) continue
      const key = table.keyOf(row.cells)
      assert.equal(times.get(key) ?? 0, condition.holds(row) ? 1 : 0, key)
      unchanged.set(key, row)
    }
    // A changed row may move in the sort and be found twice. Without a sort, no row may be found
    // twice.
    if (sort.length === 0) assert.equal(times.size, found.length)
    const inOrder = found.flatMap((key) => unchanged.get(key) ?? [])
    for (const [i, row] of inOrder.entries())
      assert(
        i === 0 || compareBySort(inOrder[i - 1]!, row, sort) <= 0,
        `${table.keyOf(row.cells)} is not where it belongs`,
      )
  }

  #condition(): Condition {
    const random = this.#random
    const { partitionSort } = this.#table
    if (random.chance(0.1)) return anything
    if (random.chance(0.6) || hasVectorKey(this.#table)) return this.#filters.any()
    const key = this.#filters.key(random.integer(0, partitionSort.length), {
      isOne: random.chance(0.5),
      range: random.chance(0.5),
    })
    return random.chance(0.6) ? key : besideEachOther([key, this.#filters.any()])
  }

  /** A condition that selects a single partition, so that the stored order serves the sort. */
  #withinPartition(): Condition {
    const random = this.#random
    const { partitionSort } = this.#table
    const length = random.chance(0.5) ? 0 : random.integer(0, partitionSort.length)
    const key = this.#filters.key(length, { isOne: true, range: true })
    return random.chance(0.7) ? key : besideEachOther([key, this.#filters.any()])
  }

  #sort(): SortKey[] {
    const random = this.#random
    const sortable = this.#table.columns.filter(
      ({ type }) =>
        type.kind === 'one' && typeof type.of === 'string' && type.of !== 'duration',
    )
    if (sortable.length === 0) return []
    const columns = new Set(random.list(1, 3, () => random.pick(sortable)))
    return [...columns].map((column) => ({ column, direction: random.pick([1, -1]) }))
  }

  /** A projection of some columns, including those in `needed`. */
  #projection(needed: readonly Column[]): {
    readonly columns: readonly Column[]
    readonly projection: Json | undefined
  } {
    const random = this.#random
    const { columns } = this.#table
    if (random.chance(0.5))
      return {
        columns,
        projection: random.pick([undefined, new Map(), new Map([['*', true]])]),
      }
    const isWanted = new Map(
      columns.map((column) => [column, needed.includes(column) || random.chance(0.5)]),
    )
    const wanted = columns.filter((column) => isWanted.get(column))
    const others = columns.filter((column) => !isWanted.get(column))
    if (wanted.length === 0) return { columns, projection: undefined }
    const isExcluding = others.length > 0 && random.chance(0.5)
    const named = (isExcluding ? others : wanted).map(({ name }) => name)
    return { columns: wanted, projection: projectionOf(named, !isExcluding, random) }
  }
}

interface SortKey {
  readonly column: Column
  readonly direction: 1 | -1
}

function spellSort(sort: readonly SortKey[]): Json | undefined {
  if (sort.length === 0) return undefined
  return new Map(sort.map(({ column, direction }) => [column.name, new Raw(direction)]))
}

function compareBySort(a: Row, b: Row, sort: readonly SortKey[]): number {
  for (const { column, direction } of sort) {
    const order = compareRows(a, b, column)
    if (order !== 0) return order * direction
  }
  return 0
}

function add(counts: Map<string, number>, text: string, change: number): number {
  const count = (counts.get(text) ?? 0) + change
  counts.set(text, count)
  return count
}

function assertNear(actual: number, expected: number): void {
  assert(Math.abs(actual - expected) < 1e-6, `${actual} instead of ${expected}`)
}
