/**
 * Random finds of rows with any combination of filter, sort, projection, limit, skip and paging.
 * They are sent to several engines and compared with rows in a plain Map.
 */
import type { LexicalOperator } from '../../src/language/sorts/sort.ts'
import assert from 'node:assert/strict'
import type { JsonObject, Value } from '../../src/json/value.ts'
import { assertInGroups, grouped, groupsAbove } from './grouped-order.ts'
import type { Random } from './random.ts'
import {
  Answers,
  memberOf,
  pageSize,
  raw,
  type Clauses,
  type Page,
} from './tables-answers.ts'
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
  hasWords,
  searchedWords,
  similarity,
  type Column,
  type Row,
  type TableOracle,
} from './tables-oracle.ts'
import { Session, type Service, type World } from './tables-session.ts'
import { object, randomVector, Raw, spellVector, type Json } from './tables-values.ts'

/** A find and the expected answer. */
interface Read {
  readonly filter: Json
  readonly sort: Json | undefined
  readonly options: Readonly<Record<string, Json | undefined>>
  /** Matching rows in groups. The rows of a group may come in any order. */
  readonly groups: readonly (readonly Found[])[]
  readonly limit: number | undefined
  readonly skip: number | undefined
  /** Whether the result is limited to one page. */
  readonly isOnePage: boolean
  /** The query vector that the status must contain; undefined: the status must contain none. */
  readonly sortVector: readonly number[] | undefined
}

interface Found {
  readonly row: Row
  readonly score?: number
}

interface SortKey {
  readonly column: Column
  readonly direction: 1 | -1
}

type Options = Readonly<Record<string, Json | undefined>>

/** Results whose similarities differ by less than this may come in any order. */
const tolerance = 1e-6

export class TableReads {
  /** Number of reads of each kind. */
  readonly counts = new Map<string, number>()
  readonly #world: World
  readonly #seed: number
  readonly #random: Random
  readonly #table: TableOracle
  readonly #filters: RandomFilters
  readonly #sessions: ReadonlyMap<string, Session>

  /** The seed is printed in failures. */
  constructor(
    world: World,
    services: ReadonlyMap<string, Service>,
    { name, seed }: { readonly name: string; readonly seed: number },
  ) {
    this.#world = world
    this.#seed = seed
    this.#random = world.random
    this.#table = world.table
    this.#filters = world.filters
    this.#sessions = new Map(
      [...services].map(([engine, service]) => [engine, new Session(service, name)]),
    )
  }

  async read(): Promise<void> {
    const random = this.#random
    const read = random.pick([
      () => this.#inAnyOrder(),
      () => this.#byKey(),
      () => this.#byValues(),
      () => this.#byVector(),
      () => this.#byVector(),
      () => this.#byWords(),
    ])()
    if (read === undefined) return
    const { columns, projection } = this.#projection()
    const isOne = random.chance(0.15) && !('limit' in read.options)
    const statuses: unknown[] = []
    for (const [engine, session] of this.#sessions) {
      try {
        const answers = new Answers({ ...this.#world, session })
        statuses.push(
          isOne
            ? await this.#one(answers, read, projection, columns)
            : await this.#all(answers, read, projection, columns),
        )
      } catch (error) {
        const { message } = error as Error
        const last = await session.explain(this.#seed)
        throw new Error(`${engine}: ${message}\n${last}`, { cause: error })
      }
    }
    for (const status of statuses) assert.deepEqual(status, statuses[0])
  }

  /**
   * Reads and checks all pages of a find. Returns the part of the answer that must be equal on all
   * engines.
   */
  async #all(
    answers: Answers,
    read: Read,
    projection: Json | undefined,
    columns: readonly Column[],
  ): Promise<unknown> {
    const { filter, sort, options, limit, skip } = read
    const clauses: Clauses = { filter, sort, projection }
    const found: Page['found'][number][] = []
    let first: Page | undefined
    let pageState: string | undefined
    do {
      const asked = object({ ...options, limit: raw(limit), skip: raw(skip), pageState })
      const page = await answers.read('find', { ...clauses, options: asked }, columns)
      first ??= page
      found.push(...page.found)
      pageState = page.nextPageState ?? undefined
      if (read.isOnePage) assert.equal(pageState, undefined)
      else if (pageState === undefined) assert(page.found.length <= pageSize)
      else assert.equal(page.found.length, pageSize)
    } while (pageState !== undefined)
    this.#check(found, read, columns)
    const { status } = first
    const told = memberOf(status, 'sortVector')
    if (read.sortVector === undefined) assert.equal(told, undefined)
    else assert.deepEqual(plain(told), read.sortVector)
    return {
      schema: [...(memberOf(status, 'projectionSchema') as JsonObject).keys()],
      sortedRowCount: memberOf(status, 'sortedRowCount'),
    }
  }

  async #one(
    answers: Answers,
    read: Read,
    projection: Json | undefined,
    columns: readonly Column[],
  ): Promise<unknown> {
    const { filter, sort } = read
    const { includeSimilarity } = read.options
    const options = object({ includeSimilarity })
    const clauses = { filter, sort, projection, options }
    const { found } = await answers.read('findOne', clauses, columns)
    this.#check(found, { ...read, limit: 1, skip: undefined }, columns)
    return undefined
  }

  #check(
    found: Page['found'],
    { groups, limit, skip, options }: Read,
    columns: readonly Column[],
  ): void {
    const table = this.#table
    const texts = groups.map((group) => group.map(({ row }) => table.show(row, columns)))
    assertInGroups(
      found.map(({ text }) => text),
      texts,
      { ...(limit !== undefined && { limit }), ...(skip !== undefined && { skip }) },
    )
    const scores = groups.flat().map(({ score }) => score)
    for (const [at, { similarity: told }] of found.entries()) {
      const score = options['includeSimilarity'] === true ? scores[at] : undefined
      if (score === undefined) assert(Number.isNaN(told), 'a similarity was not asked for')
      else assert(Math.abs(told - score) < tolerance, `${told} instead of ${score}`)
    }
  }

  #inAnyOrder(): Read {
    this.#count('without a sort')
    const condition = this.#condition()
    return {
      ...this.#matching(condition, () => 0),
      sort: this.#random.pick([undefined, new Map()]),
      ...this.#more({ skips: false }),
    }
  }

  /** A find within a partition, in the order of the key or in the reverse order. */
  #byKey(): Read | undefined {
    const random = this.#random
    const { partitionSort } = this.#table
    if (partitionSort.length === 0) return undefined
    this.#count('by the key')
    const turn = random.pick([1, -1] as const)
    const sort = partitionSort
      .slice(0, random.integer(1, partitionSort.length))
      .map(({ column, direction }) => {
        return { column, direction: (direction * turn) as 1 | -1 }
      })
    const length = random.integer(0, partitionSort.length)
    const key = this.#filters.key(length, { isOne: true, range: true })
    const condition = random.chance(0.6) ? key : besideEachOther([key, this.#filters.any()])
    return {
      ...this.#matching(condition, compareBySort(sort)),
      sort: spellSort(sort),
      ...this.#more({ skips: false }),
    }
  }

  #byValues(): Read | undefined {
    const sort = this.#sortKeys()
    if (sort.length === 0) return undefined
    this.#count('by values')
    const matching = this.#matching(this.#condition(), compareBySort(sort))
    // A sort by key columns alone may be served by the stored order, which does not support skip.
    const isOther = sort.some(({ column }) => !this.#table.isKey(column))
    return { ...matching, sort: spellSort(sort), ...this.#more({ skips: isOther }) }
  }

  #byVector(): Read | undefined {
    const random = this.#random
    const table = this.#table
    const index = table.indexes.find(({ kind }) => kind === 'vector')
    if (index?.kind !== 'vector') return undefined
    this.#count('by vector')
    const { column, metric } = index
    const { dimension } = column.type as { dimension: number }
    const query = randomVector(dimension, random)
    const condition = this.#condition()
    const scored = table.rows.filter(condition.holds).flatMap((row): Found[] => {
      const cell = row.cells.get(column)
      if (cell?.kind !== 'vector') return []
      return [{ row, score: similarity(metric, query, cell.numbers) }]
    })
    const compare = (a: Found, b: Found) => {
      const difference = b.score! - a.score!
      return Math.abs(difference) < tolerance ? 0 : difference
    }
    const limit = random.pick([undefined, 1, 2, 5, 20, 100])
    const includeSimilarity = random.pick([undefined, true, false])
    const includeSortVector = random.pick([undefined, true, false])
    const groups = grouped(scored, compare)
    const above = random.chance(0.5) ? groupsAbove(groups, random) : undefined
    const minSimilarity = raw(above?.minimum)
    return {
      filter: condition.filter,
      sort: new Map([[column.name, spellVector(query, random)]]),
      options: { includeSimilarity, includeSortVector, minSimilarity },
      groups: above?.groups ?? groups,
      limit,
      skip: undefined,
      isOnePage: true,
      sortVector: includeSortVector === true ? query : undefined,
    }
  }

  #byWords(): Read | undefined {
    const random = this.#random
    const index = this.#table.indexes.find(({ kind }) => kind === 'text')
    if (index?.kind !== 'text') return undefined
    this.#count('by words')
    const { column, analyzer } = index
    const words = random.list(1, 2, () => random.pick(searchedWords)).join(' ')
    const condition = this.#condition()
    const has = (row: Row, operator: LexicalOperator) => {
      const text = atomIn(row, column)?.value as string | undefined
      return text !== undefined && hasWords(text, words, analyzer, operator)
    }
    const holds = (row: Row) => has(row, 'any') && condition.holds(row)
    // Rows with all terms are one group, rows with some terms another: other tests check the order
    // within each.
    const compare = (a: Row, b: Row) => Number(has(b, 'all')) - Number(has(a, 'all'))
    const matching = this.#matching({ ...condition, holds }, compare)
    return {
      ...matching,
      sort: new Map([[column.name, words]]),
      ...this.#more({ skips: false }),
    }
  }

  #matching({ filter, holds }: Condition, compare: (a: Row, b: Row) => number) {
    const found = this.#table.rows.filter(holds).map((row) => ({ row }))
    return { filter, groups: grouped(found, (a, b) => compare(a.row, b.row)) }
  }

  #more({ skips }: { readonly skips: boolean }) {
    const random = this.#random
    const options: Options = random.chance(0.1) ? { includeSortVector: true } : {}
    return {
      options,
      limit: random.chance(0.4) ? random.integer(1, 45) : undefined,
      skip: skips && random.chance(0.4) ? random.integer(0, 30) : undefined,
      isOnePage: false,
      // Finds on a table return a query vector only for a search by vector.
      sortVector: undefined,
    }
  }

  #condition(): Condition {
    const random = this.#random
    if (random.chance(0.15)) return anything
    if (random.chance(0.4)) return this.#filters.any()
    const { partitionSort } = this.#table
    const key = this.#filters.key(random.integer(0, partitionSort.length), {
      isOne: random.chance(0.7),
      range: random.chance(0.5),
    })
    return random.chance(0.6) ? key : besideEachOther([key, this.#filters.any()])
  }

  #sortKeys(): SortKey[] {
    const random = this.#random
    const sortable = this.#table.columns.filter(({ type }) => type.kind === 'one')
    const columns = new Set(random.list(1, 3, () => random.pick(sortable)))
    return [...columns].map((column) => ({ column, direction: random.pick([1, -1]) }))
  }

  /** A projection of any columns, including columns that no other clause of the find uses. */
  #projection(): {
    readonly columns: readonly Column[]
    readonly projection: Json | undefined
  } {
    const random = this.#random
    const { columns } = this.#table
    const wanted = columns.filter(() => random.chance(0.4))
    const others = columns.filter((column) => !wanted.includes(column))
    if (random.chance(0.3) || wanted.length === 0 || others.length === 0)
      return { columns, projection: random.pick([undefined, new Map()]) }
    const isExcluding = random.chance(0.5)
    const named = (isExcluding ? others : wanted).map(({ name }) => name)
    return { columns: wanted, projection: projectionOf(named, !isExcluding, random) }
  }

  #count(kind: string): void {
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1)
  }
}

function spellSort(sort: readonly SortKey[]): Json {
  return new Map(sort.map(({ column, direction }) => [column.name, new Raw(direction)]))
}

function compareBySort(sort: readonly SortKey[]): (a: Row, b: Row) => number {
  return (a, b) => {
    for (const { column, direction } of sort) {
      const order = compareRows(a, b, column)
      if (order !== 0) return order * direction
    }
    return 0
  }
}

function plain(value: Value | undefined): unknown {
  return Array.isArray(value) ? value.map(Number) : value
}
