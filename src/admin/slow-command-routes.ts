/** The latest slow commands of this server process. */
import { hostname } from 'node:os'
import type { AdminCall, AdminReply, AdminRoute } from './route.ts'

export const slowCommandRoutes: readonly AdminRoute[] = [
  { method: 'GET', path: '/slowCommands', run: listSlowCommands },
]

/**
 * The server process. Each process records only its own slow commands, so the reply identifies the
 * process.
 */
const server = {
  host: hostname(),
  process: process.pid,
  startedAt: new Date(performance.timeOrigin).toISOString(),
}

/**
 * Replies with the slow commands. A slow command contains names of objects of any database, so the
 * route requires the permission to read the audit log.
 */
async function listSlowCommands(call: AdminCall): Promise<AdminReply> {
  call.require('org-audits-read')
  const { slowCommandMs, slowCommands } = call.services
  const commands = await slowCommands.latest()
  return { status: 200, body: { server, slowerThanMs: slowCommandMs, commands } }
}
