/**
 * Edits the catalog of a stopped server, and updates the checksum so that the server accepts the
 * edited catalog.
 */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { generationOf, seal } from '../../../../src/engine/embedded/catalog/catalog-file.ts'

export function editCatalog(dataDir: string, edit: (catalog: DatabaseSync) => void): void {
  const catalog = new DatabaseSync(join(dataDir, 'catalog.db'))
  try {
    edit(catalog)
    seal(catalog, generationOf(catalog))
  } finally {
    catalog.close()
  }
}
