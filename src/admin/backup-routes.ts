/** Backup route. It requires a role that grants access to all data. */
import { organizationAdministratorId } from '../auth/roles.ts'
import { readVersion } from '../http/metrics.ts'
import { backupStream } from './backup-stream.ts'
import { Refusal } from './refusal.ts'
import { fixedLimits } from '../limits.ts'
import type { AdminCall, AdminReply, AdminRoute } from './route.ts'

export const backupRoutes: readonly AdminRoute[] = [
  {
    method: 'POST',
    path: '/stela/backup',
    bodySizeMax: fixedLimits.backupBodySizeMax,
    run: backUp,
  },
]

function backUp(call: AdminCall): AdminReply {
  const { access, engine, log, stopping } = call.services
  const role = access.role(organizationAdministratorId)
  // A backup contains all data, including the digests of all tokens. Therefore a principal needs
  // every permission of this role, which grants access to all data.
  if (!call.principal.covers(role.policy))
    throw call.forbid(`It requires the role ${role.name}`)
  const have = readHave(call)
  call.noteBackup()
  const body = backupStream({
    engine,
    have,
    version: readVersion(),
    signal: stopping,
    report: (error) => log.error({ err: error }, 'A backup failed'),
  })
  const headers = { 'Content-Type': 'application/octet-stream' }
  return { status: 200, headers, body }
}

function readHave(call: AdminCall): readonly string[] {
  const { have = [] } = call.body === undefined ? {} : call.fields
  if (!Array.isArray(have) || !have.every((key) => typeof key === 'string'))
    throw new Refusal(
      400,
      '"have" must be an array of strings, the keys of the files that the client has',
    )
  return have
}
