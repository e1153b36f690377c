/** Import of a file: preview, field mapping, insert. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Place } from '../api/place.ts'
import { refreshSizes } from '../catalog/catalog.ts'
import {
  firstChoice,
  noText,
  problemOf,
  searchesTexts,
  templateOf,
  type TextChoice,
} from '../embed/console-template.ts'
import { TextChoiceFields } from '../embed/text-choice-fields.tsx'
import { Button } from '../kit/button.tsx'
import { CheckField, SelectField } from '../kit/fields.tsx'
import { formatBytes } from '../kit/format.ts'
import { useAction, useStore } from '../kit/hooks.ts'
import { ErrorNotice } from '../kit/notice.tsx'
import { DropZone } from './drop-zone.tsx'
import { droppedFile, takeDropped } from '../navigation/dropped-file.ts'
import { FieldMappings, type PreviewedField } from './field-mappings.tsx'
import { FilePreview } from './file-preview.tsx'
import { ImportProgress } from './import-progress.tsx'
import { startImport, type RunningImport } from './import-state.ts'
import {
  firstMappings,
  mapDocument,
  valuesOf,
  type FieldMapping,
  type RecordMapping,
} from './map-fields.ts'
import { detectKind, openRecords, type FileFormat, type FileKind } from './read-file.ts'
import type { SourceRecord } from './source-record.ts'
import { printJson } from '../json/print-json.ts'
import type { JsonObject } from '../json/value.ts'

/** Maximum number of records in the preview, and their maximum total length in characters. */
const previewedMax = 50
const previewedLengthMax = 2_000_000

interface Opened {
  readonly file: File
  readonly kind: FileKind
  readonly columns: readonly string[] | undefined
  readonly records: readonly SourceRecord[]
  readonly fields: readonly PreviewedField[]
}

const formats: readonly { readonly value: FileFormat; readonly label: string }[] = [
  { value: 'lines', label: 'JSON lines' },
  { value: 'json', label: 'JSON' },
  { value: 'csv', label: 'CSV' },
]

export function ImportPanel({ place }: { readonly place: Place }) {
  const [opened, setOpened] = useState<Opened | undefined>(undefined)
  const [mappings, setMappings] = useState<readonly FieldMapping[]>([])
  const [nestNames, setNestNames] = useState(true)
  /** The text to search by; undefined until the user chooses another one than the proposal. */
  const [chosen, setChosen] = useState<TextChoice | undefined>(undefined)
  const [running, setRunning] = useState<RunningImport | undefined>(undefined)
  const latest = useRef(running)
  latest.current = running
  const types = place.kind === 'table' ? place.table.columns : undefined
  const open = useAction(async (file: File, format?: FileFormat) => {
    const found = await detectKind(file, file.name)
    const kind = format === undefined ? found : { ...found, format }
    const { columns, records: all } = await openRecords(file, kind)
    const records: SourceRecord[] = []
    let length = 0
    for await (const record of all) {
      records.push(record)
      length += record.text.length
      if (records.length >= previewedMax || length >= previewedLengthMax) break
    }
    const fields = fieldsOf(records, columns)
    setRunning(undefined)
    setChosen(undefined)
    setOpened({ file, kind, columns, records, fields })
    setMappings(
      firstMappings(
        fields.map(({ name }) => name),
        types,
      ),
    )
  })
  // Opens the file that the user dropped on this page, or on the collection or table in the tree.
  const dropped = useStore(droppedFile)
  useEffect(() => {
    const file = takeDropped(place)
    if (file !== undefined && latest.current === undefined) open.run(file)
  }, [dropped])
  // Leaving the page cancels the import, because the user would not see its progress and errors.
  useEffect(() => () => latest.current?.cancel(), [])
  const mapping = {
    fields: mappings,
    types,
    nestNames: nestNames && opened !== undefined && canNest(opened, place),
  }
  const isSearched = place.kind === 'collection' && searchesTexts(place.options)
  const sample = useMemo(
    () => (opened === undefined || !isSearched ? [] : documentsOf(opened, mapping)),
    [opened, mappings, nestNames, isSearched],
  )
  const choice = chosen ?? (isSearched ? firstChoice(sample) : noText)
  const begin = () => {
    const { file, kind } = opened!
    const started = startImport(place, file, kind, mapping, templateOf(choice))
    setRunning(started)
    void started.ended.then(() => refreshSizes(place))
  }
  const forget = () => {
    running?.cancel()
    setRunning(undefined)
    setOpened(undefined)
  }
  return (
    <section class="stack" aria-labelledby="bring-in">
      <h2 id="bring-in">Import</h2>
      {opened === undefined ? (
        <DropZone
          what={place.kind === 'table' ? 'rows' : 'documents'}
          onFile={(file) => open.run(file)}
          isBusy={open.isBusy}
        />
      ) : (
        <div class="stack">
          <div class="row file-head">
            <strong class="file-name">{opened.file.name}</strong>
            <span class="quiet-text">
              {formatBytes(opened.file.size)}
              {opened.kind.isGzip ? ', gzip' : ''}
            </span>
            {running === undefined && (
              <SelectField
                label="Format"
                isLabelHidden
                value={opened.kind.format}
                choices={formats}
                onChange={(format) => open.run(opened.file, format)}
              />
            )}
            <Button icon="close" kind="quiet" onClick={forget}>
              Choose another file
            </Button>
          </div>
          {running === undefined ? (
            <>
              <FilePreview records={opened.records} columns={opened.columns} />
              <FieldMappings
                fields={opened.fields}
                mappings={mappings}
                types={types}
                isCsv={opened.columns !== undefined}
                onChange={setMappings}
              />
              {canNest(opened, place) && (
                <CheckField
                  label="Dots in names create nested objects"
                  hint="address.city becomes a field of the object address."
                  value={nestNames}
                  onChange={setNestNames}
                />
              )}
              {isSearched && (
                <TextChoiceFields
                  sample={sample}
                  choice={choice}
                  onChange={setChosen}
                  isOptional
                />
              )}
              <div class="row">
                <Button
                  kind="primary"
                  onClick={begin}
                  isDisabled={
                    opened.records.length === 0 || problemOf(choice) !== undefined
                  }
                >
                  Insert all
                </Button>
                {opened.records.length === 0 && (
                  <span class="quiet-text">There are no records in this file.</span>
                )}
              </div>
            </>
          ) : (
            <ImportProgress running={running} place={place} />
          )}
        </div>
      )}
      <ErrorNotice error={open.error} onClose={open.clearError} />
    </section>
  )
}

/**
 * Whether a name with dots can denote a field of a nested object. Only column names of CSV files
 * can, in an import into a collection. In JSON, dots in names are literal.
 */
function canNest({ columns }: Opened, { kind }: Place): boolean {
  return kind === 'collection' && columns?.some((name) => name.includes('.')) === true
}

/** The documents that the first records become. */
function documentsOf(
  { records, columns }: Opened,
  mapping: Omit<RecordMapping, 'columns'>,
): readonly JsonObject[] {
  return records.flatMap((record) => {
    try {
      return [mapDocument(record, { ...mapping, columns })]
    } catch {
      // The import reports this record as rejected.
      return []
    }
  })
}

/** The fields of the first records, each with a sample value. */
function fieldsOf(
  records: readonly SourceRecord[],
  columns: readonly string[] | undefined,
): readonly PreviewedField[] {
  const samples = new Map<string, string>(columns?.map((name) => [name, '']))
  for (const record of records) {
    try {
      for (const [name, value] of valuesOf(record, columns))
        if ((samples.get(name) ?? '') === '')
          samples.set(name, typeof value === 'string' && columns ? value : printJson(value))
    } catch {
      // The import reports this record as rejected.
    }
  }
  return [...samples].map(([name, sample]) => ({ name, sample: sample.slice(0, 100) }))
}
