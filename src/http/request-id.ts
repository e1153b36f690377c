/** Request ids, which relate a reply to its lines in the log. */
import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

/** The id that the client sent, if it contains only printable characters; otherwise a new id. */
export function requestIdOf(headers: IncomingHttpHeaders): string {
  const sent = headers['x-request-id']
  return typeof sent === 'string' && isShowable.test(sent) ? sent : makeId()
}

const isShowable = /^[\w.:/+=@-]{1,64}$/

/** Random prefix of the ids that this server generates. A counter follows the prefix. */
const prefix = randomBytes(6).toString('hex')
let made = 0

function makeId(): string {
  return `${prefix}-${(++made).toString(36)}`
}
