/** The size of one collection or table. */
import { dirname } from 'node:path'
import type { TargetSize } from '../../operations.ts'
import type { StoredTarget } from '../schema/stored-schema.ts'
import { sizesIn } from '../catalog/folder-sizes.ts'
import type { KnownFiles } from '../files/known-files.ts'
import type { OpenStores } from './open-stores.ts'
import { StoreConnection } from '../store/store-connection.ts'
import type { Vectors } from '../vectors/vectors.ts'

export interface Measured {
  readonly stores: OpenStores
  readonly files: KnownFiles
  readonly vectors: Vectors
}

/** Size of a target, which must be in the catalog. `file` must be its store. */
export async function targetSize(
  target: StoredTarget,
  file: string,
  { stores, files, vectors }: Measured,
): Promise<TargetSize> {
  const open = stores.find(target)
  // Statistics do not keep stores open, because other stores would be evicted for them.
  const count =
    open === undefined
      ? files.open(file, 'read', () => countOnce(file))
      : open.reader.store.documentCount()
  return {
    count,
    diskUse: { ...(await sizesIn(dirname(file))) },
    vectors: vectors.sizeIn(file),
  }
}

function countOnce(file: string): number {
  const store = new StoreConnection(file)
  try {
    return store.reading(() => store.documentCount())
  } finally {
    store.close()
  }
}
