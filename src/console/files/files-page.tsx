/** Files tab: imports into and exports from a collection or table. */
import type { Place } from '../api/place.ts'
import { useMay } from '../catalog/permissions.ts'
import { ExportPanel } from './export-panel.tsx'
import { ImportPanel } from './import-panel.tsx'

export function FilesPage({ place }: { readonly place: Place }) {
  const may = useMay(place)
  return (
    <div class="page files-page">
      {may('db-table-modify') && <ImportPanel place={place} />}
      {may('db-table-select') && <ExportPanel place={place} />}
    </div>
  )
}
