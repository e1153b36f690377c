/** Asserts the contract's promises about EngineOperations (see checked.ts). */
import assert from 'node:assert/strict'
import {
  isBackupKey,
  type BackupContents,
  type BackupPart,
} from '../../../src/engine/backup.ts'
import { assertCount } from './checked-documents.ts'
import type { EngineOperations } from '../../../src/engine/operations.ts'

/**
 * Makes a call. Asserts that it does not throw synchronously and, after `close`, that it rejects
 * with 'closed'.
 */
export type Ask = <T>(name: string, call: () => T | Promise<T>) => Promise<T>

export function checkedOperations(
  operations: EngineOperations,
  ask: Ask,
): EngineOperations {
  return {
    async statistics() {
      const statistics = await ask('statistics', () => operations.statistics())
      const { diskUse, threads, indexDebt, ...counts } = statistics
      const { recent, waiting, runs, terms } = indexDebt
      const all = { ...counts, ...diskUse, recent, waiting }
      for (const [name, count] of Object.entries<number>(all))
        assertCount(`statistics: ${name}`, count)
      for (const [name, count] of Object.entries<number>({ ...terms }))
        assertCount(`statistics: ${name} of terms`, count)
      for (const [level, count] of runs.entries())
        assertCount(`statistics: runs of level ${level}`, count)
      for (const { thread, used, size } of threads)
        assert(used > 0 && used <= size, `statistics: the heap of ${thread}`)
      return statistics
    },
    async sizeOf(target) {
      const size = await ask('sizeOf', () => operations.sizeOf(target))
      const { count, diskUse, vectors = {} } = size
      for (const [name, value] of Object.entries<number>({ count, ...diskUse, ...vectors }))
        assertCount(`sizeOf: ${name}`, value)
      return size
    },
    backup: (have, signal) => checkedBackup(operations.backup(have, signal), have),
  }
}

/**
 * Asserts the order of the parts of a backup, the announced number of files, and that no file is
 * missing.
 */
async function* checkedBackup(
  parts: AsyncIterable<BackupPart>,
  have: ReadonlySet<string>,
): AsyncGenerator<BackupPart> {
  const held = new Set(have)
  let filesLeft: number | undefined
  let isOver = false
  for await (const part of parts) {
    assert(!isOver, 'backup: more comes after its end')
    assert.equal(part.kind === 'begin', filesLeft === undefined, 'backup: begins once')
    switch (part.kind) {
      case 'begin':
        assertCount('backup: files', part.files)
        assertCount('backup: size', part.size)
        filesLeft = part.files
        yield part
        break
      case 'file':
        assert(isBackupKey(part.key), `backup: ${part.key} is no key`)
        assert(!held.has(part.key), `backup: the caller has ${part.key}`)
        assert(filesLeft!-- > 0, 'backup: more files than it said')
        held.add(part.key)
        yield { ...part, content: checkedContent(part) }
        break
      case 'end':
        assert.equal(filesLeft, 0, 'backup: fewer files than it said')
        assertHeld(part.contents, held)
        isOver = true
        yield part
    }
  }
  assert(isOver, 'backup: stops without an end')
}

async function* checkedContent({
  key,
  size,
  content,
}: BackupPart & { kind: 'file' }): AsyncGenerator<Uint8Array> {
  let left = size
  for await (const bytes of content) {
    left -= bytes.length
    yield bytes
  }
  assert.equal(left, 0, `backup: ${key} does not have the ${size} bytes it said`)
}

function assertHeld({ catalog, stores }: BackupContents, held: ReadonlySet<string>): void {
  for (const { key } of [catalog, ...stores])
    assert(held.has(key), `backup: ${key} belongs to it, and was not sent`)
}
