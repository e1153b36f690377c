/** Fields tab: what a collection or table contains, from a sample. A click makes a filter. */
import { useMemo, useState } from 'preact/hooks'
import { command } from '../api/command.ts'
import type { Place } from '../api/place.ts'
import { withCondition } from '../data/conditions.ts'
import { dataQueryOf, noQuery } from '../data/data-query.ts'
import { findPage } from '../data/find-page.ts'
import { Numeral, type JsonObject, type Value } from '../json/value.ts'
import { shortText } from '../json/value-text.ts'
import { Button } from '../kit/button.tsx'
import { DataTable, type Column } from '../kit/data-table.tsx'
import { SelectField, TextField } from '../kit/fields.tsx'
import { formatCount, formatMany } from '../kit/format.ts'
import { useLoad } from '../kit/hooks.ts'
import { EmptyState, ErrorNotice, Loading } from '../kit/notice.tsx'
import { goTo, routeTo } from '../navigation/route.ts'
import { summarizeFields, type FieldSummary } from './summarize-fields.ts'

const sampleSizes = ['100', '1000', '5000'] as const

/** Rows that the table shows. Others are found by name. */
const shownMax = 200

export function FieldsPage({ place }: { readonly place: Place }) {
  const [size, setSize] = useState<(typeof sampleSizes)[number]>('1000')
  const [wanted, setWanted] = useState('')
  const { value, error, isLoading, reload } = useLoad(
    (signal) => loadSample(place, Number(size), signal),
    [place, size],
  )
  const summaries = useMemo(() => summarizeFields(value?.documents ?? []), [value])
  if (error !== undefined) return <ErrorNotice error={error} />
  if (value === undefined) return <Loading label="Reading a sample" />
  const noun = place.kind === 'table' ? 'row' : 'document'
  const { documents, total } = value
  if (documents.length === 0)
    return (
      <EmptyState title={`${place.name} is empty`}>
        Insert or import {noun}s to see their fields.
      </EmptyState>
    )
  const found = summaries.filter(({ path }) =>
    path.toLowerCase().includes(wanted.toLowerCase()),
  )
  return (
    <div class="page stack">
      <div class="row">
        <TextField
          label="Find a field"
          type="search"
          isLabelHidden
          placeholder="Find a field"
          value={wanted}
          onChange={setWanted}
        />
        <SelectField
          label="Sample"
          value={size}
          choices={sampleSizes.map((count) => ({
            value: count,
            label: `first ${formatCount(Number(count))}`,
          }))}
          onChange={setSize}
        />
        <Button
          icon="refresh"
          label="Read the sample again"
          kind="quiet"
          onClick={reload}
        />
      </div>
      <p role="status">
        {isLoading ? 'Reading a sample … ' : ''}
        {sampleWords(documents.length, total, noun)} They have{' '}
        {formatMany(summaries.length, 'field')}
        {found.length > shownMax ? `; ${formatCount(shownMax)} are shown` : ''}. Click a
        value to filter by it.
      </p>
      <DataTable
        label="Fields"
        columns={columnsFor(place, documents.length)}
        rows={found.slice(0, shownMax)}
        keyOf={({ path }) => path}
      />
    </div>
  )
}

function sampleWords(count: number, total: number | undefined, noun: string): string {
  if (total === undefined)
    return `From the first ${formatMany(count, noun)} in the order of the server; there are more.`
  if (count >= total) return `From all ${formatMany(count, noun)}.`
  return `From the first ${formatMany(count, noun)} of ${formatCount(total)}, in the order of the server.`
}

function columnsFor(place: Place, sampled: number): readonly Column<FieldSummary>[] {
  return [
    { title: 'Field', render: (field) => <NameCell place={place} field={field} /> },
    { title: 'Types', render: (field) => typeWords(place, field) },
    {
      title: 'Share',
      isNumber: true,
      render: ({ count }) => shareText(count, sampled),
    },
    {
      title: 'Distinct values',
      isNumber: true,
      render: ({ distinct, examples }) =>
        examples.length === 0 && distinct === 0
          ? ''
          : distinct === undefined
            ? 'more than 1,000'
            : formatCount(distinct),
    },
    { title: 'Range', render: (field) => <RangeCell place={place} field={field} /> },
    { title: 'Examples', render: (field) => <ExampleCell place={place} field={field} /> },
  ]
}

interface CellProps {
  readonly place: Place
  readonly field: FieldSummary
}

/** The name. In a collection, a click shows the documents that have the field. */
function NameCell({ place, field }: CellProps) {
  if (place.kind === 'table' || ['_id', '$lexical'].includes(field.path))
    return <code>{field.path}</code>
  const exists: JsonObject = new Map([['$exists', true]])
  return (
    <FilterButton
      place={place}
      filter={new Map<string, Value>([[field.path, exists]])}
      title={`Documents that have ${field.path}`}
      text={field.path}
    />
  )
}

function RangeCell({ place, field: { path, names, range } }: CellProps) {
  if (range === undefined) return null
  const { least, greatest } = range
  if (range.kind === 'lengths')
    return (
      <span class="quiet-text">
        {least === greatest
          ? formatMany(range.least, 'character')
          : `${formatCount(range.least)} to ${formatMany(range.greatest, 'character')}`}
      </span>
    )
  const text = `${shortText(least as Value)} to ${shortText(greatest as Value)}`
  if (place.kind === 'table' && names.length > 1) return <span>{text}</span>
  const between: JsonObject = new Map([
    ['$gte', least as Value],
    ['$lte', greatest as Value],
  ])
  return (
    <FilterButton
      place={place}
      filter={new Map<string, Value>([[path, between]])}
      title={`Filter by a range of ${path}`}
      text={text}
    />
  )
}

function ExampleCell({ place, field: { names, examples, count } }: CellProps) {
  return (
    <div class="row">
      {examples.map(({ value, count: times }) => {
        const text = shortText(value)
        const shown = text.length > 60 ? `${text.slice(0, 60)}…` : text === '' ? '""' : text
        const label = times > 1 ? `${shown} × ${formatCount(times)}` : shown
        const filter = withCondition(place, new Map(), names, value, true)
        return filter === undefined ? (
          <code key={text} class="preview-cell">
            {label}
          </code>
        ) : (
          <FilterButton
            key={text}
            place={place}
            filter={filter}
            title={`Filter by ${shown}: ${formatCount(times)} of ${formatCount(count)}`}
            text={label}
          />
        )
      })}
    </div>
  )
}

/** Opens the Data tab with a filter. */
function FilterButton({
  place,
  filter,
  title,
  text,
}: {
  readonly place: Place
  readonly filter: JsonObject
  readonly title: string
  readonly text: string
}) {
  const open = () => {
    dataQueryOf(place).set({ ...noQuery, filter })
    goTo(routeTo(place.database, place.keyspace, place.name, 'data'))
  }
  return (
    <Button kind="quiet" class="field-filter" title={title} onClick={open}>
      {text}
    </Button>
  )
}

/** The type of a column, or the types of the sampled values with their shares. */
function typeWords({ table }: Place, { names, types }: FieldSummary): string {
  const column = table.columns.get(names[0]!)
  if (column !== undefined && names.length === 1) return column.type
  if (types.length === 1) return types[0]!.value
  const all = types.reduce((sum, { count }) => sum + count, 0)
  return types.map(({ value, count }) => `${value} ${shareText(count, all)}`).join(', ')
}

function shareText(count: number, all: number): string {
  if (count === all) return '100%'
  const percent = (count / all) * 100
  // A rounded 100% or 0% would hide that some documents differ.
  if (percent > 99) return '> 99%'
  return percent < 1 ? '< 1%' : `${Math.round(percent)}%`
}

interface Sample {
  readonly documents: readonly JsonObject[]
  /** Number of all documents or rows; undefined if it is unknown. */
  readonly total: number | undefined
}

async function loadSample(
  place: Place,
  size: number,
  signal: AbortSignal,
): Promise<Sample> {
  const one = new Numeral('1')
  const projection: JsonObject = new Map([
    ['$vectorize', one],
    ['$lexical', one],
  ])
  const clauses = place.kind === 'table' ? {} : { projection }
  const { documents, next } = await findPage(place, clauses, { pageSize: size, signal })
  if (next === null) return { documents, total: documents.length }
  // The API does not count rows.
  if (place.kind === 'table') return { documents, total: undefined }
  const { status } = await command(place, 'estimatedDocumentCount', {}, { signal })
  // The estimate may be behind the documents that were read.
  const total = Math.max(status['count'] as number, documents.length + 1)
  return { documents, total }
}
