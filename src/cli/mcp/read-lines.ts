import { addAbortSignal, type Readable } from 'node:stream'

/** Yielded in place of a line that was too long. */
export const tooLong = Symbol('too long')

const lineFeed = 0x0a

/**
 * Yields all non-empty lines. Instead of a line of more than `sizeMax` bytes, yields `tooLong` and
 * does not buffer the line.
 */
export async function* readLines(
  input: Readable,
  sizeMax: number,
  stop: AbortSignal,
): AsyncGenerator<string | typeof tooLong> {
  let parts: Buffer[] = []
  let size = 0
  const take = (part: Buffer): void => {
    size += part.length
    if (size <= sizeMax) parts.push(part)
    else parts = []
  }
  const line = (): string | typeof tooLong => {
    const taken = size > sizeMax ? tooLong : Buffer.concat(parts).toString('utf8').trim()
    parts = []
    size = 0
    return taken
  }
  try {
    for await (const chunk of addAbortSignal(stop, input) as AsyncIterable<Buffer>) {
      let start = 0
      for (let end; (end = chunk.indexOf(lineFeed, start)) >= 0; start = end + 1) {
        take(chunk.subarray(start, end))
        const next = line()
        if (next !== '') yield next
      }
      take(chunk.subarray(start))
    }
  } catch (error) {
    if (!stop.aborted) throw error
    return
  }
  const last = line()
  if (last !== '') yield last
}
