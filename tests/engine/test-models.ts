import assert from 'node:assert/strict'
import type { Models } from '../../src/providers/models.ts'

/** For tables without an embedding service. */
export const testModels: Pick<Models, 'embed'> = {
  embed: () => assert.fail('nothing is to be embedded'),
}
