/**
 * Replies with lists of definitions, which may be long. Building a list respects the size limit of
 * a reply and yields to other requests.
 */
import type { Caller } from '../../caller/caller.ts'
import { apiError } from '../../errors/api-error.ts'
import { CommaList } from '../../json/long-text.ts'
import { printJson } from '../../json/print.ts'
import type { Value } from '../../json/value.ts'
import type { Limits } from '../../limits.ts'
import type { Reply } from '../dispatch/define.ts'

interface ListContext {
  readonly limits: Limits
  readonly caller: Caller
}

/** Characters of a list for which no memory is reserved. */
const littleLength = 65_536

/**
 * Replies with a list. `name` is the member of the status that contains the list. Throws as soon as
 * the list exceeds the size limit of a reply.
 */
export async function replyList<T>(
  name: string,
  items: readonly T[],
  show: (item: T) => Value,
  { limits, caller }: ListContext,
  what: 'definitions' | 'keyspaces' = 'definitions',
): Promise<Reply> {
  const max = limits.replySizeMax
  const elements = new CommaList()
  let length = 0
  let held = 0
  for (const item of items) {
    const text = printJson(show(item))
    length += text.length
    if (length > max) throw apiError('REPLY_TOO_LARGE', { max, what })
    if (length > Math.max(held, littleLength)) {
      const wanted = Math.min(2 * length, max)
      await caller.reserve?.(wanted, held)
      held = wanted
    }
    elements.add(text)
    const pause = caller.pause()
    if (pause !== undefined) await pause
  }
  return { listed: { name, elements: elements.text() } }
}
