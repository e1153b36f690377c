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
      title={`A model for ${column}`}
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
        Texts that are written into the column become vectors, and it can be searched by
        texts. Its vectors have {dimension} numbers, so the model must make as many. Rows
        that are there stay as they are.
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
      title={`Take the model away from ${column}?`}
      size="medium"
      address={{ database, keyspace, name }}
      command="alterTable"
      fields={() => ({ operation: { dropVectorize: { columns: [column] } } })}
      submitLabel="Take it away"
      isDanger
      doneText={`Changed ${name}.`}
      onClose={onClose}
      onDone={onDone}
    >
      <p>
        The column and its vectors stay. Texts are no longer turned into vectors, neither in
        rows nor in searches.
      </p>
    </CommandDialog>
  )
}
