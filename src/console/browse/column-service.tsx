/** Sets or removes the embedding service of a vector column. */
import { useState } from 'preact/hooks'
import type { Place } from '../api/place.ts'
import { CommandDialog } from './command-dialog.tsx'
import { addVectorizeFields, noService, type ServiceForm } from './schema-forms.ts'
import { ServiceFields } from './service-fields.tsx'

interface ColumnServiceProps {
  readonly place: Place
  readonly column: string
  readonly onClose: () => void
  readonly onDone: () => void | Promise<void>
}

export function AddService({ place, column, onClose, onDone }: ColumnServiceProps) {
  const { database, keyspace, name, table } = place
  const { dimension } = table.columns.get(column)!
  const [service, setService] = useState<ServiceForm>(noService)
  return (
    <CommandDialog
      title={`Embedding model of ${column}`}
      address={{ database, keyspace, name }}
      command="alterTable"
      fields={() => addVectorizeFields(column, service)}
      submitLabel="Use this model"
      isReady={service.modelName !== ''}
      doneText={`Changed ${name}.`}
      onClose={onClose}
      onDone={onDone}
    >
      <p>
        The model embeds texts that you write to the column, and texts that you search for.
        The vectors of the column have {dimension} numbers, so the model must have this
        dimension. Existing rows do not change.
      </p>
      <ServiceFields
        database={database}
        service={service}
        onChange={setService}
        wantedDimension={dimension}
      />
    </CommandDialog>
  )
}

export function DropService({ place, column, onClose, onDone }: ColumnServiceProps) {
  const { database, keyspace, name } = place
  return (
    <CommandDialog
      title={`Remove the model of ${column}?`}
      size="medium"
      address={{ database, keyspace, name }}
      command="alterTable"
      fields={() => ({ operation: { dropVectorize: { columns: [column] } } })}
      submitLabel="Remove"
      isDanger
      doneText={`Changed ${name}.`}
      onClose={onClose}
      onDone={onDone}
    >
      <p>
        The column keeps its vectors. Texts can no longer be embedded, neither in rows nor
        in searches.
      </p>
    </CommandDialog>
  )
}
