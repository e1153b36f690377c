/**
 * A random table with a vector column, which gets the same writes on several engines. Rows are
 * inserted without a vector, and gain or lose one later. Random finds are compared with a plain Map.
 */
import assert from 'node:assert/strict'
import { EnginesInStep, type Servers } from './engines-in-step.ts'
import { Random } from './random.ts'
import { TableReads } from './table-reads.ts'
import { RandomFilters } from './tables-filters.ts'
import { TableOracle, type Column, type Index } from './tables-oracle.ts'
import { clusterVocabulary, createIndex, describeTable } from './tables-schema.ts'
import { Session, type World } from './tables-session.ts'
import { object, type PrimitiveName } from './tables-values.ts'
import { Writes } from './tables-writes.ts'

export class TableReadsModel {
  readonly #seed: number
  readonly #random: Random
  readonly #table: TableOracle
  readonly #session: Session
  readonly #writes: Writes
  readonly #reads: TableReads

  /** The seed determines all random choices of the run. */
  constructor(servers: Servers, seed: number, name: string) {
    const random = new Random(seed)
    const table = tableFor(random)
    const engines = new EnginesInStep(servers)
    const session = new Session(engines, name)
    const spread = random.pick([2, 6, 20])
    const filters = new RandomFilters(table, random, spread)
    const vocabulary = clusterVocabulary
    const world: World = { session, random, table, types: [], filters, vocabulary, spread }
    this.#seed = seed
    this.#random = random
    this.#table = table
    this.#session = session
    this.#writes = new Writes(world)
    this.#reads = new TableReads(world, engines.each, { name, seed })
  }

  get counts(): ReadonlyMap<string, number> {
    return this.#reads.counts
  }

  /** Runs until `isOver`, called after each read, returns true. */
  async run(isOver: (reads: number) => boolean): Promise<void> {
    try {
      await this.#create()
      for (let reads = 0; !isOver(reads); reads++) {
        if (reads % 10 === 0) await this.#write()
        await this.#reads.read()
      }
    } catch (error) {
      throw new Error(await this.#session.explain(this.#seed), { cause: error })
    }
  }

  async #create(): Promise<void> {
    const { name } = this.#session
    const definition = describeTable(this.#table, this.#random)
    await this.#session.ok('', object({ createTable: object({ name, definition }) }))
    for (const index of indexesFor(this.#table, this.#random, name)) {
      const answer = await this.#session.send(name, createIndex(index))
      assert.equal(answer.body.status?.['ok'], 1)
      this.#table.indexes.push(index)
    }
  }

  async #write(): Promise<void> {
    const random = this.#random
    const table = this.#table
    const vector = table.columns.find(({ type }) => type.kind === 'vector')!
    if (table.size < 120) await this.#writes.insert(40)
    for (let i = random.integer(0, 8); i > 0; i--) await this.#writes.setOrUnset(vector)
    for (let i = random.integer(0, 4); i > 0; i--) await this.#writes.update()
    for (let i = random.integer(0, 3); i > 0; i--) await this.#writes.deleteOne()
    if (random.chance(0.1)) await this.#writes.deleteMany()
    if (random.chance(0.02)) await this.#writes.truncate()
  }
}

const partitionTypes: readonly PrimitiveName[] = ['text', 'int', 'uuid', 'boolean']
const sortTypes: readonly PrimitiveName[] = ['int', 'text', 'timestamp', 'uuid']

function tableFor(random: Random): TableOracle {
  const column = (name: string, of: PrimitiveName): Column => {
    return { name, type: { kind: 'one', of } }
  }
  const partitionBy = ['p', 'q']
    .slice(0, random.chance(0.7) ? 1 : 2)
    .map((name) => column(name, random.pick(partitionTypes)))
  const partitionSort = ['c', 'd'].slice(0, random.pick([0, 1, 1, 2])).map((name) => {
    const direction = random.pick([1, -1] as const)
    return { column: column(name, random.pick(sortTypes)), direction }
  })
  const others: readonly Column[] = [
    column('n', 'int'),
    column('m', random.pick(['double', 'bigint', 'decimal'])),
    column('w', 'text'),
    column('b', 'boolean'),
    column('body', 'text'),
    { name: 'tags', type: { kind: 'set', of: 'text' } },
    { name: 'v', type: { kind: 'vector', dimension: random.integer(2, 4) } },
  ]
  const columns = [...partitionBy, ...partitionSort.map((one) => one.column), ...others]
  return new TableOracle(columns, partitionBy, partitionSort)
}

/** Random indexes on the columns of a table. The vector column always has an index. */
function indexesFor(table: TableOracle, random: Random, name: string): readonly Index[] {
  const metric = random.pick(['cosine', 'dot_product', 'euclidean'] as const)
  return table.columns.flatMap((column): readonly Index[] => {
    const base = { name: `${name}_${column.name}`, column }
    if (column.name === 'v') return [{ ...base, kind: 'vector', metric }]
    if (random.chance(0.5)) return []
    if (column.name === 'body') return [{ ...base, kind: 'text', analyzer: 'standard' }]
    const isWholeKey = table.partitionBy.length === 1 && column === table.partitionBy[0]
    return isWholeKey ? [] : [{ ...base, kind: 'regular', part: 'value' }]
  })
}
