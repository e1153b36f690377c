/** One random table: sends commands to a server and applies them to a plain Map. */
import { Random } from './random.ts'
import { SchemaChanges } from './tables-changes.ts'
import { anything, RandomFilters } from './tables-filters.ts'
import { Finds } from './tables-finds.ts'
import type { TableOracle } from './tables-oracle.ts'
import { anyVocabulary, randomTable, randomUserType } from './tables-schema.ts'
import { Session, type Service, type World } from './tables-session.ts'
import { Writes } from './tables-writes.ts'

export class Model {
  readonly #seed: number
  readonly #session: Session
  readonly #random: Random
  readonly #table: TableOracle
  readonly #writes: Writes
  readonly #changes: SchemaChanges
  readonly #finds: Finds
  readonly #changesIndexesInUse: boolean

  /** The seed determines all random choices of the run. */
  constructor(
    service: Service,
    seed: number,
    name: string,
    { isLarge = false, vocabulary = anyVocabulary } = {},
  ) {
    const random = new Random(seed)
    // Names of types contain the seed, because types remain when tables are dropped.
    const types = ['u1', 'u2']
      .slice(random.integer(0, 2))
      .map((start) => randomUserType(random, `${start}_${seed}`, vocabulary))
    let table = randomTable(random, types, vocabulary)
    // A large table needs a key with at least two sort columns, because shorter keys do not have
    // enough values.
    while (isLarge && table.partitionSort.length < 2)
      table = randomTable(random, types, vocabulary)
    const spread = random.pick([2, 6, 40])
    const filters = new RandomFilters(table, random, spread)
    const session = new Session(service, name)
    const world: World = { session, random, table, types, filters, vocabulary, spread }
    this.#seed = seed
    this.#changesIndexesInUse = vocabulary.changesIndexesInUse
    this.#session = session
    this.#random = random
    this.#table = table
    this.#writes = new Writes(world)
    this.#changes = new SchemaChanges(world, this.#writes)
    this.#finds = new Finds(world, this.#writes, this.#changes)
  }

  get commands(): number {
    return this.#session.commands
  }

  /** Creates the table, inserts up to `inserts` batches of at most 100 rows, and runs the steps. */
  async run(steps: number, inserts = 0): Promise<void> {
    try {
      await this.#run(steps, inserts)
    } catch (error) {
      throw new Error(await this.#session.explain(this.#seed), { cause: error })
    }
  }

  async #run(steps: number, inserts: number): Promise<void> {
    await this.#changes.create()
    for (let i = this.#random.integer(0, 6); i > 0; i--) await this.#changes.createIndex()
    for (let i = 0; i < inserts; i++) await this.#writes.insert(100)
    for (let i = 0; i < steps; i++) await this.#step()
    await this.#finds.findAll(anything, this.#table.columns)
    for (let i = 0; i < 5; i++) await this.#finds.find()
  }

  #step(): Promise<void> {
    const random = this.#random
    const { size } = this.#table
    if (size < 100 && random.chance(size < 40 ? 0.4 : 0.1)) return this.#writes.insert()
    const steps: readonly (readonly [number, () => Promise<void>])[] = [
      [4, () => this.#finds.find()],
      [4, () => this.#finds.findSorted()],
      [2, () => this.#finds.findOne()],
      [2, () => this.#finds.findByVector()],
      [2, () => this.#finds.findByWords()],
      [1, () => this.#finds.findWhileChanging()],
      [5, () => this.#writes.update()],
      [1.5, () => this.#writes.deleteOne()],
      [0.5, () => this.#writes.deleteMany()],
      [0.03, () => this.#writes.truncate()],
      [2.2, () => this.#changes.createIndex()],
      [0.8, () => this.#changes.dropIndex()],
      [this.#changesIndexesInUse ? 0.6 : 0, () => this.#changeIndexWhileFinding()],
      [0.4, () => this.#changes.addColumn()],
      [0.4, () => this.#changes.dropColumn()],
      [0.3, () => this.#changes.alterType()],
      [0.12, () => this.#session.restart()],
    ]
    let left = random.next() * steps.reduce((sum, [weight]) => sum + weight, 0)
    for (const [weight, step] of steps) if ((left -= weight) < 0) return step()
    return this.#finds.find()
  }

  /**
   * Creates or drops an index during finds. Rows do not change, so finds must return the same rows
   * with and without the index.
   */
  async #changeIndexWhileFinding(): Promise<void> {
    const change = { isPlain: true, isAlone: true }
    await Promise.all([
      this.#finds.find(),
      this.#random.chance(0.5)
        ? this.#changes.createIndex(change)
        : this.#changes.dropIndex(change),
      this.#finds.find(),
      this.#finds.findSorted(),
      this.#finds.find(),
    ])
  }
}
