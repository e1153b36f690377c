/**
 * Rows on their way from a reading thread to the one that answers.
 *
 * A message is read all at once, so that one with long texts would hold the answering thread
 * for as long as it takes to copy them. They go as bytes instead, which are handed over and
 * not copied, and become texts one at a time.
 */
import type { Caller } from '../../../caller.ts'
import type { DocRow } from '../store/store-connection.ts'

/** Characters from which on a text goes as bytes. */
const lengthMin = 16_384

/** The text of one of the rows. */
export interface SentText {
  readonly position: number
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly encoding: 'latin1' | 'utf8'
}

/** Rows whose long texts are taken out, and these. */
export function sendRows(rows: readonly DocRow[]): {
  readonly rows: DocRow[]
  readonly texts: readonly SentText[]
} {
  const texts: SentText[] = []
  const sent = rows.map((row, position) => {
    if (row.text.length < lengthMin) return row
    texts.push({ position, ...encode(row.text) })
    return { ...row, text: '' }
  })
  return { rows: sent, texts }
}

/** What is handed over with the message. */
export function buffersOf(texts: readonly SentText[]): ArrayBuffer[] {
  return texts.map(({ bytes }) => bytes.buffer)
}

/** The rows as they were. Others have their turn while there are many long texts. */
export async function receiveRows(
  sent: readonly DocRow[],
  texts: readonly SentText[],
  caller: Caller,
): Promise<DocRow[]> {
  const rows = [...sent]
  for (const { position, bytes, encoding } of texts) {
    const text = Buffer.from(bytes.buffer).toString(encoding)
    rows[position] = { ...rows[position]!, text }
    const pause = caller.pause()
    if (pause !== undefined) await pause
  }
  return rows
}

function encode(text: string): Pick<SentText, 'bytes' | 'encoding'> {
  const size = Buffer.byteLength(text)
  // As many bytes as characters: all is ASCII, which Latin-1 says in the same bytes, faster.
  const encoding = size === text.length ? 'latin1' : 'utf8'
  // Memory of its own: what is shared with others cannot be handed over.
  const bytes = Buffer.allocUnsafeSlow(size)
  bytes.write(text, encoding)
  return { bytes, encoding }
}
