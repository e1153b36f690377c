/**
 * Routes of the management API that do not apply to a single server. Their errors state the reason.
 * Without these routes, the reply would be "unknown path".
 */
import { visibleDatabase } from './database-routes.ts'
import { Refusal } from './refusal.ts'
import type { AdminRoute, Method } from './route.ts'

const inDatabases: readonly AdminRoute[] = [
  absent('POST', '/park', 'does not park databases'),
  absent('POST', '/unpark', 'does not park databases'),
  absent(
    'POST',
    '/resize',
    'has no capacity units: each database can use the whole server',
  ),
  absent(
    'POST',
    '/resetPassword',
    'has no passwords for databases. Create a token instead',
  ),
  absent('POST', '/secureBundleURL', 'supports only the Data API, not CQL'),
  absent('POST', '/datacenters', 'is the only datacenter of its databases'),
  absent('POST', '/datacenters/:datacenter/terminate', 'is the only datacenter'),
  ...(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const).map((method) =>
    absent(method, '/access-lists', 'has no access lists. Use a firewall instead'),
  ),
]

export const absentRoutes: readonly AdminRoute[] = [
  ...inDatabases,
  {
    method: 'GET',
    path: '/access-lists',
    run: () => refuse('has no access lists. Use a firewall instead'),
  },
  {
    method: 'POST',
    path: '/pcus',
    run: () => refuse('has no capacity units: each database can use the whole server'),
  },
]

function absent(method: Method, path: string, why: string): AdminRoute {
  return {
    method,
    path: `/databases/:id${path}`,
    run: (call) => {
      visibleDatabase(call)
      return refuse(why)
    },
  }
}

function refuse(why: string): never {
  throw new Refusal(501, `This server ${why}`)
}
