/** The first message of a TLS handshake, as defined in RFC 8446. */
import { fixedLimits } from '../limits.ts'

const handshakeRecord = 22
const recordHeadSize = 5
const messageHeadSize = 4

/**
 * Whether the bytes contain the whole message, in one or several records. Also true for bytes that
 * cannot be such a message: TLS rejects them at little cost.
 */
export function hasWholeHello(bytes: Buffer): boolean {
  if (bytes.length >= fixedLimits.clientHelloSizeMax) return true
  const message: Buffer[] = []
  for (let at = 0; at < bytes.length;) {
    if (bytes[at] !== handshakeRecord) return true
    if (at + recordHeadSize > bytes.length) return false
    const end = at + recordHeadSize + bytes.readUInt16BE(at + 3)
    message.push(bytes.subarray(at + recordHeadSize, end))
    if (end > bytes.length) break
    at = end
  }
  const payload = Buffer.concat(message)
  return (
    payload.length >= messageHeadSize &&
    payload.length >= messageHeadSize + payload.readUIntBE(1, 3)
  )
}
