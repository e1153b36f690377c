/** The dialogs of the Data tab. */
import type { Place } from '../api/place.ts'
import type { FieldList } from '../completion/field-paths.ts'
import type { JsonObject, Value } from '../json/value.ts'
import { useStore } from '../kit/hooks.ts'
import { ColumnDialog } from './column-dialog.tsx'
import type { Doomed } from './change-documents.ts'
import { DeleteDialog } from './delete-dialog.tsx'
import { DocumentEditor } from './document-editor.tsx'
import { gridStateOf } from './grid-state.ts'
import { UpdateDialog } from './update-dialog.tsx'
import { ValueDialog } from './value-dialog.tsx'

export type OpenDialog =
  /** `start`: the text of a copy of a document. */
  | { readonly kind: 'insert'; readonly start?: string }
  | { readonly kind: 'edit'; readonly document: JsonObject }
  | { readonly kind: 'delete'; readonly doomed: Doomed }
  | { readonly kind: 'update'; readonly filter: JsonObject }
  | { readonly kind: 'columns' }
  | { readonly kind: 'value'; readonly name: string; readonly value: Value }

export interface DataDialogProps {
  readonly place: Place
  readonly open: OpenDialog
  readonly fields: FieldList
  /** Names of the columns. */
  readonly names: readonly string[]
  /** Number of rows or documents, if it is known. */
  readonly total: number | undefined
  readonly onClose: () => void
  /** Called after a change of documents. */
  readonly onDone: () => void
}

export function DataDialog(props: DataDialogProps) {
  const { place, open, fields, names, total, onClose, onDone } = props
  const gridState = gridStateOf(place)
  const { hidden } = useStore(gridState)
  switch (open.kind) {
    case 'insert':
      return (
        <DocumentEditor
          place={place}
          fields={fields}
          {...(open.start === undefined ? {} : { start: open.start })}
          onClose={onClose}
          onDone={onDone}
        />
      )
    case 'edit':
      return (
        <DocumentEditor
          place={place}
          fields={fields}
          document={open.document}
          onClose={onClose}
          onDone={onDone}
        />
      )
    case 'delete':
      return (
        <DeleteDialog
          place={place}
          doomed={open.doomed}
          {...(place.kind === 'table' && total !== undefined
            ? { known: { count: total, isMore: true } }
            : {})}
          onClose={onClose}
          onDone={onDone}
        />
      )
    case 'update':
      return (
        <UpdateDialog
          place={place}
          filter={open.filter}
          fields={fields}
          onClose={onClose}
          onDone={onDone}
        />
      )
    case 'columns':
      return (
        <ColumnDialog
          names={names}
          hidden={hidden}
          onChange={(chosen) =>
            gridState.update((before) => ({ ...before, hidden: chosen }))
          }
          onClose={onClose}
        />
      )
    case 'value':
      return <ValueDialog name={open.name} value={open.value} onClose={onClose} />
  }
}
