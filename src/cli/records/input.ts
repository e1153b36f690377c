/**
 * Opens the input of an import, a file or standard input, decompresses it and splits it
 * into records.
 */
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { defaultLimits } from '../../limits.ts'
import { CommandFailure, fileFailure } from './failure.ts'
import { splitterFor, type Format, type RawRecord } from './split.ts'

/**
 * Size and modification time of a file, which show whether the file has changed since an earlier
 * run.
 */
export interface InputIdentity {
  readonly size: number
  readonly changedAt: number
}

export class Input {
  readonly path: string
  /** Identity of the file; undefined for standard input. */
  readonly identity: InputIdentity | undefined
  readonly format: Format
  readonly #chunks: AsyncIterable<Buffer>
  readonly #position: { read: number }

  private constructor(
    path: string,
    identity: InputIdentity | undefined,
    content: { readonly format: Format; readonly chunks: AsyncIterable<Buffer> },
    position: { read: number },
  ) {
    this.path = path
    this.identity = identity
    this.format = content.format
    this.#chunks = content.chunks
    this.#position = position
  }

  /**
   * Opens an input; `-` is standard input. If `format` is undefined, it is detected from the name
   * and content of the file.
   */
  static async open(path: string, format: Format | undefined): Promise<Input> {
    try {
      const identity = path === '-' ? undefined : await identify(path)
      const position = { read: 0 }
      const source =
        path === '-' ? process.stdin : createReadStream(path, { highWaterMark })
      const packed = await peek(counted(source as AsyncIterable<Buffer>, position), 2)
      const isGzip = packed.first[0] === 0x1f && packed.first[1] === 0x8b
      const plain = await peek(isGzip ? unpacked(packed.all) : packed.all, mark.length + 1)
      return new Input(
        path,
        identity,
        {
          format: format ?? formatOf(path, plain.first),
          chunks: withoutMark(plain.all, hasMark(plain.first)),
        },
        position,
      )
    } catch (error) {
      throw inputFailure(path, error)
    }
  }

  /** The records, in one group per chunk of input. */
  async *records(): AsyncGenerator<RawRecord[], void> {
    const splitter = splitterFor(this.format, defaultLimits.bodySizeMax)
    try {
      for await (const chunk of this.#chunks) yield splitter.push(chunk)
    } catch (error) {
      throw inputFailure(this.path, error)
    }
    yield splitter.end()
  }

  /** The share of the file that was read; undefined when the size is unknown. */
  get partRead(): number | undefined {
    if (this.identity === undefined || this.identity.size === 0) return undefined
    return Math.min(1, this.#position.read / this.identity.size)
  }
}

const highWaterMark = 256 * 1024

async function identify(path: string): Promise<InputIdentity> {
  const { size, mtimeMs } = await stat(path)
  return { size, changedAt: Math.floor(mtimeMs) }
}

function inputFailure(path: string, error: unknown): CommandFailure {
  const { code, message } = error as NodeJS.ErrnoException
  if (code?.startsWith('Z_') === true)
    return new CommandFailure(`${path} is not a valid gzip file: ${message}`)
  return fileFailure(error)
}

/**
 * The format according to the file name, or otherwise to the first bytes. Endings such as .gz and
 * .rejected are ignored: `data.csv.rejected` has the format of `data.csv`.
 */
function formatOf(path: string, first: Buffer): Format {
  const name = path.replace(/(?:\.(?:gz|gzip|rejected))+$/i, '')
  if (/\.csv$/i.test(name)) return 'csv'
  if (/\.(?:jsonl|ndjson)$/i.test(name)) return 'jsonl'
  return first.toString('latin1').replace(mark, '').trimStart().startsWith('[')
    ? 'json'
    : 'jsonl'
}

/** The UTF-8 byte order mark, decoded as Latin-1. */
const mark = '\xef\xbb\xbf'

function hasMark(first: Buffer): boolean {
  return first.toString('latin1').startsWith(mark)
}

async function* counted(
  source: AsyncIterable<Buffer>,
  position: { read: number },
): AsyncGenerator<Buffer> {
  for await (const chunk of source) {
    position.read += chunk.length
    yield chunk
  }
}

function unpacked(source: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  // The consumer of the stream handles its errors.
  return pipeline(Readable.from(source), createGunzip(), () => undefined)
}

async function* withoutMark(
  source: AsyncIterable<Buffer>,
  isMarked: boolean,
): AsyncGenerator<Buffer> {
  let left = isMarked ? mark.length : 0
  for await (const chunk of source) {
    yield chunk.subarray(Math.min(left, chunk.length))
    left -= Math.min(left, chunk.length)
  }
}

/**
 * Maximum number of bytes that are read to detect the format. An input that starts with more white
 * space is not recognized as a JSON array.
 */
const peekSizeMax = 1024 * 1024

/**
 * Reads until the input ends or `count` bytes other than white space have arrived. Returns the
 * bytes read as `first`, and the whole input as `all`.
 */
async function peek(
  source: AsyncIterable<Buffer>,
  count: number,
): Promise<{ first: Buffer; all: AsyncIterable<Buffer> }> {
  const chunks = source[Symbol.asyncIterator]()
  const first: Buffer[] = []
  let size = 0
  let missing = count
  while (missing > 0 && size < peekSizeMax) {
    const next = await chunks.next()
    if (next.done === true) break
    first.push(next.value)
    size += next.value.length
    missing -= next.value.toString('latin1').trim().length
  }
  const joined = Buffer.concat(first)
  return { first: joined, all: withFirst(joined, chunks) }
}

async function* withFirst(
  first: Buffer,
  rest: AsyncIterator<Buffer>,
): AsyncGenerator<Buffer> {
  yield first
  for (let next = await rest.next(); next.done !== true; next = await rest.next())
    yield next.value
}
