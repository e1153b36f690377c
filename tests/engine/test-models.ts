import assert from 'node:assert/strict'
import { defaultLimits } from '../../src/limits.ts'
import type { Models } from '../../src/providers/models.ts'

/** Models of tables without an embedding service: they fail when they are called. */
export const testModels: Pick<Models, 'embed'> = {
  embed: () => assert.fail('nothing is to be embedded'),
}

/** Services of a store of rows, except its engine. */
export const testServices = {
  limits: defaultLimits,
  models: testModels,
  lexicalOperator: 'any',
} as const
