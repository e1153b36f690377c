/** Reads the stream of a backup: lines of JSON, some of which are followed by a file. */
import { isBackupKey } from '../../engine/backup.ts'
import { CommandFailure } from '../records/failure.ts'

export type Received =
  | { readonly kind: 'begin'; readonly files: number; readonly size: number }
  | {
      readonly kind: 'file'
      readonly key: string
      readonly size: number
      /** The bytes of the file. Must be consumed before the next item is requested. */
      readonly content: AsyncIterable<Buffer>
    }
  | { readonly kind: 'manifest'; readonly manifest: unknown }

/**
 * Maximum length of a line in bytes. The manifest is one line; this maximum suffices for some
 * hundred thousand collections.
 */
const lineSizeMax = 128 * 1024 * 1024

/**
 * Yields the expected total size, then the files of a backup, then its manifest. Throws a
 * CommandFailure when the stream ends before the manifest.
 */
export async function* readBackup(stream: AsyncIterable<Buffer>): AsyncGenerator<Received> {
  const bytes = new ByteReader(stream)
  for (;;) {
    const line = await bytes.line()
    if (line === '') continue
    const { begin, file, size, manifest, error } = parse(line)
    if (typeof error === 'string')
      throw new CommandFailure(`the server aborted the backup: ${error}`)
    if (manifest !== undefined) {
      yield { kind: 'manifest', manifest }
      return
    }
    if (typeof file === 'string' && isBackupKey(file) && isSize(size))
      yield { kind: 'file', key: file, size, content: bytes.take(size) }
    else if (begin !== undefined && begin !== null) {
      const contents = begin as { readonly files: unknown; readonly size: unknown }
      yield { kind: 'begin', files: Number(contents.files), size: Number(contents.size) }
    } else throw notUnderstood()
  }
}

class ByteReader {
  readonly #chunks: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)

  constructor(stream: AsyncIterable<Buffer>) {
    this.#chunks = stream[Symbol.asyncIterator]()
  }

  async line(): Promise<string> {
    const parts: Buffer[] = []
    let size = 0
    for (;;) {
      const end = this.#rest.indexOf(10)
      const part = end < 0 ? this.#rest : this.#rest.subarray(0, end)
      parts.push(part)
      size += part.length
      if (size > lineSizeMax) throw notUnderstood()
      this.#rest = this.#rest.subarray(part.length + (end < 0 ? 0 : 1))
      if (end >= 0) return Buffer.concat(parts).toString()
      await this.#more()
    }
  }

  async *take(size: number): AsyncGenerator<Buffer> {
    for (let left = size; left > 0;) {
      if (this.#rest.length === 0) await this.#more()
      const part = this.#rest.subarray(0, left)
      this.#rest = this.#rest.subarray(part.length)
      left -= part.length
      yield part
    }
  }

  async #more(): Promise<void> {
    let next: IteratorResult<Buffer>
    try {
      next = await this.#chunks.next()
    } catch (error) {
      throw new CommandFailure(
        `the connection to the server failed: ${(error as Error).message}`,
      )
    }
    if (next.done === true)
      throw new CommandFailure(
        'the server closed the connection before the backup was complete.',
      )
    this.#rest = next.value
  }
}

function parse(line: string): Record<string, unknown> {
  try {
    const parsed = JSON.parse(line) as Record<string, unknown> | null
    if (typeof parsed === 'object' && parsed !== null) return parsed
  } catch {
    // Text that is not JSON is reported by the error below.
  }
  throw notUnderstood()
}

function isSize(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

function notUnderstood(): CommandFailure {
  return new CommandFailure(
    'the reply of the server is not a backup. Use the same version of Stela as the server.',
  )
}
