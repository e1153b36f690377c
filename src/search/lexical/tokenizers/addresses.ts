/**
 * Finds web and email addresses. The lengths of their parts are limited as in the standards, so a
 * search takes bounded time per character.
 */
export interface WebAddress {
  readonly start: number
  readonly end: number
  readonly kind: 'url' | 'email'
}

const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const host = `${label}(?:\\.${label}){0,20}`
const number = '(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)'
const ipAddress = `${number}(?:\\.${number}){3}`
const port = '(?::\\d{1,5})?'
const rest = `(?:[/?#](?:[\\w.~:/?#\\[\\]@!$&'()*+,;=%-]{0,2000}[\\w~/#@$&*+=%-])?)?`
/** The last part of an address without a scheme must be one of these: ".com", ".de". */
const topLevel =
  '(?:com|org|net|edu|gov|mil|int|info|biz|name|pro|dev|app|cloud|online|site|shop|tech|' +
  'blog|news|museum|jobs|travel|[a-z]{2})'

const localPart = "[a-z0-9!#$%&'*+/=?^_`{|}~-]{1,64}"
const email = new RegExp(
  `${localPart}(?:\\.${localPart}){0,20}@(?:${label}(?:\\.${label}){1,20}|\\[${ipAddress}\\])(?![a-z0-9])`,
  'iy',
)
const url = new RegExp(
  `(?:(?:https?|ftps?|sftp|wss?|file|git|ssh|telnet|gopher|irc)://(?:${host}${port}|(?=/\\w))${rest}` +
    `|(?:${label}\\.){1,20}${topLevel}(?![\\w-])(?!\\.${label})${port}${rest}` +
    `|${ipAddress}(?![\\w.-])${port}${rest})`,
  'iy',
)

/** Characters that can start an address, but not a word. */
const startSign = /[!#$%&'*+/=?^_`{|}~-]/

/** The address that starts at `from`, or within the punctuation between `from` and `last`. */
export function addressAt(
  text: string,
  from: number,
  last: number,
): WebAddress | undefined {
  for (let start = from; start <= last && start < text.length; start++) {
    // Only the first of consecutive signs can start an address.
    const isSign = startSign.test(text[start]!)
    if (start < last && (!isSign || (start > from && startSign.test(text[start - 1]!))))
      continue
    const end = endOf(email, text, start)
    if (end !== undefined) return { start, end, kind: 'email' }
  }
  const end = endOf(url, text, last)
  return end === undefined ? undefined : { start: last, end, kind: 'url' }
}

function endOf(pattern: RegExp, text: string, start: number): number | undefined {
  pattern.lastIndex = start
  return pattern.test(text) ? pattern.lastIndex : undefined
}
