/** Reads files in pieces, so that memory use does not depend on their size. */
import { CsvSplitter, columnNames, findDelimiter } from './csv.ts'
import { JsonSplitter } from './split-json.ts'
import { LineSplitter } from './split-lines.ts'
import { FileError, type SourceRecord, type Splitter } from './source-record.ts'

export type FileFormat = 'lines' | 'json' | 'csv'

/** The format of a file, detected from its name and first characters. */
export interface FileKind {
  readonly format: FileFormat
  readonly isGzip: boolean
  /** The first characters of the file's text. */
  readonly head: string
}

const headLength = 65_536

export async function detectKind(file: Blob, name: string): Promise<FileKind> {
  const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer())
  const isGzip = first === 0x1f && second === 0x8b
  let head = ''
  for await (const piece of textOf(file, isGzip)) {
    head += piece
    if (head.length >= headLength) break
  }
  return { format: detectFormat(name.replace(/\.gz$/i, ''), head), isGzip, head }
}

export function detectFormat(name: string, head: string): FileFormat {
  const ending = /\.(\w+)$/.exec(name)?.[1]?.toLowerCase()
  if (ending === 'csv' || ending === 'tsv') return 'csv'
  if (ending === 'jsonl' || ending === 'ndjson') return 'lines'
  const start = head.trimStart()
  if (start.startsWith('[')) return 'json'
  if (!start.startsWith('{')) return 'csv'
  // If the first line is valid JSON, the file has one record per line.
  return isJson(start.split('\n', 1)[0]!) ? 'lines' : 'json'
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** The text of a file in pieces. Calls `onRead` with the number of bytes read so far. */
async function* textOf(
  file: Blob,
  isGzip: boolean,
  onRead: (bytes: number) => void = () => undefined,
): AsyncGenerator<string> {
  const reader = file.stream().getReader() as ReadableStreamDefaultReader<Bytes>
  let bytes = 0
  const counted = new ReadableStream<Bytes>({
    async pull(controller) {
      const { done, value } = await reader.read()
      if (done) {
        controller.close()
        return
      }
      bytes += value.length
      onRead(bytes)
      controller.enqueue(value)
    },
    cancel: (reason) => reader.cancel(reason),
  })
  const plain = isGzip
    ? counted.pipeThrough<Bytes>(new DecompressionStream('gzip'))
    : counted
  const pieces = plain.pipeThrough(new TextDecoderStream()).getReader()
  try {
    for (;;) {
      const { done, value } = await pieces.read()
      if (done) return
      yield value
    }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new FileError('The file is damaged: it cannot be decompressed.', { cause: error })
  } finally {
    // Releases the file, even if the consumer stops early.
    await pieces.cancel().catch(() => undefined)
  }
}

type Bytes = Uint8Array<ArrayBuffer>

export interface RecordSource {
  /** Column names from the first row of CSV; undefined for other formats. */
  readonly columns: readonly string[] | undefined
  /** The first row as it is in the file. A file of rejected rows starts with it. */
  readonly header: string
  readonly records: AsyncIterable<SourceRecord>
}

export async function openRecords(
  file: Blob,
  { format, isGzip, head }: FileKind,
  onRead?: (bytes: number) => void,
): Promise<RecordSource> {
  const splitter = splitterFor(format, head)
  const records = split(textOf(file, isGzip, onRead), splitter)
  if (format !== 'csv') return { columns: undefined, header: '', records }
  const first = await records.next()
  if (first.done === true) return { columns: [], header: '', records }
  const { cells = [], text } = first.value
  return { columns: columnNames(cells), header: text, records }
}

function splitterFor(format: FileFormat, head: string): Splitter {
  switch (format) {
    case 'lines':
      return new LineSplitter()
    case 'json':
      return new JsonSplitter()
    case 'csv':
      return new CsvSplitter(findDelimiter(head))
  }
}

async function* split(
  pieces: AsyncIterable<string>,
  splitter: Splitter,
): AsyncGenerator<SourceRecord, void> {
  for await (const piece of pieces) yield* splitter.push(piece)
  yield* splitter.end()
}
