/** Form for the mapping of each field of a file. */
import { useState } from 'preact/hooks'
import type { ColumnType } from '../api/place.ts'
import { TextField } from '../kit/fields.tsx'
import { formatCount, formatMany } from '../kit/format.ts'
import { fieldTypes, type FieldMapping, type FieldType } from './map-fields.ts'

export interface PreviewedField {
  readonly name: string
  /** The first value of the field. */
  readonly sample: string
}

/**
 * Maximum number of rendered rows. A file may have thousands of fields, and each row has three
 * controls.
 */
const shownMax = 100

const typeLabels: Readonly<Record<Exclude<FieldType, 'auto'>, string>> = {
  text: 'text',
  number: 'number',
  boolean: 'boolean',
  date: 'date',
  json: 'parse as JSON',
}

export function FieldMappings({
  fields,
  mappings,
  types,
  isCsv,
  onChange,
}: {
  readonly fields: readonly PreviewedField[]
  /** Whether the file is CSV. Its cells have no types, so types are inferred. */
  readonly isCsv: boolean
  readonly mappings: readonly FieldMapping[]
  /** Column types of a table; undefined for a collection. */
  readonly types: ReadonlyMap<string, ColumnType> | undefined
  readonly onChange: (mappings: readonly FieldMapping[]) => void
}) {
  const [wanted, setWanted] = useState('')
  const samples = new Map(fields.map(({ name, sample }) => [name, sample]))
  const found = mappings.filter(({ source }) =>
    source.toLowerCase().includes(wanted.toLowerCase()),
  )
  const isLong = mappings.length > shownMax
  const change = (source: string, more: Partial<FieldMapping>) =>
    onChange(mappings.map((each) => (each.source === source ? { ...each, ...more } : each)))
  return (
    <>
      {isLong && (
        <div class="row">
          <TextField
            label="Find a field"
            isLabelHidden
            type="search"
            placeholder="Find a field"
            value={wanted}
            onChange={setWanted}
          />
          <span class="quiet-text" role="status">
            {formatCount(Math.min(found.length, shownMax))} of{' '}
            {formatMany(mappings.length, 'field')} are shown.
          </span>
        </div>
      )}
      <div
        class="table-frame field-mappings"
        tabIndex={0}
        role="region"
        aria-label="Field mapping"
      >
        <table class="data-table">
          <thead>
            <tr>
              <th scope="col">Use</th>
              <th scope="col">Name in the file</th>
              <th scope="col">Example</th>
              <th scope="col">{types === undefined ? 'Field' : 'Column'}</th>
              <th scope="col">Type</th>
            </tr>
          </thead>
          <tbody>
            {found.slice(0, shownMax).map((mapping) => (
              <MappingRow
                key={mapping.source}
                mapping={mapping}
                sample={samples.get(mapping.source) ?? ''}
                types={types}
                auto={isCsv ? 'detect' : 'unchanged'}
                onChange={(more) => change(mapping.source, more)}
              />
            ))}
          </tbody>
        </table>
      </div>
    </>
  )
}

function MappingRow({
  mapping,
  sample,
  types,
  auto,
  onChange,
}: {
  /** Label of the default type: the type is inferred, or the JSON value is not changed. */
  readonly auto: string
  readonly mapping: FieldMapping
  readonly sample: string
  readonly types: ReadonlyMap<string, ColumnType> | undefined
  readonly onChange: (more: Partial<FieldMapping>) => void
}) {
  const { source, target, isUsed, type } = mapping
  const column = types?.get(target)
  return (
    <tr class={isUsed ? undefined : 'unused'}>
      <td>
        <input
          type="checkbox"
          checked={isUsed}
          aria-label={`Use ${source}`}
          disabled={types !== undefined && !types.has(target) && types.size === 0}
          onChange={(event) => {
            const isOn = event.currentTarget.checked
            const isKnown = types?.has(target) ?? true
            onChange({
              isUsed: isOn,
              ...(isOn && !isKnown ? { target: types!.keys().next().value! } : {}),
            })
          }}
        />
      </td>
      <td class="mapping-name">{source}</td>
      <td>
        <code class="preview-cell">{sample}</code>
      </td>
      <td>
        {types === undefined ? (
          <input
            type="text"
            value={target}
            aria-label={`Field for ${source}`}
            disabled={!isUsed}
            spellcheck={false}
            onInput={(event) => onChange({ target: event.currentTarget.value })}
          />
        ) : (
          <select
            value={target}
            aria-label={`Column for ${source}`}
            disabled={!isUsed}
            onChange={(event) => onChange({ target: event.currentTarget.value })}
          >
            {[...types.keys()].map((name) => (
              <option key={name} value={name} selected={name === target}>
                {name}
              </option>
            ))}
          </select>
        )}
      </td>
      <td>
        <select
          value={type}
          aria-label={`Type of ${source}`}
          disabled={!isUsed}
          onChange={(event) => onChange({ type: event.currentTarget.value as FieldType })}
        >
          {fieldTypes.map((each) => (
            <option key={each} value={each} selected={each === type}>
              {each !== 'auto'
                ? typeLabels[each]
                : column === undefined
                  ? auto
                  : `column type: ${column.type}`}
            </option>
          ))}
        </select>
      </td>
    </tr>
  )
}
