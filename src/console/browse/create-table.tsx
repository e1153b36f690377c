/** Forms of createTable, alterTable, createType and of indexes. */
import { useState } from 'preact/hooks'
import { keyColumns, type Place } from '../api/place.ts'
import { CheckField, SelectField, TextField } from '../kit/fields.tsx'
import { Segments } from '../kit/tabs.tsx'
import { AnalyzerField } from './analyzer-field.tsx'
import { ColumnFields } from './column-fields.tsx'
import { CommandDialog } from './command-dialog.tsx'
import { CreateDialog, type CreateProps } from './create-dialog.tsx'
import {
  columnFields,
  createIndexFields,
  createTableFields,
  emptyColumn,
  emptyIndex,
  indexCommands,
  type ColumnForm,
  type IndexForm,
  type TableForm,
} from './schema-forms.ts'
import { VectorFields } from './vector-fields.tsx'

export function CreateTable(props: CreateProps) {
  const { database, keyspace } = props
  const [form, setForm] = useState<TableForm>({
    name: '',
    columns: [{ ...emptyColumn(0), name: 'id', type: 'uuid', key: 'partition' }],
    ifNotExists: false,
  })
  return (
    <CreateDialog
      {...props}
      what="table"
      command="createTable"
      name={form.name}
      onName={(name) => setForm({ ...form, name })}
      fields={() => createTableFields(form)}
    >
      <ColumnFields
        database={database}
        keyspace={keyspace}
        columns={form.columns}
        onChange={(columns) => setForm({ ...form, columns })}
        hasKey
      />
      <CheckField
        label="Ignore if it exists"
        value={form.ifNotExists}
        onChange={(ifNotExists) => setForm({ ...form, ifNotExists })}
      />
    </CreateDialog>
  )
}

export function CreateType(props: CreateProps) {
  const { database, keyspace } = props
  const [name, setName] = useState('')
  const [fields, setFields] = useState<readonly ColumnForm[]>([emptyColumn(0)])
  const [ifNotExists, setIfNotExists] = useState(false)
  return (
    <CreateDialog
      {...props}
      what="type"
      command="createType"
      name={name}
      onName={setName}
      fields={() => ({
        name,
        definition: { fields: columnFields(fields) },
        options: ifNotExists ? { ifNotExists } : undefined,
      })}
    >
      <ColumnFields
        database={database}
        keyspace={keyspace}
        noun="field"
        columns={fields}
        onChange={setFields}
        hasKey={false}
      />
      <CheckField
        label="Ignore if it exists"
        value={ifNotExists}
        onChange={setIfNotExists}
      />
    </CreateDialog>
  )
}

export interface TableDialogProps {
  readonly place: Place
  readonly onClose: () => void
  readonly onDone: () => void | Promise<void>
}

export function AddColumns({ place, onClose, onDone }: TableDialogProps) {
  const [columns, setColumns] = useState<readonly ColumnForm[]>([emptyColumn(0)])
  return (
    <CommandDialog
      title={`Add columns to ${place.name}`}
      address={addressOf(place)}
      command="alterTable"
      fields={() => ({ operation: { add: { columns: columnFields(columns) } } })}
      submitLabel="Add columns"
      doneText={`Changed ${place.name}.`}
      onClose={onClose}
      onDone={onDone}
    >
      <ColumnFields
        database={place.database}
        keyspace={place.keyspace}
        columns={columns}
        onChange={setColumns}
        hasKey={false}
      />
    </CommandDialog>
  )
}

/** Column types that an index by value does not support. */
const unindexed = new Set(['blob', 'duration', 'userDefined', 'vector'])

export function CreateIndex({ place, onClose, onDone }: TableDialogProps) {
  const [form, setForm] = useState<IndexForm>(emptyIndex)
  const change = (part: Partial<IndexForm>) => setForm((before) => ({ ...before, ...part }))
  const [onlyKey, ...otherKeys] = keyColumns(place)
  const columns = [...place.table.columns]
    .filter(([name]) => otherKeys.length > 0 || name !== onlyKey)
    .filter(([, { type }]) =>
      form.kind === 'vector'
        ? type === 'vector'
        : form.kind === 'text'
          ? type === 'text' || type === 'ascii'
          : !unindexed.has(type),
    )
    .map(([name]) => name)
  const type = place.table.columns.get(form.column)?.type
  return (
    <CommandDialog
      title={`Create an index on ${place.name}`}
      address={addressOf(place)}
      command={indexCommands[form.kind]}
      fields={() => createIndexFields(form)}
      submitLabel="Create index"
      isReady={form.name !== '' && form.column !== ''}
      doneText={`Created ${form.name}.`}
      onClose={onClose}
      onDone={onDone}
    >
      <Segments<IndexForm['kind']>
        label="Kind"
        value={form.kind}
        onChange={(kind) => change({ kind, column: '', part: 'entries' })}
        options={[
          { value: 'regular', label: 'By value' },
          { value: 'text', label: 'By words' },
          { value: 'vector', label: 'By vector' },
        ]}
      />
      <div class="fields">
        <TextField
          label="Name"
          value={form.name}
          onChange={(name) => change({ name })}
          hasFocus
          isRequired
        />
        <SelectField
          label="Column"
          value={form.column}
          choices={[
            { value: '', label: 'Choose one' },
            ...columns.map((value) => ({ value })),
          ]}
          onChange={(column) => change({ column, part: 'entries' })}
        />
        {form.kind === 'regular' && type === 'map' && (
          <SelectField<IndexForm['part']>
            label="Part of the map"
            value={form.part}
            onChange={(part) => change({ part })}
            choices={[
              { value: 'entries', label: 'entries' },
              { value: '$keys', label: 'keys' },
              { value: '$values', label: 'values' },
            ]}
          />
        )}
        {form.kind === 'vector' && (
          <VectorFields
            metric={form.metric}
            sourceModel={form.sourceModel}
            onChange={change}
          />
        )}
      </div>
      {form.kind === 'text' && (
        <AnalyzerField
          value={form.analyzer}
          onChange={(analyzer) => change({ analyzer })}
        />
      )}
      {form.kind === 'regular' && (
        <>
          <CheckField
            label="Case-sensitive"
            value={form.caseSensitive}
            onChange={(caseSensitive) => change({ caseSensitive })}
          />
          <CheckField
            label="Ignore accents"
            value={form.ascii}
            onChange={(ascii) => change({ ascii })}
          />
          <CheckField
            label="Normalize Unicode (NFC)"
            value={form.normalize}
            onChange={(normalize) => change({ normalize })}
          />
        </>
      )}
      <CheckField
        label="Ignore if it exists"
        value={form.ifNotExists}
        onChange={(ifNotExists) => change({ ifNotExists })}
      />
    </CommandDialog>
  )
}

export function addressOf({ database, keyspace, name }: Place) {
  return { database, keyspace, name }
}
