import type { AdminRoute } from './route.ts'

/** A server is one organization, which every token may read. */
export const organizationRoutes: readonly AdminRoute[] = [
  {
    method: 'GET',
    path: '/currentOrg',
    run: ({ services }) => ({ status: 200, body: { id: services.databases.organization } }),
  },
]
