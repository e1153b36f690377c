/**
 * Brings the records of a file into a collection or table: several batches at a time, read no
 * faster than they are taken.
 */
import { FileError, type SourceRecord } from './source-record.ts'

export interface ImportCounts {
  readonly inserted: number
  readonly rejected: number
  /** Bytes of the file. */
  readonly bytesRead: number
}

export interface Rejection {
  readonly line: number
  readonly text: string
  readonly message: string
}

/** What became of the documents of a batch, by their positions. */
export type BatchOutcome = ReadonlyMap<number, string>

export interface ImportOptions {
  readonly records: AsyncIterable<SourceRecord>
  /** The JSON text that is sent; throws where none can be made of a record. */
  readonly map: (record: SourceRecord) => string
  /** Answers with the reasons of those that were refused. Throws when nothing more can be done. */
  readonly insert: (documents: readonly string[]) => Promise<BatchOutcome>
  readonly onReject: (rejection: Rejection) => void
  readonly onProgress: (counts: Pick<ImportCounts, 'inserted' | 'rejected'>) => void
  /** Raised by whoever wants it to end. What was sent by then is waited for. */
  readonly signal: AbortSignal
}

/** Documents of one insertMany. */
const batchSize = 100
/** Characters of a batch: far from what a request may have. */
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
  // One generator for all: each takes the next batch when it has sent its own.
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

/** Waits for all of them, and then fails as the first did that failed. */
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

/** Seconds that are left, by how fast it went so far; undefined: nobody can tell yet. */
export function secondsLeft(
  bytesRead: number,
  bytesTotal: number,
  elapsedMs: number,
): number | undefined {
  if (bytesRead === 0 || elapsedMs < 1_000) return undefined
  return ((bytesTotal - bytesRead) / bytesRead) * (elapsedMs / 1000)
}
