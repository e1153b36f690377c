/**
 * Converts replies of commands to results of tools.
 *
 * `structuredContent` contains the data or the errors; the status is metadata. `content` repeats
 * data, errors and status as text, because many assistants read only `content`.
 */
import type { Reply } from '../commands/dispatch/define.ts'
import type { WrappedCall } from '../http/protocol.ts'
import { encode, lengthOf, printParts } from '../http/reply.ts'
import type { LongText } from '../json/long-text.ts'
import { escapeText, joinTexts } from './message.ts'

export interface PrintedResult {
  /** The members of the result, except its metadata. */
  readonly members: LongText
  /** Members of the metadata; undefined: none. */
  readonly meta?: LongText
}

export interface ResultForm {
  /** Whether `content` repeats data and status. */
  readonly withText: boolean
  /** Maximum bytes of data and status, including their text form if it is present. */
  readonly sizeMax: number
  /** Characters after which a page of documents ends. */
  readonly pageSize: number
}

/** Prints the result of a tool; undefined when the reply takes more than `sizeMax` bytes. */
export async function printToolResult(
  reply: Reply,
  form: ResultForm,
  call: WrappedCall,
): Promise<PrintedResult | undefined> {
  const { data, status, errors } = printParts(reply)
  const structured = errors === undefined ? data : `{"errors":${errors}}`
  const texts: LongText[] = []
  if (structured !== undefined) texts.push(structured)
  if (status !== undefined) texts.push(joinTexts('{"status":', status, '}'))
  if (texts.length === 0) texts.push('{}')
  const size = form.sizeMax === Infinity ? 0 : await sizeOf(texts, call)
  if (size > form.sizeMax) return undefined
  // The escaped text takes at most twice the bytes of the original, which is also in the result.
  const isOmitted = form.withText && 3 * size > form.sizeMax
  const notes = [
    ...(isOmitted ? [textOmitted] : []),
    ...(isPageShortened(reply, form) ? [pageShortened] : []),
  ]
  const shown = form.withText && !isOmitted ? [...texts, ...notes] : notes
  const members = joinTexts(
    await printContent(shown, call),
    ...(structured === undefined ? [] : [',"structuredContent":', structured]),
    `,"isError":${errors !== undefined}`,
  )
  return { members, meta: status === undefined ? '' : joinTexts('"status":', status) }
}

/** The result of a successful command whose data is too large to return. */
export function printWithoutData({ status }: Reply): PrintedResult {
  const shown = printParts(status === undefined ? {} : { status }).status
  const content = JSON.stringify([{ type: 'text', text: dataOmitted }])
  const meta = shown === undefined ? '' : joinTexts('"status":', shown)
  return { members: `"content":${content},"isError":false`, meta }
}

const textOmitted =
  'The reply is only in structuredContent, because with the text form it is too large ' +
  'for one message.'

const pageShortened =
  'This page is shorter than requested, because of the maximum size of a message. Send ' +
  'its nextPageState as options.pageState for the next page, or use a projection to ' +
  'return less of each document.'

const dataOmitted =
  'The command succeeded. The document that it returns is too large for one message: ' +
  'read it with find and a projection.'

function isPageShortened({ data }: Reply, { sizeMax, pageSize }: ResultForm): boolean {
  if (sizeMax === Infinity || data === undefined || !('documents' in data)) return false
  return data.nextPageState !== null && lengthOf(data.documents) > pageSize
}

/** Total size of the texts in bytes of UTF-8. */
async function sizeOf(texts: readonly LongText[], call: WrappedCall): Promise<number> {
  let size = 0
  for (const text of texts) size += (await encode(text, call)).size
  return size
}

async function printContent(
  texts: readonly LongText[],
  call: WrappedCall,
): Promise<LongText> {
  await holdCopies(texts, call)
  const parts: LongText[] = ['"content":[']
  for (const [i, text] of texts.entries()) {
    const escaped = await escapeText(text, () => call.pause())
    parts.push(i === 0 ? '' : ',', '{"type":"text","text":"', escaped, '"}')
  }
  return joinTexts(...parts, ']')
}

/**
 * Memory of a result with its text form, as a multiple of the reply's length: the original, and the
 * escaped text, which is usually at most twice as long.
 */
const copies = 3

/** Replies up to this many characters need no reservation of memory. */
const littleMax = 65_536

/** Reserves memory for the copies before they are made. Throws if the memory is exhausted. */
async function holdCopies(texts: readonly LongText[], call: WrappedCall): Promise<void> {
  const length = copies * texts.reduce((sum, text) => sum + lengthOf(text), 0)
  if (length <= littleMax) return
  if (!(await call.holdReply(length, length))) throw call.noRoomFor('reply')
}
