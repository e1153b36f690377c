/**
 * Rows on their way from a reading thread to the one that answers.
 *
 * The thread has found them without their texts. It asks for room for all of them, and then
 * reads them once: two replies that are half made would wait for each other.
 *
 * A message is read all at once, so that one with long texts would hold the answering thread
 * for as long as it takes to copy them. They go as bytes instead, which are handed over and
 * not copied, and become texts one at a time.
 */
import { isAscii } from 'node:buffer'
import type { Caller } from '../../../caller/caller.ts'
import { documentCost, type Budget } from '../store/budget.ts'
import type { DocRow } from '../format/doc-row.ts'
import type { StoreReader } from '../read/store-reader.ts'

/** Bytes from which on a text goes as such. */
const sizeMin = 16_384

/** The text of one of the rows. */
export interface SentText {
  readonly position: number
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly encoding: 'latin1' | 'utf8'
}

export interface SentRows {
  /** Those with long texts have an empty one. */
  readonly rows: DocRow[]
  readonly texts: readonly SentText[]
}

/** What is wanted of rows, and what is done with them. */
interface Wanted {
  readonly withSearchFields: boolean
  /** True: the texts are passed on. Otherwise others are made of them. */
  readonly textsOnly?: boolean
  readonly sizeMax?: number | undefined
}

/** Rows with their texts, up to the one by which these are enough. */
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
  // Bytes are not fewer than characters.
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
      // Such a text takes two bytes for each character, even if few of them need it.
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
    // Given back now, and not at the next garbage collection.
    bytes.buffer.transfer(0)
    rows[position] = { ...rows[position]!, text }
    const pause = caller.pause()
    if (pause !== undefined) await pause
  }
  return rows
}

type EncodedText = Pick<SentText, 'bytes' | 'encoding'>

function encodedText(bytes: Uint8Array<ArrayBuffer>): EncodedText {
  // Latin-1 says ASCII in the same bytes, faster.
  return { bytes, encoding: isAscii(bytes) ? 'latin1' : 'utf8' }
}

/** Characters. */
function lengthOf({ bytes, encoding }: EncodedText): number {
  return encoding === 'latin1' ? bytes.length : Buffer.from(bytes.buffer).toString().length
}
