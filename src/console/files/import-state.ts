/** A running import and its progress. */
import type { Place } from '../api/place.ts'
import { Store } from '../api/store.ts'
import { completer } from '../embed/console-template.ts'
import type { TextTemplate } from '../../searchable/text-template.ts'
import { runImport, type Rejection } from './import-run.ts'
import { insertBatch } from './insert-batch.ts'
import { mapRecord, type RecordMapping } from './map-fields.ts'
import { openRecords, type FileKind } from './read-file.ts'
import { DownloadSink } from './save-file.ts'

export interface ImportState {
  readonly phase: 'running' | 'stopping' | 'done' | 'cancelled' | 'failed'
  readonly inserted: number
  readonly rejected: number
  /** Records without a text to search by. */
  readonly textless: number
  /** Whether documents get a text to search by. */
  readonly isSearched: boolean
  readonly bytesRead: number
  readonly bytesTotal: number
  readonly elapsedMs: number
  /** The first rejections, with their errors. */
  readonly reasons: readonly Rejection[]
  readonly error?: unknown
}

export interface RunningImport {
  readonly state: Store<ImportState>
  readonly ended: Promise<void>
  cancel(): void
  /** Downloads the rejected records in the format of the file. */
  saveRejected(): void
}

/** Maximum number of rejections to show; the downloaded file has all of them. */
const reasonsMax = 100

export function startImport(
  place: Place,
  file: File,
  kind: FileKind,
  mapping: Omit<RecordMapping, 'columns' | 'complete'>,
  template: TextTemplate | undefined,
): RunningImport {
  const state = new Store<ImportState>({
    phase: 'running',
    inserted: 0,
    rejected: 0,
    textless: 0,
    isSearched: template !== undefined,
    bytesRead: 0,
    bytesTotal: file.size,
    elapsedMs: 0,
    reasons: [],
  })
  const controller = new AbortController()
  const rejected = new DownloadSink(rejectedName(file.name, kind), 'text/plain')
  const startedAt = performance.now()
  const update = (more: Partial<ImportState>) => {
    const elapsedMs = performance.now() - startedAt
    state.update((before) => ({ ...before, elapsedMs, ...more }))
  }
  const run = async () => {
    let bytesRead = 0
    let textless = 0
    const complete =
      template === undefined
        ? undefined
        : completer(template, place.options, () => textless++)
    const source = await openRecords(file, kind, (bytes) => (bytesRead = bytes))
    if (source.header !== '') void rejected.write(`${source.header}\n`)
    await runImport({
      records: source.records,
      map: (record) => mapRecord(record, { ...mapping, complete, columns: source.columns }),
      insert: (documents) => insertBatch(place, documents),
      onReject: (rejection) => {
        void rejected.write(`${rejection.text}\n`)
        const { reasons } = state.get()
        if (reasons.length < reasonsMax) update({ reasons: [...reasons, rejection] })
      },
      onProgress: (counts) => update({ ...counts, textless, bytesRead }),
      signal: controller.signal,
    })
    update({ phase: controller.signal.aborted ? 'cancelled' : 'done' })
  }
  const ended = run().catch((error: unknown) => update({ phase: 'failed', error }))
  return {
    state,
    ended,
    cancel() {
      if (state.get().phase !== 'running') return
      controller.abort()
      update({ phase: 'stopping' })
    },
    saveRejected: () => void rejected.end(),
  }
}

/**
 * Name of the file of rejected records. JSON records become JSON lines, even when the file
 * was an array.
 */
function rejectedName(name: string, { format }: FileKind): string {
  const stem = name.replace(/\.gz$/i, '').replace(/\.\w+$/, '')
  return `${stem}-rejected.${format === 'csv' ? 'csv' : 'jsonl'}`
}
