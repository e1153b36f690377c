/** Exports the results of a query to a file. */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Place } from '../api/place.ts'
import { Button } from '../kit/button.tsx'
import { CheckField, TextField } from '../kit/fields.tsx'
import { formatCount, formatMany } from '../kit/format.ts'
import { useAction } from '../kit/hooks.ts'
import { ErrorNotice, Notice } from '../kit/notice.tsx'
import { Segments } from '../kit/tabs.tsx'
import { ClauseField } from '../data/clause-field.tsx'
import { writeRow } from '../data/csv-text.ts'
import { readClause } from '../data/read-clause.ts'
import { findPage, type FindFields } from '../data/find-page.ts'
import { useFields } from '../data/use-fields.ts'
import { Numeral, type JsonObject } from '../json/value.ts'
import { CsvSplitter } from './csv.ts'
import { takeExported, type ExportedQuery } from '../data/exported-query.ts'
import { runExport, type ExportSummary } from './export-run.ts'
import { openSink } from './save-file.ts'

type Format = 'jsonl' | 'csv'

interface Query extends ExportedQuery {
  readonly withVectors: boolean
}

/** The clauses of a query, with the placeholder for an empty clause. */
const clauses = [
  ['filter', 'all records'],
  ['sort', 'any order'],
  ['projection', 'all fields'],
] as const

export function ExportPanel({ place }: { readonly place: Place }) {
  const [query, setQuery] = useState<Query>(() => ({
    ...takeExported(place),
    withVectors: false,
  }))
  const [format, setFormat] = useState<Format>('jsonl')
  const [columns, setColumns] = useState<string | undefined>(undefined)
  const [count, setCount] = useState<number | undefined>(undefined)
  const [summary, setSummary] = useState<Ended | undefined>(undefined)
  const controller = useRef<AbortController | undefined>(undefined)
  useEffect(() => () => controller.current?.abort(), [])
  const fields = useFields(place)
  const one = place.kind === 'table' ? 'row' : 'document'
  const change = (more: Partial<Query>) => {
    setQuery({ ...query, ...more })
    setColumns(undefined)
  }
  const chooseColumns = useAction(async () => {
    const page = await findPage(place, fieldsOf(place, query), { pageSize })
    const found = new Set<string>(place.table.columns.keys())
    for (const document of page.documents)
      for (const name of document.keys()) found.add(name)
    setColumns(writeRow([...found]).trimEnd())
  })
  useEffect(() => {
    if (format === 'csv' && columns === undefined && !chooseColumns.isBusy)
      chooseColumns.run()
  }, [format])
  const save = useAction(async () => {
    setSummary(undefined)
    const wanted = fieldsOf(place, query)
    const chosen = format === 'csv' ? namesIn(columns ?? '') : undefined
    if (chosen?.length === 0) throw new Error('Enter the columns of the file.')
    const contentType = format === 'csv' ? 'text/csv' : 'application/jsonl'
    const sink = await openSink(`${place.name}.${format}`, contentType)
    if (sink === undefined) return
    const { signal } = (controller.current = new AbortController())
    setCount(0)
    try {
      const exported = await runExport({
        fetchPage: (pageState) => findPage(place, wanted, { pageSize, pageState }),
        write: (text) => sink.write(text),
        columns: chosen,
        onProgress: setCount,
        signal,
      })
      await sink.end()
      setSummary({ ...exported, isCancelled: signal.aborted })
    } catch (error) {
      await sink.abandon()
      throw error
    } finally {
      setCount(undefined)
    }
  })
  return (
    <section class="stack" aria-labelledby="take-out">
      <h2 id="take-out">Export</h2>
      <div class="fields export-fields">
        {clauses.map(([clause, whenEmpty]) => (
          <ClauseField
            key={clause}
            clause={clause}
            fields={fields}
            value={query[clause]}
            placeholder={`Empty: ${whenEmpty}`}
            onChange={(text) => change({ [clause]: text })}
          />
        ))}
        <TextField
          label="Limit"
          type="number"
          min={1}
          placeholder="all"
          value={query.limit}
          onChange={(limit) => change({ limit })}
        />
      </div>
      {query.ids !== undefined && (
        <span class="chip">
          <span>{formatCount(query.ids.length)} selected on the map</span>
          <Button
            icon="close"
            label="Export all, not only the selection on the map"
            kind="quiet"
            onClick={() => change({ ids: undefined })}
          />
        </span>
      )}
      {hasVectors(place) && query.projection.trim() === '' && (
        <CheckField
          label="Include vectors"
          value={query.withVectors}
          onChange={(withVectors) => change({ withVectors })}
        />
      )}
      <div class="row">
        <Segments<Format>
          label="Format of the file"
          options={[
            { value: 'jsonl', label: 'JSON lines' },
            { value: 'csv', label: 'CSV' },
          ]}
          value={format}
          onChange={setFormat}
        />
        <Button kind="primary" icon="save" isBusy={save.isBusy} onClick={() => save.run()}>
          Save to a file
        </Button>
        {save.isBusy && (
          <Button kind="danger" onClick={() => controller.current?.abort()}>
            Stop
          </Button>
        )}
        {count !== undefined && (
          <span role="status" aria-live="off">
            {formatMany(count, one)} exported so far
          </span>
        )}
      </div>
      {format === 'csv' && (
        <div class="row columns-of-file">
          <TextField
            label="Columns"
            hint="Default: the fields of the first page of the query. Nested values are written as JSON."
            isMonospaced
            value={columns ?? ''}
            onChange={setColumns}
          />
          <Button
            icon="refresh"
            isBusy={chooseColumns.isBusy}
            onClick={() => chooseColumns.run()}
          >
            Find columns
          </Button>
        </div>
      )}
      {summary !== undefined && <Summary summary={summary} one={one} />}
      <ErrorNotice error={save.error ?? chooseColumns.error} />
    </section>
  )
}

interface Ended extends ExportSummary {
  readonly isCancelled: boolean
}

function Summary({ summary, one }: { readonly summary: Ended; readonly one: string }) {
  const { documents, leftOut, isCancelled } = summary
  const missing = [...leftOut].map(([name, count]) => `${name} (${formatCount(count)})`)
  return (
    <Notice
      kind={isCancelled || missing.length > 0 ? 'warning' : 'good'}
      title={isCancelled ? 'Stopped' : 'Saved'}
    >
      {formatMany(documents, one)} written.
      {missing.length > 0 &&
        ' The file has no column for these fields (number of documents with the field): ' +
          `${missing.slice(0, 20).join(', ')}.`}
    </Notice>
  )
}

/** Parses a list of names as CSV, so that quoted names may contain commas. */
function namesIn(text: string): readonly string[] {
  const splitter = new CsvSplitter(',')
  const [row] = [...splitter.push(text), ...splitter.end()]
  const names = (row?.cells ?? []).map((name) => name.trim())
  return [...new Set(names)].filter((name) => name !== '')
}

/** Documents per request. */
const pageSize = 100

function fieldsOf(place: Place, query: Query): FindFields {
  const { limit, withVectors, ids } = query
  const filter = readClause('filter', query.filter)
  const sort = readClause('sort', query.sort)
  const projection =
    readClause('projection', query.projection) ??
    // This projection includes `$vector` and `$vectorize`, which a find omits by default.
    (withVectors && hasVectors(place) ? everything : undefined)
  return {
    ...(filter !== undefined && { filter }),
    ...(sort !== undefined && { sort }),
    ...(projection !== undefined && { projection }),
    ...(limit !== '' &&
      ids === undefined && { options: new Map([['limit', new Numeral(limit)]]) }),
    // Ids are requested in groups. A limit in the options would apply to each group, so the limit
    // shortens the list of ids.
    ...(ids !== undefined && { ids: limit === '' ? ids : ids.slice(0, Number(limit)) }),
  }
}

const everything: JsonObject = new Map([['*', new Numeral('1')]])

function hasVectors({ kind, options }: Place): boolean {
  return kind === 'collection' && options.vector !== undefined
}
