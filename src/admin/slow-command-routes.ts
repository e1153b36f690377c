/** The latest slow commands of this server. */
import { hostname } from 'node:os'
import type { AdminCall, AdminReply, AdminRoute } from './route.ts'

export const slowCommandRoutes: readonly AdminRoute[] = [
  { method: 'GET', path: '/slowCommands', run: listSlowCommands },
]

/** Others on the same store have their own, so it says whose these are. */
const server = {
  host: hostname(),
  process: process.pid,
  startedAt: new Date(performance.timeOrigin).toISOString(),
}

/** They name what all databases hold, so they are for those who may read the audit. */
async function listSlowCommands(call: AdminCall): Promise<AdminReply> {
  call.require('org-audits-read')
  const { slowCommandMs, slowCommands } = call.services
  const commands = await slowCommands.latest()
  return { status: 200, body: { server, slowerThanMs: slowCommandMs, commands } }
}
