/**
 * Extracts vectors from the text of a reply before the text is parsed. The parser is too slow for
 * vectors with a thousand numbers each, because it keeps all digits of numbers.
 */
export interface CutReply {
  /** The text with each vector replaced by its index, from 0. */
  readonly text: string
  readonly vectors: readonly Float32Array[]
}

/**
 * Cuts the values of the field `name` out of the text: arrays of numbers, or vectors in base64. The
 * search for the quoted name cannot match inside a string, because quotes inside strings are
 * escaped.
 */
export function truncateVectors(received: string, name: string): CutReply {
  const vectors: Float32Array[] = []
  const start = `${JSON.stringify(name)}:`
  const parts: string[] = []
  let from = 0
  for (;;) {
    const at = received.indexOf(start, from)
    if (at === -1) break
    const begin = at + start.length
    const isPacked = received.startsWith(packed, begin)
    const end = received.indexOf(isPacked ? '}' : ']', begin) + 1
    const vector = readVector(received.slice(begin, end), isPacked)
    parts.push(received.slice(from, begin))
    from = vector === undefined ? begin : end
    if (vector !== undefined) parts.push(String(vectors.push(vector) - 1))
  }
  return { text: parts.join('') + received.slice(from), vectors }
}

const packed = '{"$binary":"'

function readVector(text: string, isPacked: boolean): Float32Array | undefined {
  if (isPacked) return unpack(text.slice(packed.length, -2))
  if (!/^\[[-+.\deE,\s]+\]$/.test(text)) return undefined
  return Float32Array.from(text.slice(1, -1).split(','), Number)
}

/** Decodes a vector: base64 of big-endian 32-bit floats. */
function unpack(base64: string): Float32Array {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))
  const view = new DataView(bytes.buffer)
  return Float32Array.from({ length: bytes.length / 4 }, (_, at) => view.getFloat32(at * 4))
}
