import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BlockScan } from '../../../../src/engine/embedded/runs/block-scan.ts'
import { BlockWriter } from '../../../../src/engine/embedded/runs/block.ts'
import { added, removed, type State } from '../../../../src/engine/embedded/runs/change.ts'
import { docSize } from '../../../../src/engine/embedded/format/entry-key.ts'
import { MergedChanges } from '../../../../src/engine/embedded/runs/merge.ts'
import type { ChangeSource } from '../../../../src/engine/embedded/runs/packed-change.ts'
import { ChangeLog } from '../../../../src/engine/embedded/runs/sorted-changes.ts'
import { randomBelow, type Below } from './runs-world.ts'

const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31)

/**
 * Keys with few distinct letters, so that they share long prefixes, followed by a document number.
 */
function keyOf(letters: readonly number[], doc: number): string {
  const number = Buffer.alloc(docSize)
  number.writeUIntBE(doc, 0, docSize)
  return Buffer.from([...letters, 0, 0]).toString('latin1') + number.toString('latin1')
}

function randomKey(below: Below): string {
  const letters = Array.from({ length: below(30) }, () => 1 + below(2))
  return keyOf(letters, below(3) === 0 ? below(300) : below(2 ** 33))
}

/** Encodes sorted changes as blocks of a few entries each. */
function blocksOf(changes: readonly (readonly [string, State])[]): Buffer[] {
  const writer = new BlockWriter('doc')
  const blocks: Buffer[] = []
  let before = ''
  for (const [key, state] of changes) {
    const bytes = Buffer.from(key, 'latin1')
    const change = { bytes, start: 0, size: bytes.length, state, doc: 0 }
    if (!writer.add(change, sharedSize(before, key), 700)) {
      blocks.push(writer.finish().bytes)
      writer.add(change, 0, 700)
    }
    before = key
  }
  if (writer.count > 0) blocks.push(writer.finish().bytes)
  return blocks
}

function sharedSize(a: string, b: string): number {
  let size = 0
  while (size < a.length && size < b.length && a[size] === b[size]) size++
  return size
}

/** Walks a source, and checks the shared prefix that it reports for each key. */
function walked(changes: ChangeSource): [string, State][] {
  const found: [string, State][] = []
  let before: string | undefined
  for (; changes.isAt; changes.next()) {
    const { bytes, start, size, state, doc } = changes
    const key = Buffer.from(bytes.subarray(start, start + size)).toString('latin1')
    assert.equal(doc, Buffer.from(key, 'latin1').readUIntBE(size - docSize, docSize))
    if (before !== undefined) assert.equal(changes.shared, sharedSize(before, key))
    before = key
    found.push([key, state])
  }
  return found
}

function inOrder(changes: ReadonlyMap<string, State>): [string, State][] {
  return [...changes].sort(([a], [b]) => (a < b ? -1 : 1))
}

test('runs are merged in key order, with the correct shared prefixes', (context) => {
  context.diagnostic(`SEED=${seed}`)
  const below = randomBelow(seed)
  for (let round = 0; round < 30; round++) {
    // `runs`: the changes of each run, oldest run first. `whole`: the keys that exist after all
    // runs. `known`: the keys of all changes.
    const runs: Map<string, State>[] = []
    const whole = new Set<string>()
    const known: string[] = []
    for (let age = 0; age < 1 + below(6); age++) {
      const run = new Map<string, State>()
      for (let i = below(200); i > 0; i--) {
        const key =
          known.length > 0 && below(3) === 0
            ? known[below(known.length)]!
            : randomKey(below)
        if (run.has(key)) continue
        known.push(key)
        run.set(key, whole.has(key) ? removed(false) : added(false))
        if (!whole.delete(key)) whole.add(key)
      }
      runs.push(run)
    }
    const scans = runs
      .map((run) => new BlockScan('doc', blocksOf(inOrder(run))))
      .toReversed()
    const merged = new MergedChanges(scans, { tie: 'doc', isOldest: true })
    const expected = inOrder(new Map([...whole].map((key) => [key, added(false)])))
    assert.deepEqual(walked(merged), expected)
    for (const run of runs)
      assert.deepEqual(walked(new BlockScan('doc', blocksOf(inOrder(run)))), inOrder(run))
  }
})

test('changes are sorted, whether or not their document numbers ascend', (context) => {
  context.diagnostic(`SEED=${seed}`)
  const below = randomBelow(seed)
  for (const isRising of [true, false]) {
    const log = new ChangeLog()
    const whole = new Map<string, State>()
    for (let i = 0; i < 2_000; i++) {
      const doc = isRising ? i >> 2 : below(500)
      const key = keyOf(
        Array.from({ length: below(12) }, () => 1 + below(2)),
        doc,
      )
      const state = whole.has(key) ? removed(false) : added(false)
      if (!whole.delete(key)) whole.set(key, state)
      const bytes = Buffer.from(key, 'latin1')
      log.add({ bytes, start: 0, size: bytes.length, state, doc })
    }
    assert.deepEqual(walked(log.sorted({ tie: 'doc', isOldest: true })), inOrder(whole))
  }
})
