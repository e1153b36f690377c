/**
 * Writes the protocol buffers wire format, as far as ONNX models need it. A message is a
 * sequence of fields. A field is a tag followed by a number, or by the size and bytes of its
 * content.
 */

export function numberField(field: number, value: number | bigint): Uint8Array {
  return join([varint(tag(field, wireTypes.varint)), varint(value)])
}

export function floatField(field: number, value: number): Uint8Array {
  const bytes = new Uint8Array(4)
  new DataView(bytes.buffer).setFloat32(0, value, true)
  return join([varint(tag(field, wireTypes.fixed32)), bytes])
}

/** Writes a string or an embedded message. */
export function bytesField(field: number, value: string | Uint8Array): Uint8Array {
  const bytes = typeof value === 'string' ? utf8.encode(value) : value
  return join([varint(tag(field, wireTypes.sized)), varint(bytes.length), bytes])
}

export function join(parts: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(parts)
}

const wireTypes = { varint: 0, sized: 2, fixed32: 5 } as const

const utf8 = new TextEncoder()

function tag(field: number, wireType: number): number {
  return field * 8 + wireType
}

/** An integer with seven bits per byte, low bits first; negative numbers as 64 bits. */
function varint(value: number | bigint): Uint8Array {
  const bytes: number[] = []
  let rest = BigInt.asUintN(64, BigInt(value))
  while (rest > 127n) {
    bytes.push(Number(rest & 127n) | 128)
    rest >>= 7n
  }
  bytes.push(Number(rest))
  return Uint8Array.from(bytes)
}
