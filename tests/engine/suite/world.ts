/**
 * The environment of a suite: how to start an engine, and what the engine promises beyond the
 * contract.
 */
import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import type { Engine, Target } from '../../../src/engine/contract.ts'

export interface World {
  start(): Promise<Running>
  /**
   * The parts of queries that the engine serves itself. Its caller evaluates the other
   * parts.
   */
  readonly serves: Serves
  /** Whether scores of searches by terms equal the BM25 formula exactly. */
  readonly hasExactScores: boolean
  /** Whether a vector search finds every write that was acknowledged before it. */
  readonly seesVectorsAtOnce: boolean
  /** Whether the engine rejects rows that exceed the size limit of a merge. */
  readonly refusesLargeRows: boolean
  /** Whether rows come in the order of their partition values, whatever the access path. */
  readonly ordersPartitions: boolean
  /**
   * The number of records that make a read last long enough for other events to occur during it.
   */
  readonly manyRecords: number
}

export interface Serves {
  /** Filters of all kinds. */
  readonly filters: boolean
  readonly sorts: boolean
  /** Counts of records that match a filter. */
  readonly counts: boolean
  /** Vector searches without a filter. */
  readonly vectors: boolean
  readonly terms: boolean
}

export interface Running {
  readonly engine: Engine
  /** Closes the engine and opens it again on the same data. */
  reopen(): Promise<Engine>
  /**
   * Opens another engine on the same data, as a second server does. Absent if only one engine is
   * possible.
   */
  openAnother?(): Promise<Engine>
  /** Asserts that the stored data of a target is intact, if the test can inspect it. */
  assertSound?(target: Target): Promise<void>
  /** Closes the engine and removes its data. */
  stop(): Promise<void>
}

/** An engine for the tests of the enclosing describe. */
export class RunningEngine {
  readonly #world: World
  #running: Running | undefined
  #engine: Engine | undefined

  constructor(world: World) {
    this.#world = world
    before(async () => {
      this.#running = await world.start()
      this.#engine = this.#running.engine
    })
    after(() => this.#running?.stop())
  }

  get engine(): Engine {
    assert(this.#engine, 'the engine runs from the first test to the last')
    return this.#engine
  }

  async reopen(): Promise<void> {
    this.#engine = await this.#running!.reopen()
  }

  /** Two engines on the same data. If only one engine is possible, both are the same engine. */
  async two(): Promise<readonly [Engine, Engine]> {
    return [this.engine, (await this.#running!.openAnother?.()) ?? this.engine]
  }

  async assertSound(target: Target): Promise<void> {
    await this.#running!.assertSound?.(target)
  }

  /** Repeats a check of vector searches, because some engines index with a delay. */
  async eventually(check: () => Promise<void>): Promise<void> {
    for (let attempt = 1; ; attempt++)
      try {
        await check()
        return
      } catch (error) {
        if (this.#world.seesVectorsAtOnce || attempt === attemptsMax) throw error
        await wait(attemptMs)
      }
  }
}

const attemptsMax = 200
const attemptMs = 50

/**
 * Sorts names of rows by partition, because engines return partitions in different orders. Each
 * name begins with its partition.
 */
export function inPartitions(names: readonly string[], world: World): readonly string[] {
  if (world.ordersPartitions) return names
  const partitionOf = (name: string) => name.slice(0, name.indexOf(' '))
  return names.toSorted((a, b) =>
    partitionOf(a) < partitionOf(b) ? -1 : Number(partitionOf(a) > partitionOf(b)),
  )
}
