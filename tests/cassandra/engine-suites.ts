/**
 * The suites of all engines on a real node, in parts that run concurrently. The parts share the
 * node, so each part except one uses its own keyspaces.
 */
import assert from 'node:assert/strict'
import { describeEngine, suiteNames, type SuiteName } from '../engine/suite/engine.ts'
import { ownWorld, plainWorld } from './world.ts'

/** Parts that take about the same time each. */
const parts = {
  documents: ['serves', 'collections', 'vectors'],
  terms: ['lexical'],
  tables: ['tables'],
  schema: ['rows', 'schema', 'settings', 'closing'],
  // The suite of reads takes longer than `npm test` may take; reads.ts runs it.
  reads: ['reads'],
} as const satisfies Readonly<Record<string, readonly SuiteName[]>>

assert.deepEqual(Object.values(parts).flat().toSorted(), suiteNames.toSorted())

export function describePart(name: keyof typeof parts): void {
  // The part `schema` covers keyspaces without a database key. Only one part may use them at a
  // time.
  const world = name === 'schema' ? plainWorld : ownWorld
  describeEngine('an engine on a cluster', world, parts[name])
}
