/**
 * Inserts the records of a file with several batches in flight. Reading pauses while all batches
 * are in flight, which bounds memory.
 */
import { FileError, type SourceRecord } from './source-record.ts'

export interface ImportCounts {
  readonly inserted: number
  readonly rejected: number
  /** Bytes of the file that were read. */
  readonly bytesRead: number
}

export interface Rejection {
  readonly line: number
  readonly text: string
  readonly message: string
}

/** Error messages of the rejected documents of a batch, by position. */
export type BatchOutcome = ReadonlyMap<number, string>

export interface ImportOptions {
  readonly records: AsyncIterable<SourceRecord>
  /** Maps a record to the JSON text of a document; throws when the record is invalid. */
  readonly map: (record: SourceRecord) => string
  /** Returns the errors of rejected documents. Throws when the import cannot continue. */
  readonly insert: (documents: readonly string[]) => Promise<BatchOutcome>
  readonly onReject: (rejection: Rejection) => void
  readonly onProgress: (counts: Pick<ImportCounts, 'inserted' | 'rejected'>) => void
  /** Cancels the import. Batches in flight are awaited. */
  readonly signal: AbortSignal
}

/** Documents per insertMany. */
const batchSize = 100
/** Characters per batch: far below the limit of a request. */
const batchLengthMax = 2_000_000
const batchesAtATime = 4

interface Batch {
  readonly records: readonly SourceRecord[]
  readonly documents: readonly string[]
}

export async function runImport(options: ImportOptions): Promise<void> {
  const { insert, onReject, onProgress, signal } = options
  let inserted = 0
  let rejected = 0
  const reject = ({ line, text }: SourceRecord, message: string) => {
    rejected++
    onReject({ line, text, message })
  }
  const send = async ({ records, documents }: Batch) => {
    const refused = await insert(documents)
    for (const [position, message] of refused) reject(records[position]!, message)
    inserted += documents.length - refused.size
    onProgress({ inserted, rejected })
  }
  const batches = inBatches(options, reject)
  let hasFailed = false
  // All senders share one generator. Each takes a batch, sends it, and then takes the next one.
  const takeAll = async () => {
    try {
      for (;;) {
        const { done, value } = await batches.next()
        if (done === true || signal.aborted || hasFailed) return
        await send(value)
      }
    } finally {
      hasFailed = true
    }
  }
  try {
    await settleAll(Array.from({ length: batchesAtATime }, takeAll))
  } finally {
    await batches.return(undefined)
    onProgress({ inserted, rejected })
  }
}

/** Waits for all promises, then rejects with the first error. */
async function settleAll(running: readonly Promise<void>[]): Promise<void> {
  const outcomes = await Promise.allSettled(running)
  const failed = outcomes.find(({ status }) => status === 'rejected')
  if (failed?.status === 'rejected') throw failed.reason
}

async function* inBatches(
  { records, map, signal }: ImportOptions,
  reject: (record: SourceRecord, message: string) => void,
): AsyncGenerator<Batch, undefined> {
  let taken: SourceRecord[] = []
  let documents: string[] = []
  let length = 0
  for await (const record of records) {
    if (signal.aborted) return undefined
    try {
      const document = map(record)
      if (taken.length > 0 && length + document.length > batchLengthMax) {
        yield { records: taken, documents }
        ;[taken, documents, length] = [[], [], 0]
      }
      taken.push(record)
      documents.push(document)
      length += document.length
    } catch (error) {
      if (error instanceof FileError) throw error
      reject(record, (error as Error).message)
    }
    if (taken.length < batchSize) continue
    yield { records: taken, documents }
    ;[taken, documents, length] = [[], [], 0]
  }
  if (taken.length > 0 && !signal.aborted) yield { records: taken, documents }
  return undefined
}

/** Estimated remaining seconds at the average rate so far; undefined in the first second. */
export function secondsLeft(
  bytesRead: number,
  bytesTotal: number,
  elapsedMs: number,
): number | undefined {
  if (bytesRead === 0 || elapsedMs < 1_000) return undefined
  return ((bytesTotal - bytesRead) / bytesRead) * (elapsedMs / 1000)
}
