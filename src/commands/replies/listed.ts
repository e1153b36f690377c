/**
 * Replies with lists of definitions, which may be long: they respect the size limit of a reply
 * and yield to other requests.
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

/** Characters of a reply that need no additional reservation of memory. */
const littleLength = 65_536

/**
 * Replies with a list. `name` is the status member for the list. Rejects a list as soon as it
 * exceeds the limit of a reply.
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
