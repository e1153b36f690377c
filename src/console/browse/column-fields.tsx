/** Form rows for columns: names, types and their options. */
import { useLoad } from '../kit/hooks.ts'
import { command } from '../api/command.ts'
import { Button } from '../kit/button.tsx'
import { SelectField, TextField } from '../kit/fields.tsx'
import {
  columnTypes,
  emptyColumn,
  ownTypeChoice,
  scalarTypes,
  type ColumnForm,
  type ColumnKind,
} from './schema-forms.ts'
import { ServiceFields } from './service-fields.tsx'

export interface ColumnFieldsProps {
  readonly database: string
  readonly keyspace: string
  readonly columns: readonly ColumnForm[]
  readonly onChange: (columns: readonly ColumnForm[]) => void
  /** Whether columns can be part of the key. */
  readonly hasKey: boolean
  /** Noun for a row of the form: a column, or a field of a user-defined type. */
  readonly noun?: 'column' | 'field'
  readonly title?: string
  /** Whether the list of columns may be empty. */
  readonly isOptional?: boolean
}

function useTypes(database: string, keyspace: string): readonly string[] {
  const { value = [] } = useLoad(
    async (signal) => {
      const { status } = await command({ database, keyspace }, 'listTypes', {}, { signal })
      return status['types'] as readonly string[]
    },
    [database, keyspace],
  )
  return value
}

export function ColumnFields(props: ColumnFieldsProps) {
  const { database, keyspace, columns, onChange, hasKey, noun = 'column' } = props
  const Noun = noun === 'column' ? 'Column' : 'Field'
  const types = useTypes(database, keyspace)
  const change = (id: number, part: Partial<ColumnForm>) =>
    onChange(columns.map((column) => (column.id === id ? { ...column, ...part } : column)))
  return (
    <fieldset>
      <legend>{props.title ?? `${Noun}s`}</legend>
      {columns.map((column, position) => (
        <div key={column.id} class="column-form">
          <div class={`column-row ${hasKey ? 'keyed' : ''}`}>
            <TextField
              label={`${Noun} ${position + 1}`}
              value={column.name}
              onChange={(name) => change(column.id, { name })}
              isRequired
            />
            <SelectField<ColumnKind>
              label="Type"
              value={column.type}
              choices={columnTypes}
              onChange={(type) =>
                change(column.id, { type, udtName: column.udtName || (types[0] ?? '') })
              }
            />
            {hasKey && (
              <SelectField<ColumnForm['key']>
                label="Key"
                value={column.key}
                onChange={(key) => change(column.id, { key })}
                choices={[
                  { value: 'none', label: 'no' },
                  { value: 'partition', label: 'partition by' },
                  { value: 'ascending', label: 'sort, ascending' },
                  { value: 'descending', label: 'sort, descending' },
                ]}
              />
            )}
            <Button
              icon="delete"
              label={`Remove ${noun} ${position + 1}`}
              kind="quiet"
              isDisabled={columns.length === 1 && props.isOptional !== true}
              onClick={() => onChange(columns.filter(({ id }) => id !== column.id))}
            />
          </div>
          <TypeParts
            database={database}
            column={column}
            types={types}
            change={(part) => change(column.id, part)}
          />
        </div>
      ))}
      <div>
        <Button
          icon="add"
          onClick={() => onChange([...columns, emptyColumn(Date.now() + columns.length)])}
        >
          Add a {noun}
        </Button>
      </div>
      {hasKey && (
        <p class="hint">
          Rows with the same values in the “partition by” columns form a partition. The
          “sort” columns order its rows. All of them, in the order shown, are the primary
          key of a row.
        </p>
      )}
    </fieldset>
  )
}

function TypeParts({
  database,
  column,
  types,
  change,
}: {
  readonly database: string
  readonly column: ColumnForm
  readonly types: readonly string[]
  readonly change: (part: Partial<ColumnForm>) => void
}) {
  const valueTypes = [
    ...scalarTypes.map((value): { value: string } => ({ value })),
    ...types.map((name) => ({ value: ownTypeChoice(name), label: name })),
  ]
  switch (column.type) {
    case 'map':
    case 'list':
    case 'set':
      return (
        <div class="fields">
          {column.type === 'map' && (
            <SelectField<string>
              label="Key type"
              value={column.keyType}
              choices={scalarTypes.filter((type) => type !== 'duration')}
              onChange={(keyType) => change({ keyType })}
            />
          )}
          <SelectField
            label="Value type"
            value={column.valueType}
            choices={valueTypes}
            onChange={(valueType) => change({ valueType })}
          />
        </div>
      )
    case 'userDefined':
      return types.length === 0 ? (
        <p class="hint bad">The keyspace has no user-defined types. Create one first.</p>
      ) : (
        <SelectField
          label="User-defined type"
          value={column.udtName}
          choices={types}
          onChange={(udtName) => change({ udtName })}
        />
      )
    case 'vector':
      return (
        <>
          {column.service.provider === '' && (
            <TextField
              label="Dimension"
              type="number"
              value={column.dimension}
              onChange={(dimension) => change({ dimension })}
            />
          )}
          <details>
            <summary>Embed texts with a model</summary>
            <ServiceFields
              database={database}
              service={column.service}
              onChange={(service) => change({ service })}
              dimension={column.dimension}
              onDimension={(dimension) => change({ dimension })}
            />
          </details>
        </>
      )
    default:
      return null
  }
}
