import type { AdminRoute } from './route.ts'

/**
 * Routes of the organization. A server has exactly one organization, which every token may read.
 */
export const organizationRoutes: readonly AdminRoute[] = [
  {
    method: 'GET',
    path: '/currentOrg',
    run: ({ services }) => ({ status: 200, body: { id: services.databases.organization } }),
  },
]
