/**
 * Transfers rows from a reader thread to the main thread.
 *
 * The thread finds rows without texts, reserves memory for all texts of the reply, and then reads
 * the texts. Reserving in parts could deadlock two half-finished replies.
 *
 * A message is deserialized in one go, so a message with long texts would block the main thread
 * while they are copied. Long texts are sent as bytes instead, which are transferred without
 * copying, and decoded one at a time.
 */
import { isAscii } from 'node:buffer'
import type { Caller } from '../../../caller/caller.ts'
import { documentCost, type Budget } from '../store/budget.ts'
import type { DocRow } from '../format/doc-row.ts'
import type { StoreReader } from '../read/store-reader.ts'

/** Minimum size in bytes of a text that is sent as bytes. */
const sizeMin = 16_384

/** The text of one row. */
export interface SentText {
  readonly position: number
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly encoding: 'latin1' | 'utf8'
}

export interface SentRows {
  /** Rows; a row whose text is in `texts` has an empty text. */
  readonly rows: DocRow[]
  readonly texts: readonly SentText[]
}

/** The part of a query that determines the reply's size. */
interface Wanted {
  readonly withSearchFields: boolean
  /**
   * Whether texts are forwarded unchanged. Otherwise new texts are made from them, which needs
   * twice the memory.
   */
  readonly textsOnly?: boolean
  readonly sizeMax?: number | undefined
}

/** Rows with texts, up to and including the row with which the texts exceed `sizeMax` in total. */
export function sendRows(
  reader: StoreReader,
  found: readonly DocRow[],
  { withSearchFields, textsOnly = false, sizeMax = Infinity }: Wanted,
  budget: Required<Budget>,
): SentRows {
  const { store } = reader
  const measured = found.map(({ seq }) => store.measure(seq))
  const size = measured.reduce((sum, one) => sum + one.size, 0)
  const beside = withSearchFields
    ? found.reduce((sum, { seq }) => sum + reader.searchSize(seq), 0)
    : 0
  const needed = (Math.min(size, sizeMax) + beside) * (textsOnly ? 1 : 2)
  budget.hold(needed)
  let isWide = false
  // If all bytes are within the limit, so are the characters: a text has at most one character per
  // byte.
  let left = size <= sizeMax ? Infinity : sizeMax
  const rows: DocRow[] = []
  const texts: SentText[] = []
  for (const [position, { seq, value }] of found.entries()) {
    if (left < 0) break
    budget.spend(documentCost)
    const { version, size: textSize } = measured[position]!
    const sent = textSize < sizeMin ? undefined : encodedText(store.textBytes(seq))
    const text = sent === undefined ? store.text(seq) : ''
    if (sent !== undefined) texts.push({ position, ...sent })
    if (sent?.encoding === 'utf8' && !isWide) {
      // A text that is not ASCII takes two bytes for each character, even if only one character
      // needs them.
      budget.hold(2 * needed)
      isWide = true
    }
    if (left < Infinity) left -= sent === undefined ? text.length : lengthOf(sent)
    rows.push({
      ...{ seq, version, text },
      ...(value !== undefined && { value }),
      ...(withSearchFields && { search: reader.searchFields(seq) }),
    })
  }
  return { rows, texts }
}

/** Buffers to transfer with the message. */
export function buffersOf(texts: readonly SentText[]): ArrayBuffer[] {
  return texts.map(({ bytes }) => bytes.buffer)
}

/** Restores the rows. Yields to other requests between long texts. */
export async function receiveRows(
  sent: readonly DocRow[],
  texts: readonly SentText[],
  caller: Caller,
): Promise<DocRow[]> {
  const rows = [...sent]
  for (const { position, bytes, encoding } of texts) {
    const text = Buffer.from(bytes.buffer).toString(encoding)
    // This frees the memory of the bytes now, not at the next garbage collection.
    bytes.buffer.transfer(0)
    rows[position] = { ...rows[position]!, text }
    const pause = caller.pause()
    if (pause !== undefined) await pause
  }
  return rows
}

type EncodedText = Pick<SentText, 'bytes' | 'encoding'>

function encodedText(bytes: Uint8Array<ArrayBuffer>): EncodedText {
  // ASCII is decoded as Latin-1, which gives the same text faster.
  return { bytes, encoding: isAscii(bytes) ? 'latin1' : 'utf8' }
}

/** Length of a text in characters. */
function lengthOf({ bytes, encoding }: EncodedText): number {
  return encoding === 'latin1' ? bytes.length : Buffer.from(bytes.buffer).toString().length
}
