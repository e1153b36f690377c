/** The tests that every engine must pass, whatever part of a query it serves. */
import { describeClosing } from './closing.ts'
import { describeCollections } from './collections.ts'
import { describeLexical } from './lexical.ts'
import { describeReads } from './reads.ts'
import { describeRows } from './rows.ts'
import { describeSchema } from './schema.ts'
import { describeServes } from './serves.ts'
import { describeSettings } from './settings.ts'
import { describeTables } from './tables.ts'
import { describeVectors } from './vectors.ts'
import type { World } from './world.ts'

const suites = {
  serves: describeServes,
  collections: describeCollections,
  reads: describeReads,
  lexical: describeLexical,
  vectors: describeVectors,
  tables: describeTables,
  rows: describeRows,
  schema: describeSchema,
  settings: describeSettings,
  closing: describeClosing,
} as const

export type SuiteName = keyof typeof suites

export const suiteNames = Object.keys(suites) as readonly SuiteName[]

/** Defines all suites, or those in `chosen`. */
export function describeEngine(
  name: string,
  world: World,
  chosen: readonly SuiteName[] = suiteNames,
): void {
  for (const suite of chosen) suites[suite](name, world)
}
