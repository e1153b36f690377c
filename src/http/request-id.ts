/** Request ids, which connect replies with lines of the log. */
import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

/** The id that the client sent, if it is printable; otherwise a new id. */
export function requestIdOf(headers: IncomingHttpHeaders): string {
  const sent = headers['x-request-id']
  return typeof sent === 'string' && isShowable.test(sent) ? sent : makeId()
}

const isShowable = /^[\w.:/+=@-]{1,64}$/

/** Random prefix of this server; a counter makes the ids unique within it. */
const prefix = randomBytes(6).toString('hex')
let made = 0

function makeId(): string {
  return `${prefix}-${(++made).toString(36)}`
}
