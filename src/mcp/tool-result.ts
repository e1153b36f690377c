/**
 * Replies of commands as results of tools.
 *
 * `structuredContent` is the data, or the errors; the status is metadata. `content` says all of
 * it again as text, because many assistants read nothing else.
 */
import type { Reply } from '../commands/dispatch/define.ts'
import type { WrappedCall } from '../http/protocol.ts'
import { lengthOf, printParts } from '../http/reply.ts'
import type { LongText } from '../json/long-text.ts'
import { escapeText, joinTexts } from './message.ts'

export interface PrintedResult {
  /** What the result holds besides its metadata. */
  readonly members: LongText
  readonly meta?: LongText
}

export async function printToolResult(
  reply: Reply,
  withText: boolean,
  call: WrappedCall,
): Promise<PrintedResult> {
  const { data, status, errors } = printParts(reply)
  const structured = errors === undefined ? data : `{"errors":${errors}}`
  const texts: LongText[] = []
  if (structured !== undefined) texts.push(structured)
  if (status !== undefined) texts.push(joinTexts('{"status":', status, '}'))
  if (texts.length === 0) texts.push('{}')
  const content = withText ? await printContent(texts, call) : '"content":[]'
  const members = joinTexts(
    content,
    ...(structured === undefined ? [] : [',"structuredContent":', structured]),
    errors === undefined ? '' : ',"isError":true',
  )
  return status === undefined
    ? { members }
    : { members, meta: joinTexts('"status":', status) }
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

/** A text that is escaped is up to twice as long, as a rule, and stands beside the first. */
const copies = 3

/** Characters of a reply whose copies nobody needs to ask room for. */
const littleMax = 65_536

/** Before they are made: a command that only reads may be refused for want of room. */
async function holdCopies(texts: readonly LongText[], call: WrappedCall): Promise<void> {
  const length = copies * texts.reduce((sum, text) => sum + lengthOf(text), 0)
  if (length <= littleMax) return
  if (!(await call.holdReply(length, length))) throw call.noRoomFor('reply')
}
