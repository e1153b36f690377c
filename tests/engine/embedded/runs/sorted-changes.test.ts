import assert from 'node:assert/strict'
import { test } from 'node:test'
import { added, removed } from '../../../../src/engine/embedded/runs/change.ts'
import type { ChangeSource } from '../../../../src/engine/embedded/runs/packed-change.ts'
import { ChangeLog } from '../../../../src/engine/embedded/runs/sorted-changes.ts'
import { randomBelow } from './runs-world.ts'

const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31)

function logOf(keys: readonly Buffer[]): ChangeLog {
  const log = new ChangeLog()
  for (const [doc, bytes] of keys.entries())
    log.add({ bytes, start: 0, size: bytes.length, state: added(false), doc })
  return log
}

function keysIn(changes: ChangeSource): string[] {
  const keys: string[] = []
  for (; changes.isAt; changes.next())
    keys.push(
      Buffer.from(
        changes.bytes.subarray(changes.start, changes.start + changes.size),
      ).toString('hex'),
    )
  return keys
}

test('changes in any order are sorted by the bytes of their keys', (context) => {
  context.diagnostic(`SEED=${seed}`)
  const below = randomBelow(seed)
  for (const [count, length, letters] of [
    [3, 5, 2],
    [400, 12, 2],
    [3_000, 9, 256],
    [300, 200, 1],
  ] as const) {
    // Some keys are prefixes of others, and many keys share long prefixes.
    const keys = Array.from({ length: count }, () =>
      Buffer.from(Array.from({ length: below(length + 1) }, () => below(letters))),
    )
    const sorted = [...new Set(keys.map((key) => key.toString('latin1')))]
    const expected = sorted.sort().map((key) => Buffer.from(key, 'latin1').toString('hex'))
    assert.deepEqual(keysIn(logOf(keys).sorted({ tie: 'id', isOldest: true })), expected)
  }
})

test('the latest change of an entry is combined with the earlier changes of the entry', () => {
  const bytes = Buffer.from('an entry')
  const change = { bytes, start: 0, size: bytes.length, doc: 1 }
  const log = new ChangeLog()
  for (const state of [added(true), removed(true), added(false)])
    log.add({ ...change, state })
  const changes = log.sorted({ tie: 'doc', isOldest: false })
  assert.equal(changes.state, added(false))
  changes.next()
  assert.equal(changes.isAt, false)
})
