/** A strict parser of HTTP responses. It reports deviations that a lenient client would accept. */

export interface Response {
  readonly status: number
  /** Values by lower-case name. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: Buffer
}

export type Read =
  | { readonly kind: 'response'; readonly response: Response; readonly size: number }
  /** `size`: the minimum number of bytes that the parser needs. */
  | { readonly kind: 'more'; readonly size: number }
  | { readonly kind: 'broken'; readonly problem: string }

/**
 * Parses the first response. `isWhole`: no more bytes will arrive. `isBare`: the response may lack
 * the body that its headers announce.
 */
export function readResponse(bytes: Buffer, isWhole: boolean, isBare = false): Read {
  const headSize = bytes.indexOf('\r\n\r\n') + 4
  if (headSize < 4)
    return isWhole || bytes.length > 100_000
      ? broken(`${bytes.length} bytes that end within headers`)
      : { kind: 'more', size: bytes.length + 1 }
  const lines = bytes.toString('latin1', 0, headSize - 4).split('\r\n')
  const status = Number(/^HTTP\/1\.1 ([1-5]\d\d) [\x20-\x7e]+$/.exec(lines[0]!)?.[1])
  if (Number.isNaN(status)) return broken(`the status line "${lines[0]!.slice(0, 100)}"`)
  const headers = new Map<string, string>()
  for (const line of lines.slice(1)) {
    const [, name, value] = /^([\w-]+): ([\x20-\x7e]*)$/.exec(line) ?? []
    if (name === undefined) return broken(`the header line "${line.slice(0, 100)}"`)
    const key = name.toLowerCase()
    const before = headers.get(key)
    if (before !== undefined && key !== 'vary') return broken(`${name} comes twice`)
    headers.set(key, before === undefined ? value! : `${before}, ${value!}`)
  }
  const response = (body: Buffer, size: number): Read => {
    return { kind: 'response', response: { status, headers, body }, size }
  }
  const nothing = Buffer.alloc(0)
  if (status < 200 || status === 204 || status === 304) return response(nothing, headSize)
  if (
    isBare &&
    (bytes.length === headSize || bytes.indexOf('HTTP/1.1 ', headSize) === headSize)
  )
    return response(nothing, headSize)
  const length = headers.get('content-length')
  if (headers.get('transfer-encoding') === 'chunked')
    return readChunks(bytes, headSize, isWhole, response)
  if (length === undefined) {
    if (headers.get('connection') !== 'close') return broken('a body without an end')
    return isWhole
      ? response(bytes.subarray(headSize), bytes.length)
      : { kind: 'more', size: bytes.length + 1 }
  }
  if (!/^\d+$/.test(length)) return broken(`the length "${length}"`)
  const size = headSize + Number(length)
  if (bytes.length >= size) return response(bytes.subarray(headSize, size), size)
  return isWhole
    ? broken(`a body of ${length} bytes ends after ${bytes.length - headSize}`)
    : { kind: 'more', size }
}

function readChunks(
  bytes: Buffer,
  from: number,
  isWhole: boolean,
  response: (body: Buffer, size: number) => Read,
): Read {
  const chunks: Buffer[] = []
  for (let at = from; ;) {
    const lineEnd = bytes.indexOf('\r\n', at)
    const size = lineEnd < 0 ? 0 : parseInt(bytes.toString('latin1', at, lineEnd), 16)
    if (Number.isNaN(size)) return broken('the size of a chunk')
    const end = lineEnd + 2 + size + 2
    if (lineEnd < 0 || bytes.length < end)
      return isWhole
        ? broken('a body that ends within a chunk')
        : { kind: 'more', size: Math.max(end, bytes.length + 1) }
    if (size === 0) return response(Buffer.concat(chunks), end)
    chunks.push(bytes.subarray(lineEnd + 2, end - 2))
    at = end
  }
}

function broken(problem: string): Read {
  return { kind: 'broken', problem }
}

/** All responses of a connection, or a text that describes what is wrong. */
export function readResponses(
  bytes: Buffer,
  isBare: boolean,
): readonly Response[] | string {
  const responses: Response[] = []
  for (let at = 0; at < bytes.length;) {
    const read = readResponse(bytes.subarray(at), true, isBare)
    if (read.kind !== 'response') return read.kind === 'broken' ? read.problem : 'cut off'
    responses.push(read.response)
    at += read.size
  }
  return responses
}
