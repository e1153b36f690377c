import { asEngineError, problemOf } from '../files/disk-trouble.ts'
import type { StoreHealth } from './store-health.ts'
import type { Catalog } from './catalog.ts'

/** Changes the catalog, and reports success or failure to `StoreHealth`. */
export async function changeCatalog<T>(
  catalog: Catalog,
  health: StoreHealth,
  act: () => Promise<T>,
): Promise<T> {
  const { commits, identity } = catalog
  const { path } = identity
  try {
    const done = await act()
    if (catalog.commits > commits) health.noteSuccess(path)
    return done
  } catch (error) {
    const trouble = problemOf(error, path)
    if (trouble !== undefined) health.noteFailure(path, trouble)
    throw asEngineError('write', error, path)
  }
}
