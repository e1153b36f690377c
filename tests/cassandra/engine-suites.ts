/**
 * The suites of all engines on a real node, in parts that run side by side. Their files share
 * the node, so each but one has keyspaces of its own there, as the databases of a server have.
 */
import assert from 'node:assert/strict'
import { describeEngine, suiteNames, type SuiteName } from '../engine/suite/engine.ts'
import { ownWorld, plainWorld } from './world.ts'

/** Of about the same time each. */
const parts = {
  documents: ['serves', 'collections', 'vectors'],
  terms: ['lexical'],
  tables: ['tables'],
  schema: ['rows', 'schema', 'settings', 'closing'],
  // Takes longer than `npm test` has time for: reads.ts runs it.
  reads: ['reads'],
} as const satisfies Readonly<Record<string, readonly SuiteName[]>>

assert.deepEqual(Object.values(parts).flat().toSorted(), suiteNames.toSorted())

export function describePart(name: keyof typeof parts): void {
  // Schemas are also asked of keyspaces that no name of a database begins.
  const world = name === 'schema' ? plainWorld : ownWorld
  describeEngine('an engine on a cluster', world, parts[name])
}
