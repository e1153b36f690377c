/** What a suite is run against: how an engine is started, and what it says of itself. */
import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import type { Engine, Target } from '../../../src/engine/contract.ts'

export interface World {
  start(): Promise<Running>
  /** What it does itself. The rest is left to the layer above. */
  readonly serves: Serves
  /** Whether scores of searches by terms are those of the formula, to the last bit. */
  readonly hasExactScores: boolean
  /** Whether searches by vector see every write that was answered before. */
  readonly seesVectorsAtOnce: boolean
  /** Whether rows that would be too large are refused. */
  readonly refusesLargeRows: boolean
  /** Whether rows come in the order of their partitions' values, however they are found. */
  readonly ordersPartitions: boolean
  /** Documents or rows that take a while to read, in which other things can happen. */
  readonly manyRecords: number
}

export interface Serves {
  /** Filters of all kinds, and sorts. */
  readonly filters: boolean
  readonly sorts: boolean
  /** Counts of what matches a filter. */
  readonly counts: boolean
  /** Searches without a filter. */
  readonly vectors: boolean
  readonly terms: boolean
}

export interface Running {
  readonly engine: Engine
  /** Closes the engine and opens it again on the same data. */
  reopen(): Promise<Engine>
  /** Opens one more on the same data, as another server would; absent: it must be alone. */
  openAnother?(): Promise<Engine>
  /** Asserts that what is stored of a target is sound, where that can be looked at. */
  assertSound?(target: Target): Promise<void>
  /** Closes the engine and removes its data. */
  stop(): Promise<void>
}

/** An engine for the tests of the describe that this is called in. */
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

  /** Two that see the same data; the same one twice where it must be alone. */
  async two(): Promise<readonly [Engine, Engine]> {
    return [this.engine, (await this.#running!.openAnother?.()) ?? this.engine]
  }

  async assertSound(target: Target): Promise<void> {
    await this.#running!.assertSound?.(target)
  }

  /** Asserts something of searches by vector, of which some engines know a little later. */
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

/** Names of rows, which begin with their partitions, in an order that every engine has. */
export function inPartitions(names: readonly string[], world: World): readonly string[] {
  if (world.ordersPartitions) return names
  const partitionOf = (name: string) => name.slice(0, name.indexOf(' '))
  return names.toSorted((a, b) =>
    partitionOf(a) < partitionOf(b) ? -1 : Number(partitionOf(a) > partitionOf(b)),
  )
}
