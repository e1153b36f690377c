import assert from 'node:assert/strict'
import { EngineError, type EngineErrorKind } from '../../../src/engine/errors.ts'

export async function assertFails(kind: EngineErrorKind, call: unknown): Promise<void> {
  await assert.rejects(Promise.resolve(call), (error) => {
    assert.equal(kindOf(error), kind, String(error))
    return true
  })
}

/** The kind of an EngineError; undefined for other errors. */
export function kindOf(error: unknown): EngineErrorKind | undefined {
  return error instanceof EngineError ? error.kind : undefined
}
