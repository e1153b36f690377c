/** The size of one collection or table. */
import { dirname } from 'node:path'
import type { TargetSize } from '../../operations.ts'
import type { StoredTarget } from '../schema/stored-schema.ts'
import { sizesIn } from '../catalog/folder-sizes.ts'
import { ownCaller } from '../../../caller/caller.ts'
import { everything } from '../../../language/filters/filter.ts'
import type { OpenStores } from './open-stores.ts'
import type { Readers } from '../reader-threads/readers.ts'
import type { Vectors } from '../vectors/vectors.ts'

export interface Measured {
  readonly stores: OpenStores
  readonly readers: Readers
  readonly vectors: Vectors
}

/** Size of a target, which must be in the catalog. `file` must be its store. */
export async function targetSize(
  target: StoredTarget,
  file: string,
  { stores, readers, vectors }: Measured,
): Promise<TargetSize> {
  const open = stores.find(target)
  return {
    count: open?.reader.store.documentCount() ?? (await countClosed()),
    diskUse: { ...(await sizesIn(dirname(file))) },
    vectors: vectors.sizeIn(file),
  }

  /**
   * Counts the records on a reader thread. The main thread does not open the store, because it
   * might have to evict another store for that.
   */
  async function countClosed(): Promise<number> {
    const { count } = await readers.count(
      { file, target },
      everything,
      Infinity,
      ownCaller(),
    )
    if (stores.find(target) === undefined) await readers.close(file)
    return count
  }
}
