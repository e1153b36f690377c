/** Form of alterType: renames and adds fields. */
import { useState } from 'preact/hooks'
import { TextField } from '../kit/fields.tsx'
import { ColumnFields } from './column-fields.tsx'
import { CommandDialog } from './command-dialog.tsx'
import { alterTypeFields, type ColumnForm } from './schema-forms.ts'

export interface AlterTypeProps {
  readonly database: string
  readonly keyspace: string
  readonly name: string
  /** The existing fields. */
  readonly fields: readonly string[]
  readonly onClose: () => void
  readonly onDone: () => void
}

export function AlterType(props: AlterTypeProps) {
  const { database, keyspace, name, fields } = props
  const [names, setNames] = useState<ReadonlyMap<string, string>>(new Map())
  const [added, setAdded] = useState<readonly ColumnForm[]>([])
  const renamed = new Map([...names].filter(([before, after]) => before !== after))
  return (
    <CommandDialog
      title={`Alter type ${name}`}
      address={{ database, keyspace }}
      command="alterType"
      fields={() => alterTypeFields(name, renamed, added)}
      submitLabel="Alter type"
      isReady={renamed.size + added.length > 0}
      doneText={`Changed ${name}.`}
      onClose={props.onClose}
      onDone={props.onDone}
    >
      <fieldset>
        <legend>Field names</legend>
        <div class="fields">
          {fields.map((field) => (
            <TextField
              key={field}
              label={field}
              value={names.get(field) ?? field}
              onChange={(after) => setNames(new Map(names).set(field, after))}
              isRequired
            />
          ))}
        </div>
        <p class="hint">
          Stored values keep their fields under the new names. Fields cannot be dropped.
        </p>
      </fieldset>
      <ColumnFields
        database={database}
        keyspace={keyspace}
        title="New fields"
        noun="field"
        columns={added}
        onChange={setAdded}
        isOptional
        hasKey={false}
      />
    </CommandDialog>
  )
}
