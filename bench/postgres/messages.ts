/**
 * Messages of PostgreSQL's protocol, version 3: those of a client without a password that sends
 * prepared statements, with all values as text.
 *
 * A message is a letter, a length that includes itself but not the letter, and the content.
 */

/** The first message of a connection, the only one without a letter. */
export function startupMessage(user: string, database: string): Buffer {
  const content = text(`user\0${user}\0database\0${database}\0`)
  return Buffer.concat([int32(content.length + 8), int32(protocolVersion), content])
}

/** Version 3.0. */
const protocolVersion = 3 << 16

/** Prepares a statement on a connection. */
export function parseMessage(statement: string, sql: string): Buffer {
  return Buffer.concat([message('P', text(statement), text(sql), int16(0)), sync])
}

/** Executes a prepared statement. The reply has all rows. */
export function executeMessage(statement: string, values: readonly string[]): Buffer {
  const parameters = values.flatMap((value) => {
    const bytes = Buffer.from(value)
    return [int32(bytes.length), bytes]
  })
  const allAsText = int16(0)
  return Buffer.concat([
    message(
      'B',
      ...[text(''), text(statement), allAsText, int16(values.length), ...parameters],
      allAsText,
    ),
    message('E', text(''), int32(0)),
    sync,
  ])
}

/** Executes SQL text without parameters. */
export function queryMessage(sql: string): Buffer {
  return message('Q', text(sql))
}

const sync = message('S')

/** The messages of the server until it is ready for the next request. */
export interface Reply {
  /** Valid only until the next request. */
  readonly bytes: Buffer
  /** The error that the server reported; undefined if the request succeeded. */
  readonly error: string | undefined
}

/** The first reply in `bytes`; undefined if it is incomplete. */
export function readReply(bytes: Buffer): Reply | undefined {
  let error: string | undefined
  for (let at = 0; at + headSize <= bytes.length;) {
    const end = at + 1 + bytes.readInt32BE(at + 1)
    if (end > bytes.length) return undefined
    switch (bytes[at]) {
      case letters.ready:
        return { bytes: bytes.subarray(0, end), error }
      case letters.error: {
        const fields = fieldsOf(bytes.subarray(at + headSize, end))
        error ??= `${fields.get('C') ?? ''} ${fields.get('M') ?? ''}`
        // The server closes the connection after such an error.
        if (fatal.has(fields.get('V') ?? ''))
          return { bytes: bytes.subarray(0, end), error }
        break
      }
      case letters.authentication:
        if (bytes.readInt32BE(at + headSize) !== 0)
          return { bytes, error: 'the server asks for a password' }
        break
    }
    at = end
  }
  return undefined
}

/** The rows of a reply. A null is an empty text. */
export function rowsIn(reply: Buffer): string[][] {
  const rows: string[][] = []
  for (let at = 0; at < reply.length; at += 1 + reply.readInt32BE(at + 1)) {
    if (reply[at] !== letters.row) continue
    const row: string[] = []
    const columns = reply.readInt16BE(at + headSize)
    for (let column = 0, from = at + headSize + 2; column < columns; column++) {
      const size = Math.max(0, reply.readInt32BE(from))
      row.push(reply.toString('utf8', from + 4, from + 4 + size))
      from += 4 + size
    }
    rows.push(row)
  }
  return rows
}

/** Number of rows that the statement of a reply returned or wrote. */
export function rowCountOf(reply: Buffer): number {
  for (let at = 0; at < reply.length; at += 1 + reply.readInt32BE(at + 1))
    if (reply[at] === letters.complete) {
      // For example "SELECT 20" or "INSERT 0 1", with a zero at the end.
      const tag = reply.toString('latin1', at + headSize, at + reply.readInt32BE(at + 1))
      return Number(/ (\d+)$/.exec(tag)?.[1] ?? 0)
    }
  return 0
}

/** Bytes of the letter and the length. */
const headSize = 5

const letters = {
  authentication: letter('R'),
  complete: letter('C'),
  error: letter('E'),
  ready: letter('Z'),
  row: letter('D'),
}

const fatal = new Set(['FATAL', 'PANIC'])

/** The fields of an error: a letter and a text each. */
function fieldsOf(content: Buffer): Map<string, string> {
  const fields = content.toString('utf8').split('\0')
  return new Map(fields.map((field) => [field.slice(0, 1), field.slice(1)]))
}

function message(name: string, ...parts: readonly Buffer[]): Buffer {
  const size = parts.reduce((sum, part) => sum + part.length, 4)
  return Buffer.concat([Buffer.from(name), int32(size), ...parts])
}

function letter(name: string): number {
  return name.charCodeAt(0)
}

function text(value: string): Buffer {
  return Buffer.from(`${value}\0`)
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeInt16BE(value)
  return bytes
}
