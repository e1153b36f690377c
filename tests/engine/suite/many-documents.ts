import assert from 'node:assert/strict'
import { fromPlain } from '../../../src/json/plain.ts'
import type { JsonObject } from '../../../src/json/value.ts'
import type { Store } from '../store.ts'

/**
 * Documents with fields of different selectivity: some values occur once, others in many documents.
 */
export function documents(size: number): JsonObject[] {
  return Array.from({ length: size }, (_, i) => {
    const list = [i % 4, 2, i % 7].slice(0, (i % 3) + 1)
    const plain = {
      _id: i,
      n: (i * 7919) % size,
      group: i % 5,
      list,
      inner: { deep: i % 3 },
      when: { $date: i },
      ...(i % 6 === 0 && { sometimes: i % 11 === 0 ? null : `text ${i % 4}` }),
    }
    return fromPlain(plain) as JsonObject
  })
}

export async function fill(store: Store, size: number): Promise<void> {
  const outcomes = await store.insert(documents(size))
  assert(outcomes.every((outcome) => outcome === 'done'))
}
