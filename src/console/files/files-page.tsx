/** Files into a collection or table, and out of it. */
import type { Place } from '../api/place.ts'
import { ExportPanel } from './export-panel.tsx'
import { ImportPanel } from './import-panel.tsx'

export function FilesPage({ place }: { readonly place: Place }) {
  return (
    <div class="page files-page">
      <ImportPanel place={place} />
      <ExportPanel place={place} />
    </div>
  )
}
