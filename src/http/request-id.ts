/** What a request is called in logs, so that a client's complaint can be looked up. */
import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

/** The client's own id, where it sent one that can be shown; else one that is made. */
export function requestIdOf(headers: IncomingHttpHeaders): string {
  const sent = headers['x-request-id']
  return typeof sent === 'string' && isShowable.test(sent) ? sent : makeId()
}

const isShowable = /^[\w.:/+=@-]{1,64}$/

/** A counter is enough to tell requests apart, and this to tell it from other servers'. */
const prefix = randomBytes(6).toString('hex')
let made = 0

function makeId(): string {
  return `${prefix}-${(++made).toString(36)}`
}
