/**
 * A backup as one byte stream. Each file follows a line of JSON with its key and length. The last
 * line is the manifest, or the reason why the backup failed.
 *
 *   {"begin":{"files":2,"size":53248}}
 *   {"file":"catalog-41ab…","size":20480}       followed by 20480 bytes
 *   {"file":"6f0c…-17-9d2e…","size":32768}      followed by 32768 bytes
 *   {"manifest":{"format":1,…}}
 *
 * Empty lines are keep-alives.
 */
import { Readable } from 'node:stream'
import { backupFormat, type BackupContents, type BackupPart } from '../engine/backup.ts'
import type { Engine } from '../engine/contract.ts'
import { EngineError } from '../engine/errors.ts'
import { fixedLimits } from '../limits.ts'

export interface BackupStreamOptions {
  readonly engine: Engine
  /** Keys of the files that the client already has. */
  readonly have: readonly string[]
  /** The version of this server. */
  readonly version: string
  /** Aborted when the server stops. */
  readonly signal: AbortSignal
  /** Receives unexpected errors for the log; the client learns only that the backup failed. */
  readonly report: (error: unknown) => void
}

/** Milliseconds without data after which a keep-alive is sent. */
const signOfLifeMs = 10_000

const tellingMsMax = 1_000

/** A backup as a stream. Destroying the stream frees all resources of the backup. */
export function backupStream(options: BackupStreamOptions): Readable {
  const left = new AbortController()
  const signal = AbortSignal.any([options.signal, left.signal])
  const watch = setTimeout(() => {
    stream.destroy(new Error('the client does not read the backup'))
  }, fixedLimits.backupUnreadMsMax).unref()
  const stream = Readable.from(chunks(options, signal, watch), {
    objectMode: false,
    highWaterMark: 1 << 20,
  })
  // The delay leaves time to send the reason for the failure to a client that still reads.
  const stop = () => setTimeout(() => stream.destroy(), tellingMsMax).unref()
  options.signal.addEventListener('abort', stop)
  const destroy = stream._destroy.bind(stream)
  stream._destroy = (error, done) => {
    clearTimeout(watch)
    options.signal.removeEventListener('abort', stop)
    // Aborts the backup before calling `destroy`, which would otherwise wait until the current copy
    // ends.
    left.abort()
    destroy(error, done)
  }
  return stream
}

async function* chunks(
  options: BackupStreamOptions,
  signal: AbortSignal,
  watch: NodeJS.Timeout,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const part of withSignsOfLife(partsOf(options, signal))) {
      watch.refresh()
      if (part === 'alive') yield Buffer.from('\n')
      else yield* framed(part, options.version, watch, signal)
    }
  } catch (error) {
    if (!signal.aborted) options.report(error)
    if (error instanceof CutShort) throw error
    yield line({ error: signal.aborted ? 'the server is shutting down' : reasonOf(error) })
  }
}

function partsOf(
  { engine, have }: BackupStreamOptions,
  signal: AbortSignal,
): AsyncIterable<BackupPart> {
  if (engine.operations === undefined)
    throw new EngineError('read', 'the engine of this server does not support backups')
  return engine.operations.backup(new Set(have), signal)
}

async function* framed(
  part: BackupPart,
  version: string,
  watch: NodeJS.Timeout,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  switch (part.kind) {
    case 'begin':
      yield line({ begin: { files: part.files, size: part.size } })
      return
    case 'file': {
      yield line({ file: part.key, size: part.size })
      try {
        for await (const bytes of part.content) {
          signal.throwIfAborted()
          yield bytes
          watch.refresh()
        }
      } catch (error) {
        throw new CutShort('a file could not be sent completely', { cause: error })
      }
      return
    }
    case 'end':
      yield line({ manifest: manifestOf(part.contents, version) })
  }
}

/**
 * Thrown when a file fails after some of its bytes were sent. The stream then ends without a line
 * for the error, because the client would read it as content of the file.
 */
class CutShort extends Error {}

function manifestOf(contents: BackupContents, server: string) {
  return { format: backupFormat, server, ...contents }
}

/** Yields the parts, and a keep-alive every 10 s while the next part is not ready. */
async function* withSignsOfLife<T>(parts: AsyncIterable<T>): AsyncGenerator<T | 'alive'> {
  const iterator = parts[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = iterator.next()
      let result: IteratorResult<T> | 'alive'
      while ((result = await withinTime(next)) === 'alive') yield result
      if (result.done === true) return
      yield result.value
    }
  } finally {
    await iterator.return?.()
  }
}

async function withinTime<T>(next: Promise<T>): Promise<T | 'alive'> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<'alive'>((resolve) => {
    timer = setTimeout(() => resolve('alive'), signOfLifeMs)
  })
  try {
    return await Promise.race([next, late])
  } finally {
    clearTimeout(timer)
  }
}

function reasonOf(error: unknown): string {
  return error instanceof EngineError
    ? error.message
    : 'internal server error; see the server log for details'
}

function line(content: object): Uint8Array {
  return Buffer.from(`${JSON.stringify(content)}\n`)
}
