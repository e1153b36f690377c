import assert from 'node:assert/strict'
import { defaultLimits } from '../../src/limits.ts'
import type { Models } from '../../src/providers/models.ts'

/** Embedding for tables without an embedding service: a call fails the test. */
export const testModels: Pick<Models, 'embed'> = {
  embed: () => assert.fail('nothing is to be embedded'),
}

/** The services that a store of rows needs beside its engine. */
export const testServices = {
  limits: defaultLimits,
  models: testModels,
  lexicalOperator: 'any',
} as const
